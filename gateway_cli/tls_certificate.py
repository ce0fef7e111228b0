"""The TLS certificate that the gateway serves with, reloaded when its files change."""

import logging
import os
import ssl
from pathlib import Path

from gateway_core.config.errors import ConfigError

log = logging.getLogger(__name__)

FileState = tuple[int, ...]
"""Times, size and inode of a file; empty if it does not exist."""


class Certificate:
    """A certificate and a key in PEM format, and the context for handshakes.

    ``reload_if_changed`` is called about once a second. Certificate and key may be
    replaced one after the other, so new files are read when they are the same in two
    calls in a row. Files that cannot be used change nothing.
    """

    def __init__(self, cert: Path, key: Path, protocols: list[str]) -> None:
        """``protocols`` are offered by ALPN, in this order. Raises ConfigError."""
        self.cert, self.key, self._protocols = cert, key, protocols
        self._loaded = self._seen = self._file_states()
        self.context = self._load()

    def reload_if_changed(self) -> None:
        """Read the files again if they have changed and are complete."""
        seen, self._seen = self._seen, self._file_states()
        if self._seen == self._loaded or self._seen != seen:
            return
        self._loaded = seen
        try:
            self.context = self._load()
        except ConfigError as error:
            log.error("TLS continues with the old certificate. %s", error)
        else:
            log.info("TLS continues with the new certificate in %s.", self.cert)

    def _file_states(self) -> tuple[FileState, FileState]:
        return _file_state(self.cert), _file_state(self.key)

    def _load(self) -> ssl.SSLContext:
        cert, key = self.cert, self.key
        for name, path in (("certificate", cert), ("key", key)):
            if "-----BEGIN" in str(path):  # It may hold the key, so the message does not repeat it.
                raise ConfigError(f"The TLS {name} is given as the name of a file, not as text.")
            if not os.path.isfile(path):  # Also false for text that cannot be a file name.
                raise ConfigError(f"There is no file {path} with the TLS {name}.")
            if not os.access(path, os.R_OK):
                raise ConfigError(f"The file {path} with the TLS {name} cannot be read.")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
        # RFC 9113, section 9.2.2 forbids the other cipher suites of TLS 1.2 for HTTP/2.
        context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
        context.set_alpn_protocols(self._protocols)

        # Without a callback, OpenSSL asks for the password at the terminal.
        def refuse_password() -> str:
            raise ConfigError(f"The TLS key in {key} has a password: give one without.")

        try:
            context.load_cert_chain(cert, key, password=refuse_password)
        except ssl.SSLError as error:
            raise ConfigError(_explain(error, cert, key)) from None
        except OSError as error:  # It was removed after the checks above.
            raise ConfigError(f"The TLS certificate or key cannot be read ({error}).") from None
        return context


def _file_state(path: Path) -> FileState:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def _explain(error: ssl.SSLError, cert: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"The TLS key in {key} does not belong to the certificate in {cert}."
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except OSError:
        return f"There is no certificate in PEM format in {cert}."
    if key == cert:
        return (
            f"There is no key beside the certificate in {cert}: "
            "name its file with --tls-key or GATEWAY_TLS_KEY."
        )
    reason = (error.reason or "").lower().replace("_", " ")
    return f"The TLS key in {key} cannot be used with the certificate in {cert} ({reason})."
