"""What calls used and how long they took, minute by minute, hour by hour or day by day."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from gateway_core.storage.database import Database, Row

from .sums import (
    FIGURES,
    FIRST,
    SUMS,
    TOOK,
    Span,
    UsageSums,
    filter_sql,
    rows,
    totals,
)

_IN_MINUTES = "finished_at >= :since AND finished_at < :until"
_FAILED = "status IN ('error', 'upstream_cut')"
_ERRORS = f"CAST(sum(CASE WHEN {_FAILED} THEN requests ELSE 0 END) AS BIGINT) AS errors"


class TimeSlot(Struct, frozen=True, kw_only=True):
    """Calls of one group in one minute, hour or day."""

    at: str
    group: tuple[str, ...]
    """The values of the parts that calls are grouped by; an empty text is what is not known."""
    errors: int
    """Calls that the gateway or the vendor refused, or that broke off."""
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: int
    unpriced_requests: int
    unpriced_tokens: int
    took: tuple[int, ...]
    """Successful calls by the time until their end, see ``latency_buckets``."""
    first: tuple[int, ...]
    """Successful calls by the time until their first byte."""


class UsageSeries:
    """Time series of the ledger."""

    def __init__(self, database: Database, sums: UsageSums) -> None:
        self._database = database
        self._sums = sums

    async def slots(
        self,
        span: Span,
        parts: Mapping[str, str] = {},
        by: Sequence[str] = (),
        *,
        times: bool = False,
    ) -> list[TimeSlot]:
        """Every minute, hour or day that has calls, in order, and each group in it.

        ``parts`` are values that all the calls have in common; ``by`` are the parts that they
        are grouped by, names of ``PARTS``. Without ``times``, nothing is known of how long calls
        took.
        """
        table, unit = rows("minute", _IN_MINUTES), ""
        if span.unit != "minute":
            await self._sums.follow()
            table, unit = SUMS, f" AND unit = '{span.unit}'"
        keys, columns = ", ".join(("at", *by)), (*TOOK, *FIRST) if times else ()
        fetched = await self._database.fetch(
            f"SELECT {keys}, {_ERRORS}, {totals((*FIGURES, *columns))} FROM {table} AS t "
            f"WHERE at >= :since AND at < :until{unit}{filter_sql(parts)} "
            f"GROUP BY {keys} ORDER BY at",
            since=span.since,
            until=span.until,
            **parts,
        )
        return [_slot(row, by) for row in fetched]


def _slot(row: Row, by: Sequence[str]) -> TimeSlot:
    return TimeSlot(
        at=row["at"],
        group=tuple(row[name] for name in by),
        errors=row["errors"],
        **{name: row[name] for name in FIGURES},
        took=tuple(row[name] for name in TOOK if name in row),
        first=tuple(row[name] for name in FIRST if name in row),
    )
