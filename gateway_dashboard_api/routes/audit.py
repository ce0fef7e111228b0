"""The audit trail, newest first."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.storage.stores.audit import AuditRow

from ..desk import AdminContext
from ..endpoint import endpoint
from ..requests import query


class AuditQuery(Struct, frozen=True, kw_only=True):
    action: Annotated[str, Meta(max_length=64)] | None = None
    """Only acts of this name, such as ``key.create``."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class AuditPage(Struct, frozen=True, kw_only=True):
    """``total`` counts the rows of all pages."""

    rows: tuple[AuditRow, ...]
    total: int
    limit: int
    offset: int


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            "/api/audit",
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
    asked = query(request, AuditQuery)
    rows, total = await admin.stores.audit.page(
        action=asked.action, limit=asked.limit, offset=asked.offset
    )
    return json_answer(AuditPage(rows=rows, total=total, limit=asked.limit, offset=asked.offset))
