"""Turns a query into a filter of the ledger's rows."""

from datetime import datetime

from msgspec.structs import replace

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.moments import iso, seconds

from ..admin_context import AdminContext
from .bodies import PartFilter, RowFilter
from .ledger.reports import Which
from .ledger.sums import LAST_DAY
from .periods import DAY, Period, calendar_day, day_start
from .statistics import NO_COMBO, NO_KEY, UNKNOWN

_DATE = 10
"""Characters of a date without a time."""


def build_filter(admin: AdminContext, parameters: RowFilter) -> Which:
    """Build the filter of a query. Raises BadRequest for invalid dates."""
    start, end = parameters.start_date, parameters.end_date
    since, until = None, _until(end)
    if start is not None:
        is_day = len(start) == _DATE
        since = day_start(calendar_day(start)) if is_day else _moment(start, "startDate")
    if since is not None and until is not None and until <= since:
        raise BadRequest("startDate must not be after endDate")
    is_whole_days = all(text is None or len(text) == _DATE for text in (start, end))
    return replace(
        filter_parts(admin, parameters),
        request_id=parameters.request_id,
        since=since,
        until=until,
        days=(start or "", end or LAST_DAY) if is_whole_days else None,
    )


def filter_parts(admin: AdminContext, parameters: PartFilter) -> Which:
    """The part of a filter that is not about time. The ledger has nothing where the dashboard
    shows a word for what is not known."""
    provider, combo = parameters.provider, admin.snapshot.combos.get(parameters.combo or "")
    return Which(
        provider=_known(admin.provider_id(provider) if provider else None),
        model=_known(parameters.model),
        connection=_known(parameters.connection_id),
        api_key="" if parameters.api_key_id == NO_KEY else parameters.api_key_id,
        endpoint=parameters.endpoint,
        combo=combo.id if combo else "" if parameters.combo == NO_COMBO else parameters.combo,
        status=parameters.status,
    )


def filter_period(admin: AdminContext, parameters: PartFilter, period: Period) -> Which:
    """The calls of a period."""
    since = None if period.since is None else iso(period.since)
    days = period.days if since is None else None
    return replace(filter_parts(admin, parameters), since=since, days=days)


def _known(name: str | None) -> str | None:
    return "" if name == UNKNOWN else name


def _until(text: str | None) -> str | None:
    """A day ends where the next begins; a time is inclusive, to the millisecond."""
    if text is None:
        return None
    try:
        if len(text) == _DATE:
            return day_start(calendar_day(text) + DAY)
        return iso(seconds(_moment(text, "endDate")) + 0.001)
    except (OverflowError, ValueError):
        raise BadRequest("Invalid endDate") from None


def _moment(text: str, name: str) -> str:
    """Convert a date-time, local unless it has a zone, to the ledger's notation."""
    try:
        return iso(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError, OSError):
        raise BadRequest(f"Invalid {name}") from None
