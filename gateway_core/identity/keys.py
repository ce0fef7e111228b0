"""Gateway keys: their shape, how they are minted, and the table they are found in.

```text
sk-<machine id>-<key id>-<crc>     crc: 8 hex of HMAC-SHA256(secret, machine id + key id)
sk-<8 hex>                         an older shape without a check
```

The text of a key is never kept in memory: a keyed hash of it is.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from string import ascii_lowercase, digits

import msgspec
from msgspec import Struct

from ..storage.moments import seconds
from ..storage.stores.keys import ApiKey
from .policy import Policy, read

PREFIX = "sk-"
LONGEST = 256
KEY_ID_LENGTH = 6
CRC_LENGTH = 8
ALPHABET = ascii_lowercase + digits
MASK = PREFIX + "•" * 8


class Key(Struct, frozen=True, kw_only=True):
    """A key in use."""

    id: str
    name: str
    digest: bytes
    is_active: bool
    expires_at: float | None
    """Unix seconds."""
    allowed_combos: frozenset[str]
    """Empty allows all."""
    policy: Policy
    connections: frozenset[str]
    """The accounts it may use; empty allows all."""
    has_limits: bool
    """Whether its use is counted against something."""
    is_restricted: bool
    """Limited or narrowed in any way."""
    inference_only: bool = False
    """It opens no management route."""

    def is_good(self, now: float) -> bool:
        return self.is_active and (self.expires_at is None or now < self.expires_at)


@lru_cache(maxsize=4096)
def _policy(stored: bytes, daily_tokens: int | None) -> Policy:
    """Many keys have the same policy; they share it."""
    return read(msgspec.json.decode(stored), daily_tokens)


def key_of(row: ApiKey) -> Key:
    """A stored key, ready for use."""
    policy = _policy(msgspec.json.encode(row.policy), row.daily_limit_tokens)
    narrowed = policy.has_rules or row.allowed_combos or row.provider_connection_ids
    return Key(
        id=row.id,
        name=row.name,
        digest=bytes.fromhex(row.digest),
        is_active=row.is_active,
        expires_at=None if row.expires_at is None else seconds(row.expires_at),
        allowed_combos=frozenset(row.allowed_combos),
        policy=policy,
        connections=frozenset(row.provider_connection_ids),
        has_limits=policy.has_limits,
        inference_only=row.inference_only,
        is_restricted=bool(narrowed or policy.has_limits or row.expires_at is not None),
    )


class Mint:
    """Makes keys, checks their shape and hashes them."""

    def __init__(
        self, secret: str, machine_id: str, index_key: bytes, pick: Callable[[str], str]
    ) -> None:
        """``secret`` is API_KEY_SECRET; ``pick`` chooses one character at random."""
        self.machine_id = machine_id
        self._secret = secret.encode()
        self._index_key = index_key
        self._pick = pick

    def new(self) -> str:
        """A four-part key of this install."""
        key_id = "".join(self._pick(ALPHABET) for _ in range(KEY_ID_LENGTH))
        return f"{PREFIX}{self.machine_id}-{key_id}-{self._crc(self.machine_id + key_id)}"

    def digest(self, text: str) -> bytes:
        """The hash a key is found by."""
        return hmac.digest(self._index_key, text.encode("utf-8", "replace"), "sha256")

    def mark(self, text: str) -> bytes:
        """Another keyed hash, a quick one, for what is remembered in memory only."""
        return blake2b(text.encode("utf-8", "replace"), key=self._index_key[:64]).digest()

    def is_well_formed(self, text: str) -> bool:
        """Whether a text has the shape of a key, and a four-part one its right check."""
        if len(text) > LONGEST or not (text.isascii() and text.isprintable()):
            return False
        parts = text.split("-")
        if parts[0] != "sk" or len(parts) not in (2, 4) or not all(parts):
            return False
        crc = self._crc("".join(parts[1:3])) if len(parts) == 4 else ""
        return len(parts) == 2 or hmac.compare_digest(parts[3].encode(), crc.encode())

    def _crc(self, signed: str) -> str:
        return hmac.digest(self._secret, signed.encode(), "sha256").hex()[:CRC_LENGTH]


class KeyTable:
    """Every saved key by its hash, in memory."""

    def __init__(self, mint: Mint) -> None:
        self.mint = mint
        self.version = 0
        """Of the newest row that was taken in."""
        self.seen = 0
        """Of the whole group, when the table was last compared with it."""
        self.changes = 0
        """Grows with every change."""
        self._by_digest: dict[bytes, Key] = {}
        self._by_id: dict[str, Key] = {}
        self._met: dict[bytes, Key] = {}
        """Keys that were found before, by their quick hash; forgotten with every change."""

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, identity: str) -> Key | None:
        return self._by_id.get(identity)

    def take(self, rows: Iterable[ApiKey]) -> None:
        """Add or replace keys."""
        self._met = {}
        self.changes += 1
        for row in rows:
            before = self._by_id.pop(row.id, None)
            if before is not None:
                self._by_digest.pop(before.digest, None)
            key = key_of(row)
            self._by_id[key.id] = key
            self._by_digest[key.digest] = key
            self.version = max(self.version, row.version)

    def replace(self, rows: Iterable[ApiKey]) -> None:
        """Take these keys and no others."""
        self._by_id, self._by_digest, self.version = {}, {}, 0
        self.take(rows)

    def find(self, text: str) -> Key | None:
        """The saved key with this text, good or not.

        How long it takes tells nothing about a text that is not a saved key.
        """
        mark = self.mint.mark(text)
        key = self._met.get(mark)
        if key is not None:
            return key
        digest = self.mint.digest(text)
        key = self._by_digest.get(digest)
        # Both checks are made for every text, so that the time is the same for a wrong one.
        is_same = hmac.compare_digest(digest, key.digest if key else bytes(len(digest)))
        is_well_formed = self.mint.is_well_formed(text)
        if key is None or not (is_same and is_well_formed):
            return None
        self._met[mark] = key
        return key


def by_header(headers: Mapping[str, str]) -> Iterable[str]:
    """Texts a request shows as keys in its headers, in the order in which they count."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer.strip():
        yield bearer.strip()
    for name in ("x-api-key", "x-alt-api-key", "x-goog-api-key"):
        if text := headers.get(name, "").strip():
            yield text
