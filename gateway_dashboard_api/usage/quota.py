"""The remaining quota of an account, as its vendor reports it (A.7)."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..accounts.routes import connection_of
from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, read_query
from .bodies import GrantBody, QuotaQuery

PATH = "/api/usage/{connectionId}"
CREDITS = f"{PATH}/codex-reset-credits"
NOT_AVAILABLE = "Usage not available for this connection"
NO_CREDITS = "Reset credits are not available for this connection"


class Quota(Struct, frozen=True, kw_only=True, omit_defaults=True):
    message: str | None = None


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", CREDITS, show_credits, "read the reset credits"),
        endpoint(
            admin,
            "POST",
            CREDITS,
            use_credit,
            "use a reset credit",
            body=GrantBody,
            example={"grantId": "grant-1"},
        ),
        endpoint(admin, "GET", PATH, show, "read the live usage", query=QuotaQuery, answer=Quota),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """Answer for every account alike: no vendor's plugin reports a quota."""
    read_query(request, QuotaQuery)
    await connection_of(admin, request.path_params["connectionId"])
    return json_answer(Quota(message=NOT_AVAILABLE))


async def show_credits(admin: AdminContext, request: Request) -> Response:
    await connection_of(admin, request.path_params["connectionId"])
    raise BadRequest(NO_CREDITS)


async def use_credit(admin: AdminContext, request: Request) -> Response:
    await read_json(request, GrantBody)
    await connection_of(admin, request.path_params["connectionId"])
    raise BadRequest(NO_CREDITS)
