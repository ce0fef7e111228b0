"""The certificate of a gateway that serves over TLS, and its successor once that is there."""

import logging
import os
import ssl
from pathlib import Path

from ..config.errors import ConfigError

log = logging.getLogger(__name__)

Stamp = tuple[int, ...]
"""What tells a file from the one that stood in its place before; empty where there is none."""


class Certificate:
    """Two files in PEM format, and what is served with them.

    A certificate is renewed by other files in the place of the old ones:
    ``look``, called now and then, takes them over for handshakes to come. They
    may be written one after the other, so they are read when they have not
    changed from one look to the next; what is no good changes nothing.
    """

    def __init__(self, cert: Path, key: Path, protocols: list[str]) -> None:
        """``protocols`` are agreed on in this order. Raises ConfigError, which says what is
        wrong with which file."""
        self.cert, self.key, self._protocols = cert, key, protocols
        self._tried = self._seen = self._stamps()
        self.context = self._made()

    def look(self) -> None:
        seen, self._seen = self._seen, self._stamps()
        if self._seen == self._tried or self._seen != seen:
            return
        self._tried = seen
        try:
            self.context = self._made()
        except ConfigError as error:
            log.error("TLS goes on with the old certificate. %s", error)
        else:
            log.info("TLS goes on with the new certificate in %s.", self.cert)

    def _stamps(self) -> tuple[Stamp, Stamp]:
        return _stamp(self.cert), _stamp(self.key)

    def _made(self) -> ssl.SSLContext:
        context = _context(self.cert, self.key)
        context.set_alpn_protocols(self._protocols)
        return context


def _stamp(path: Path) -> Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def _context(cert: Path, key: Path) -> ssl.SSLContext:
    for name, path in (("certificate", cert), ("key", key)):
        if "-----BEGIN" in str(path):  # What it holds may be secret, and is not repeated.
            raise ConfigError(f"The TLS {name} is given as the name of a file, not as text.")
        if not os.path.isfile(path):  # Also false for what cannot be the name of a file.
            raise ConfigError(f"There is no file {path} with the TLS {name}.")
        if not os.access(path, os.R_OK):
            raise ConfigError(f"The file {path} with the TLS {name} cannot be read.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    # Before TLS 1.3 only what HTTP/2 allows: fresh keys, and authenticated ciphers.
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    try:
        context.load_cert_chain(cert, key, password=lambda: _refuse_password(key))
    except ssl.SSLError as error:
        raise ConfigError(_trouble(error, cert, key)) from None
    except OSError as error:  # It has gone while it was looked at.
        raise ConfigError(f"The TLS certificate or key cannot be read ({error}).") from None
    return context


def _refuse_password(key: Path) -> str:
    raise ConfigError(f"The TLS key in {key} has a password: give one without.")


def _trouble(error: ssl.SSLError, cert: Path, key: Path) -> str:
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
