"""The audit trail: who changed what, signed in or was refused (P.7)."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.audit import AuditFilter, AuditRow
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from ..usage.bodies import RowFilter, Word
from ..usage.filters import build_filter

PATH = "/api/audit"


class AuditQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """``startDate`` and ``endDate`` are local days, both included, or times."""

    action: Annotated[str, Meta(max_length=64)] | None = None
    """Only acts of this name, such as ``key.create``, or all that begin with ``key``."""
    actor: Word | None = None
    """``session:<name>``, ``key:<id>``, ``cli``, ``local`` or ``anonymous``."""
    address: Word | None = None
    target: Word | None = None
    """The id of what was changed."""
    start_date: Word | None = None
    end_date: Word | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class AuditPage(Struct, frozen=True, kw_only=True):
    """``total`` counts the rows of all pages. ``changes`` in a row's ``detail`` has the old and the
    new value of each member; secrets only show that there was one."""

    rows: tuple[AuditRow, ...]
    total: int
    limit: int
    offset: int


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the audit trail",
            access=Access.OPERATOR,
            query=AuditQuery,
            answer=AuditPage,
        )
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """A page of rows.

    For the operator however they come, the command line too, because it is the
    one way in when the password is lost; never for an API key, whose own acts
    are among the rows.
    """
    parameters = read_query(request, AuditQuery)
    dates = RowFilter(start_date=parameters.start_date, end_date=parameters.end_date)
    times = build_filter(admin, dates)
    which = AuditFilter(
        action=parameters.action,
        actor=parameters.actor,
        address=parameters.address,
        target=parameters.target,
        since=times.since,
        until=times.until,
    )
    limit, offset = parameters.limit, parameters.offset
    rows, total = await admin.own_stores.audit.page(which, limit=limit, offset=offset)
    return json_answer(AuditPage(rows=rows, total=total, limit=limit, offset=offset))
