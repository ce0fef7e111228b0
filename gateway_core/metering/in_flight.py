"""Which requests are on their way right now, and what they wait for."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from .request_record import RequestRecord


class Waiting(Struct, frozen=True):
    """A vendor's model and the account that is used."""

    model: str
    provider: str
    account: str
    """The id of the connection."""


class InFlight:
    """Requests between their beginning and their end.

    Beginning and ending one takes constant time; what they wait for is grouped on demand.
    """

    def __init__(self) -> None:
        self._records: set[RequestRecord] = set()
        self.changes = 0
        """Grows whenever a request begins or ends."""

    def __len__(self) -> int:
        return len(self._records)

    def begin(self, record: RequestRecord) -> None:
        self._records.add(record)
        self.changes += 1

    def end(self, record: RequestRecord) -> None:
        """May be called for a request that never began."""
        self._records.discard(record)
        self.changes += 1

    def groups(self) -> Mapping[Waiting, int]:
        """How many requests wait for which model; those that were not sent yet are left out."""
        return Counter(
            Waiting(record.target.model.id, record.target.provider.id, record.connection_id)
            for record in self._records
            if record.target is not None and record.connection_id is not None
        )
