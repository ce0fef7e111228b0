"""Which requests are on their way right now, and what they wait for."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from .request_record import RequestRecord


class Waiting(Struct, frozen=True):
    """A vendor's model, asked by way of an account."""

    model: str
    provider: str
    account: str
    """The id of the connection."""


class InFlight:
    """Requests between their beginning and their end. Counting one costs the same whatever
    else is on its way; what they wait for is looked up only when somebody asks."""

    def __init__(self) -> None:
        self._traces: set[RequestRecord] = set()
        self.changes = 0
        """Grows whenever a request begins or ends."""

    def __len__(self) -> int:
        return len(self._traces)

    def begin(self, record: RequestRecord) -> None:
        self._traces.add(record)
        self.changes += 1

    def end(self, record: RequestRecord) -> None:
        """May be called for a request that never began."""
        self._traces.discard(record)
        self.changes += 1

    def groups(self) -> Mapping[Waiting, int]:
        """How many requests wait for what. Those that have not been sent on are left out."""
        return Counter(
            Waiting(record.target.model.id, record.target.provider.id, record.connection_id)
            for record in self._traces
            if record.target is not None and record.connection_id is not None
        )
