"""Which requests are on their way right now, and what they wait for."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from .request_record import Trace


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
        self._traces: set[Trace] = set()
        self.changes = 0
        """Grows whenever a request begins or ends."""

    def __len__(self) -> int:
        return len(self._traces)

    def begin(self, trace: Trace) -> None:
        self._traces.add(trace)
        self.changes += 1

    def end(self, trace: Trace) -> None:
        """May be called for a request that never began."""
        self._traces.discard(trace)
        self.changes += 1

    def groups(self) -> Mapping[Waiting, int]:
        """How many requests wait for what. Those that have not been sent on are left out."""
        return Counter(
            Waiting(trace.target.model.id, trace.target.provider.id, trace.connection_id)
            for trace in self._traces
            if trace.target is not None and trace.connection_id is not None
        )
