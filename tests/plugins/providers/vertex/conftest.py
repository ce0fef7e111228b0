"""A service account with a real key, and Google Cloud behind a transport."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fake_google import TOKEN_URL, Clock, Google


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def google() -> Google:
    return Google()


@pytest.fixture(scope="session")
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="session")
def key_file(private_key: rsa.RSAPrivateKey) -> Callable[..., dict[str, Any]]:
    """The members of a service account's key file, some of them changed."""
    pem = private_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()

    def made(**changes: Any) -> dict[str, Any]:
        return {
            "type": "service_account",
            "project_id": "project-1",
            "private_key_id": "key-1",
            "private_key": pem,
            "client_email": "robot@project-1.iam.gserviceaccount.com",
            "token_uri": TOKEN_URL,
            **changes,
        }

    return made
