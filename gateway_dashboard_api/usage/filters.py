"""Turns a query into a filter of the ledger's rows."""

from datetime import datetime

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.moments import iso, seconds
from gateway_core.storage.stores.usage_days import LAST_DAY
from gateway_core.storage.stores.usage_reports import Which

from ..admin_context import AdminContext
from .bodies import RowFilter
from .periods import DAY, calendar_day, day_start

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
    return Which(
        provider=admin.provider_id(parameters.provider) if parameters.provider else None,
        model=parameters.model,
        connection=parameters.connection_id,
        status=parameters.status,
        since=since,
        until=until,
        days=(start or "", end or LAST_DAY) if is_whole_days else None,
    )


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
