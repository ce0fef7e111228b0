"""A gateway's certificate for HTTP/3, from the same files as the other protocols'."""

import logging
import re
from pathlib import Path

from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from ..config.errors import ConfigError
from .certificate import Certificate
from .quic_engine import configuration

log = logging.getLogger(__name__)

_key_in = re.compile(rb"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", re.DOTALL).search


class QuicSettings:
    """What a new connection begins with; renewed when the certificate is."""

    def __init__(self, certificate: Certificate) -> None:
        """Raises ConfigError."""
        self._certificate = certificate
        self._made_with = certificate.context
        self._settings = _read(certificate.cert, certificate.key)

    def __call__(self) -> QuicConfiguration:
        context = self._certificate.context
        if context is not self._made_with:
            self._made_with = context
            try:
                self._settings = _read(self._certificate.cert, self._certificate.key)
            except ConfigError as error:
                log.error("HTTP/3 goes on with the old certificate. %s", error)
        return self._settings


def _read(cert: Path, key: Path) -> QuicConfiguration:
    try:
        first, *others = x509.load_pem_x509_certificates(cert.read_bytes())
        found = _key_in(key.read_bytes())
        secret = serialization.load_pem_private_key(found[0] if found else b"", None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            f"The TLS certificate in {cert} or its key cannot be used for HTTP/3 ({error})."
        ) from None
    if first.public_key() != secret.public_key():
        raise ConfigError(f"The TLS key in {key} does not belong to the certificate in {cert}.")
    return configuration(first, others, secret)
