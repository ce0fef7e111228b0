"""Single rows of the ledger, as pages and as lines of text (A.7)."""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.usage import UsageRow
from gateway_core.storage.stores.usage_reports import Which

from ..desk import AdminContext
from ..endpoint import endpoint
from ..requests import query
from ..usage_rows import HistoryRow, RowFilter, history_row, names_of, which
from ..usage_stats import Names

PATH = "/api/usage"
LINES = 200


class HistoryQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class History(Struct, frozen=True, kw_only=True):
    """Rows, newest first; ``total`` counts them all."""

    rows: tuple[HistoryRow, ...]
    total: int
    limit: int
    offset: int


def routes(admin: AdminContext) -> list[Guarded]:
    get = partial(endpoint, admin, "GET")
    lines = partial(get, handler=logs, purpose="read the usage logs", answer=tuple[str, ...])
    return [
        get(
            f"{PATH}/history",
            history,
            "read the usage history",
            query=HistoryQuery,
            answer=History,
        ),
        lines(f"{PATH}/logs"),
        lines(f"{PATH}/request-logs"),
    ]


async def history(admin: AdminContext, request: Request) -> Response:
    given = query(request, HistoryQuery)
    chosen, reports = which(admin, given), admin.stores.reports
    total = await reports.count(chosen)
    found = await reports.page(chosen, limit=given.limit, offset=given.offset)
    names = await names_of(admin)
    rows = tuple(history_row(row, names) for row in found)
    return json_answer(History(rows=rows, total=total, limit=given.limit, offset=given.offset))


async def logs(admin: AdminContext, request: Request) -> Response:
    rows = await admin.stores.reports.page(Which(), limit=LINES)
    names = await names_of(admin)
    return json_answer([line(row, names) for row in rows])


def line(row: UsageRow, names: Names) -> str:
    """One call in a line of text: when, what, by which account, tokens in and out, how it went."""
    account = names.account(row.connection_id) if row.connection_id else "-"
    words = (
        row.finished_at,
        row.model_sent or row.model_asked or "-",
        row.provider or "-",
        account,
        str(row.input_tokens),
        str(row.output_tokens),
        row.status if row.error_code is None else f"{row.status} {row.error_code}",
    )
    # Names and models come from outside; one call is one line whatever is in them.
    return " | ".join("".join(c if c.isprintable() else "?" for c in word) for word in words)
