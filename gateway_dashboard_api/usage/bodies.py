"""The bodies and queries of requests about usage."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway_core.storage.stores.usage import Status

Day = Annotated[str, Meta(max_length=64)]
StatsPeriod = Literal["today", "24h", "7d", "30d", "60d", "all"]
ChartPeriod = Literal["today", "24h", "7d", "30d", "60d", "90d", "180d", "365d", "all"]


Word = Annotated[str, Meta(max_length=256, pattern=r"^[^\x00]*$")]
"""Without NUL, which not every engine can compare with."""


class PartFilter(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which calls. ``unknown`` selects those that have no provider, model or account,
    ``local-no-key`` those without a key, ``no-combo`` those not made through a combo."""

    provider: Word | None = None
    """Its id, alias or prefix."""
    model: Word | None = None
    """As it was sent to the vendor."""
    connection_id: Word | None = None
    api_key_id: Word | None = None
    endpoint: Word | None = None
    """The path of a client endpoint, with parameters in braces."""
    combo: Word | None = None
    """Its id or its present name."""
    status: Status | None = None


class PeriodQuery(PartFilter, frozen=True, kw_only=True, rename="camel"):
    """A named period, or the local days from ``startDate`` to ``endDate``, both included."""

    period: StatsPeriod = "7d"
    start_date: Day | None = None
    end_date: Day | None = None


class ChartQuery(PartFilter, frozen=True, kw_only=True, rename="camel"):
    period: ChartPeriod = "7d"


class ResetBody(Struct, frozen=True, kw_only=True):
    period: StatsPeriod


class RowFilter(PartFilter, frozen=True, kw_only=True, rename="camel"):
    """Which rows; ``startDate`` and ``endDate`` are local days, both included, or times."""

    request_id: Word | None = None
    start_date: Word | None = None
    end_date: Word | None = None


class SeriesQuery(PartFilter, frozen=True, kw_only=True, rename="camel"):
    """A named period, or the time from ``startDate`` to ``endDate``: local days, both included,
    or times."""

    period: ChartPeriod = "24h"
    start_date: Word | None = None
    end_date: Word | None = None
    interval: Literal["minute", "hour", "day"] | None = None
    """The length of a point; by the period's length where it is left out."""
    group_by: Annotated[str, Meta(max_length=128)] = ""
    """Names of dimensions with commas between them: provider, model, connection, apiKey,
    endpoint, combo, status."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    """How many groups, the busiest first; all others are one."""


class HistoryQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class DetailsQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    page: Annotated[int, Meta(ge=1, le=10_000_000)] = 1
    page_size: Annotated[int, Meta(ge=1, le=100)] = 20


class ExportQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    """``hours`` count back from now; they do not apply with ``startDate`` or ``endDate``."""

    hours: Annotated[int, Meta(ge=1, le=168)] = 24
    limit: Annotated[int, Meta(ge=1, le=50_000)] = 10_000


class MeQuery(Struct, frozen=True):
    format: str = "json"


class StreamQuery(Struct, frozen=True, kw_only=True):
    period: Literal["today", "24h", "7d", "30d", "60d", "all"] = "7d"


class LiveQuery(PartFilter, frozen=True, kw_only=True, rename="camel"):
    after: Annotated[int, Meta(ge=0, le=1 << 62)] | None = None
    """The number of a row; those that follow it come first."""


class QuotaQuery(Struct, frozen=True, kw_only=True):
    force: bool = False
    """Ask the vendor again instead of giving what it said a moment ago."""


class GrantBody(Struct, frozen=True, kw_only=True, rename="camel"):
    grant_id: str | None = None


MOST_DAYS = 3650


class DaysBody(Struct, frozen=True, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None
    """How much is kept; the setting's when nothing is said."""
