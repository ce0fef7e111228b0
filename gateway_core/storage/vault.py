"""Secrets at rest: AES-256-GCM with a key for each purpose and the row's identity bound in.

```text
master key ──HKDF-SHA256(purpose)──▶ purpose key
AES-GCM(purpose key, random nonce, text, ["v1", table, column, row]) ──▶ v1.<base64url>
```

A sealed text opens only in the row and column it was sealed for.

``cryptography`` is imported with the first secret that is closed or opened: it takes 8 MiB, and a
gateway whose model servers want no credential has none.
"""

import hmac
import os
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from .errors import SealBroken

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VERSION = "v1"
NONCE_BYTES = 12
KEY_BYTES = 32


class Vault:
    """Gives out seals, one for each purpose."""

    def __init__(self, master_key: bytes, *, random: Callable[[int], bytes] = os.urandom) -> None:
        if len(master_key) != KEY_BYTES:
            raise ValueError("the master key has 32 bytes")
        self._master_key = master_key
        self._random = random

    def seal_for(self, purpose: str) -> "Seal":
        """The seal of one purpose, such as ``credentials``."""
        return Seal(self.key_for(purpose), self._random)

    def key_for(self, purpose: str) -> bytes:
        """The 32 bytes of one purpose, for use other than sealing."""
        # RFC 5869, section 2: without salt, and with one block, which is as long as a key.
        extracted = hmac.digest(bytes(KEY_BYTES), self._master_key, "sha256")
        return hmac.digest(extracted, f"gateway {purpose}".encode() + b"\1", "sha256")


class Seal:
    """Closes and opens the secrets of one purpose."""

    def __init__(self, key: bytes, random: Callable[[int], bytes]) -> None:
        self._key = key
        self._random = random

    @cached_property
    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)

    def close(self, text: str, *, table: str, column: str, row: str) -> str:
        """Seal a text for one place."""
        nonce = self._random(NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, text.encode(), _place(table, column, row))
        return f"{VERSION}.{_write(nonce + sealed)}"

    def open(self, sealed: str, *, table: str, column: str, row: str) -> str:
        """The text. Raises SealBroken when it was altered, moved or sealed with another key."""
        from cryptography.exceptions import InvalidTag

        try:
            version, _, encoded = sealed.partition(".")
            if version != VERSION:
                raise ValueError("unknown version")
            padding = "=" * (-len(encoded) % 4)
            data = b64decode(encoded + padding, altchars=b"-_", validate=True)
            # Base64 has several spellings of the same bytes; only our own counts as unaltered.
            if _write(data) != encoded:
                raise ValueError("not canonical")
            nonce, body = data[:NONCE_BYTES], data[NONCE_BYTES:]
            return self._cipher.decrypt(nonce, body, _place(table, column, row)).decode()
        except (InvalidTag, ValueError) as error:
            raise SealBroken(table, row) from error


def _place(table: str, column: str, row: str) -> bytes:
    return msgspec.json.encode((VERSION, table, column, row))


def _write(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
