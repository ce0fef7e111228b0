"""A certificate for HTTP/3, from files of every kind that TLS takes too."""

from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway_core.config.errors import ConfigError
from gateway_core.server.certificate import Certificate
from gateway_core.server.quic_certificate import QuicSettings


def made(folder: Path, cert: bytes, key: bytes | None) -> Certificate:
    """A certificate from two files, or from one that holds both."""
    paths = folder / "cert.pem", folder / ("cert.pem" if key is None else "key.pem")
    paths[0].write_bytes(cert)
    if key is not None:
        paths[1].write_bytes(key)
    return Certificate(*paths, ["h2"])


@pytest.mark.parametrize("kind", list(trustme.KeyType))
@pytest.mark.parametrize("is_one_file", [True, False])
def test_files_of_every_kind_are_read(
    tmp_path: Path, kind: trustme.KeyType, is_one_file: bool
) -> None:
    parent = trustme.CA(key_type=kind)
    between = parent.create_child_ca(key_type=kind)
    issued = between.issue_cert("localhost", key_type=kind)
    chain = b"".join(each.bytes() for each in issued.cert_chain_pems)
    key = issued.private_key_pem.bytes()

    whole = made(tmp_path, key + chain, None) if is_one_file else made(tmp_path, chain, key)
    settings = QuicSettings(whole)()

    assert len(settings.certificate_chain) == len(issued.cert_chain_pems) - 1
    assert settings.certificate.public_key() == settings.private_key.public_key()
    assert settings.alpn_protocols == ["h3"]


def test_a_key_behind_its_parameters_is_read(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("localhost")
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    old = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    parameters = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"

    settings = QuicSettings(made(tmp_path, issued.cert_chain_pems[0].bytes(), parameters + old))()

    assert settings.private_key.public_key() == key.public_key()


def test_files_that_changed_meanwhile_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = trustme.CA()
    one, other = (authority.issue_cert("localhost") for _ in range(2))
    certificate = made(tmp_path, one.cert_chain_pems[0].bytes(), one.private_key_pem.bytes())
    settings = QuicSettings(certificate)
    before = settings()
    certificate.context = Certificate(certificate.cert, certificate.key, ["h2"]).context
    certificate.key.write_bytes(other.private_key_pem.bytes())

    assert settings() is before
    assert "HTTP/3 goes on with the old certificate" in caplog.text


def test_what_is_no_good_is_one_sentence(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("localhost")
    certificate = made(tmp_path, issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
    certificate.cert.write_bytes(b"nothing")

    with pytest.raises(ConfigError, match="cannot be used for HTTP/3"):
        QuicSettings(certificate)
