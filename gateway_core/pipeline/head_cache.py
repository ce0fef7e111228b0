"""A head that was let in, so that the same one on the same connection is not checked again."""

from msgspec import Struct

from ..identity.credentials import Identity
from .request_head import RequestHead


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
