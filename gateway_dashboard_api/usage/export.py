"""Exporting the newest calls as one file (A.7)."""

import logging
from collections.abc import AsyncGenerator

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.identity.access import Access
from gateway_core.storage.moments import iso, local_day
from gateway_core.storage.stores.usage import UsageRow

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from ..streams import Attachment
from .bodies import ExportQuery
from .details import join_bodies
from .filters import build_filter
from .ledger.reports import Which
from .up_to_date import up_to_date
from .views import DetailRow

PATH = "/api/logs/export"
TYPE = "request-logs"
AT_ONCE = 500
HOUR = 3600
BROKEN = "The export broke off"
log = logging.getLogger(__name__)


class Export(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The file. ``capped``, ``limit`` and ``totalAvailable`` say that there is more;
    ``emitted`` and ``error`` that it broke off after so many rows."""

    count: int
    hours: int
    type: str
    capped: bool | None = None
    limit: int | None = None
    total_available: int | None = None
    logs: tuple[DetailRow, ...]
    emitted: int | None = None
    error: str | None = None


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            up_to_date(export),
            "export the logs",
            access=Access.OPERATOR,
            query=ExportQuery,
            answer=Export,
        )
    ]


async def export(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, ExportQuery)
    now = admin.core.clock()
    await admin.audit(
        request, "logs.export", None, {"hours": parameters.hours, "limit": parameters.limit}
    )
    chosen = build_filter(admin, parameters)
    if parameters.start_date is None and parameters.end_date is None:
        since, until = iso(now - parameters.hours * HOUR), iso(now + 1)
        chosen = replace(chosen, since=since, until=until, days=None)
    total = await admin.reports.count(chosen)
    source = write_export(admin, chosen, parameters, total)
    return Attachment(source, f"{TYPE}-{local_day(now)}.json")


async def write_export(
    admin: AdminContext, chosen: Which, parameters: ExportQuery, total: int
) -> AsyncGenerator[bytes, None]:
    """Yield the document in pieces. The head with the counts comes before any row."""
    count = min(total, parameters.limit)
    yield write_head(parameters, count, total)
    emitted = 0
    try:
        async for rows in _pieces(admin, chosen, count):
            parts = [msgspec.json.encode(row) for row in await join_bodies(admin, rows)]
            yield (b"," if emitted else b"") + b",".join(parts)
            emitted += len(rows)
    except Exception:
        log.exception("an export failed after %d rows", emitted)
        broken = msgspec.json.encode({"emitted": emitted, "error": BROKEN})
        yield b"]," + broken[1:]
    else:
        yield b"]}" if emitted == count else b'],"emitted":%d}' % emitted


def write_head(parameters: ExportQuery, count: int, total: int) -> bytes:
    facts: dict[str, object] = {"count": count, "hours": parameters.hours, "type": TYPE}
    if total > count:
        facts |= {"capped": True, "limit": parameters.limit, "totalAvailable": total}
    return msgspec.json.encode(facts)[:-1] + b',"logs":['


async def _pieces(
    admin: AdminContext, chosen: Which, count: int
) -> AsyncGenerator[list[UsageRow], None]:
    """Yield pages of rows, newest first, without rows that are added meanwhile."""
    reports = admin.reports
    rows = await reports.page(chosen, limit=min(count, AT_ONCE)) if count else []
    while rows:
        yield rows
        count -= len(rows)
        if not count:
            return
        rows = await reports.after(rows[-1], chosen, limit=min(count, AT_ONCE))
