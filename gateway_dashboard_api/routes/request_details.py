"""Finished calls with what was said in them, as far as that is kept (A.7, B.6)."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.usage import UsageRow

from ..desk import AdminContext
from ..endpoint import endpoint
from ..requests import query
from ..usage_rows import DetailRow, RowFilter, detail_row, which

PATH = "/api/usage/request-details"


class DetailsQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    page: Annotated[int, Meta(ge=1, le=10_000_000)] = 1
    page_size: Annotated[int, Meta(ge=1, le=100)] = 20


class Pagination(Struct, frozen=True, kw_only=True, rename="camel"):
    page: int
    page_size: int
    total_items: int
    total_pages: int
    has_next: bool
    has_prev: bool


class Details(Struct, frozen=True):
    details: tuple[DetailRow, ...]
    pagination: Pagination


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the request details",
            query=DetailsQuery,
            answer=Details,
        )
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """What was said is for the operator; an API key sees the figures only."""
    given = query(request, DetailsQuery)
    chosen, reports = which(admin, given), admin.stores.reports
    total = await reports.count(chosen)
    offset = (given.page - 1) * given.page_size
    rows = await reports.page(chosen, limit=given.page_size, offset=offset)
    if admin.caller(request).is_operator:
        details = await with_what_was_said(admin, rows)
    else:
        details = tuple(detail_row(row, None) for row in rows)
    return json_answer(Details(details, pagination(given.page, given.page_size, total)))


async def with_what_was_said(
    admin: AdminContext, rows: Sequence[UsageRow]
) -> tuple[DetailRow, ...]:
    said = await admin.stores.request_details.of(row.request_id for row in rows)
    return tuple(detail_row(row, said.get(row.request_id)) for row in rows)


def pagination(page: int, page_size: int, total: int) -> Pagination:
    pages = -(-total // page_size)
    return Pagination(
        page=page,
        page_size=page_size,
        total_items=total,
        total_pages=pages,
        has_next=page < pages,
        has_prev=page > 1,
    )
