"""Heads of requests that were let in, so that one that comes again is not read again.

Where they come from tells nothing of connections, so a head is known by a keyed
hash of all that a decision could rest on; what it says in the clear, a key
above all, is not kept.
"""

from hashlib import blake2b

import msgspec
from msgspec import Struct

from ..contracts.asgi import Scope
from ..identity.credentials import Identity
from .request_head import RequestHead

MOST = 1024
LONGEST = 4096
"""Bytes of a head that is worth a look."""
PATIENCE = 64
"""Heads in a row that had not come before until heads are not looked at any more, for a while."""
PAUSE = 16 * PATIENCE
Mark = tuple[bytes, bytes]
"""What the head of a POST is known by, and the length of its body, in digits."""
_LENGTH = b"content-length"
_encode = msgspec.msgpack.Encoder().encode


class Seen(Struct, frozen=True):
    """A head that was let in, and how often the keys had changed by then."""

    arrival: RequestHead
    changes: int

    def again(self, identity: Identity, length: bytes) -> RequestHead | None:
        """The head of a request with a body of this length, if it still may pass."""
        key = self.arrival.caller.key
        if self.changes != identity.keys.changes:
            return None
        if key is not None and key.expires_at is not None and not key.is_good(identity.clock()):
            return None
        return self.arrival.again(length.decode("ascii"))


class SeenHeads:
    """The heads of one gateway."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._held: dict[bytes, Seen] = {}
        self._strange = 0
        """Heads since one came again."""

    def mark(self, scope: Scope) -> Mark | None:
        """``None`` where a head is not to be known again."""
        if scope["method"] != "POST":
            return None
        if self._strange > PATIENCE:
            self._strange = self._strange + 1 if self._strange < PAUSE else 0
            return None
        pairs = scope["headers"]
        named = dict(pairs)
        length = named.pop(_LENGTH, b"")
        if not length.isdigit() or len(named) != len(pairs) - 1:
            return None
        try:
            said = _encode((*_all_but_headers(scope), named))
        except (TypeError, ValueError):  # Whoever reads it will say what is wrong.
            return None
        if len(said) > LONGEST:
            return None
        return blake2b(said, key=self._secret).digest(), length

    def find(self, mark: Mark) -> Seen | None:
        found = self._held.get(mark[0])
        self._strange = 0 if found is not None else self._strange + 1
        return found

    def keep(self, mark: Mark, seen: Seen) -> None:
        if len(self._held) >= MOST:
            del self._held[next(iter(self._held))]
        self._held[mark[0]] = seen


def _all_but_headers(scope: Scope) -> tuple[object, ...]:
    client, get = scope.get("client"), scope.get
    address = client[0] if client else None
    return scope["path"], get("raw_path"), get("query_string"), get("root_path"), address
