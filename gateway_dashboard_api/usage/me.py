"""What the owner of a key may see: its usage, its policy, its accounts (A.4)."""

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, Unauthorized
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..keys.spending import day_status
from ..keys.views import account_row, totals
from ..requests import read_query
from .bodies import MeQuery
from .views import Account, Me, OwnUsage

PATH = "/api/usage/me"


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the usage of your API key",
            access=Access.OWN_KEY,
            query=MeQuery,
            answer=Me,
        )
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    if read_query(request, MeQuery).format != "json":
        raise BadRequest("Invalid format: json is possible")
    caller = admin.caller(request)
    key = None if caller.key is None else await admin.stores.keys.get(caller.key.id)
    if key is None:
        raise Unauthorized("A valid application API key is required.")
    limits = admin.core.limits
    spent = (await limits.count_of(key.id)).spent
    # A key without accounts of its own may use all that are active.
    scope = key.provider_connection_ids
    stored = await admin.stores.connections.list()
    rows = (account_row(each) for each in stored if (each.id in scope if scope else each.is_active))
    return json_answer(
        Me(
            id=key.id,
            name=key.name,
            is_active=key.is_active,
            expires_at=key.expires_at,
            created_at=key.created_at,
            daily_limit_tokens=key.daily_limit_tokens,
            policy=key.policy,
            usage=OwnUsage(lifetime=totals(spent.ever), daily=day_status(limits, key, spent)),
            connections=tuple(
                Account(id=row.id, name=row.name, provider=row.provider) for row in rows
            ),
        )
    )
