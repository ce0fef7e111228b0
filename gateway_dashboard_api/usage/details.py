"""Finished calls with their recorded bodies (A.7, B.6)."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.usage import UsageRow

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..pagination import pagination
from ..requests import read_query
from .bodies import DetailsQuery
from .filters import build_filter
from .up_to_date import up_to_date
from .views import DetailRow, Details, detail_row

PATH = "/api/usage/request-details"


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            up_to_date(show),
            "read the request details",
            query=DetailsQuery,
            answer=Details,
        )
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """Show calls; recorded bodies only to the operator, an API key sees the figures."""
    parameters = read_query(request, DetailsQuery)
    chosen, reports = build_filter(admin, parameters), admin.reports
    total = await reports.count(chosen)
    offset = (parameters.page - 1) * parameters.page_size
    rows = await reports.page(chosen, limit=parameters.page_size, offset=offset)
    if admin.caller(request).is_operator:
        # Contents wait for some seconds otherwise, and a call that was just seen would have none.
        await admin.core.request_log.flush()
        details = await join_bodies(admin, rows)
    else:
        details = tuple(detail_row(row, None) for row in rows)
    return json_answer(Details(details, pagination(parameters.page, parameters.page_size, total)))


async def join_bodies(admin: AdminContext, rows: Sequence[UsageRow]) -> tuple[DetailRow, ...]:
    bodies = await admin.own_stores.request_details.of(row.request_id for row in rows)
    return tuple(detail_row(row, bodies.get(row.request_id)) for row in rows)
