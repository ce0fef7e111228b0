"""A query parameter that a route does not have is refused by name."""

from functools import partial
from typing import cast

import pytest
from admin_gateway import AdminGateway

from gateway_core.http.operations import RouteOperation
from gateway_core.identity.access import Access
from gateway_core.pipeline.context import Collaborators
from gateway_dashboard_api import routes as management

pytestmark = pytest.mark.anyio
OPEN = (Access.PUBLIC, Access.ISOLATED)
PLAYGROUND = "/api/playground/{endpoint:path}"
"""Hands everything to a client endpoint, which takes its vendors' parameters."""
CLOSED = [
    operation
    for route in management.routes_of(cast(Collaborators, None))
    for operation in route.operations
    if operation.access not in (*OPEN, Access.SESSION, Access.PROTECTED, Access.COMMAND_LINE)
    and operation.path != PLAYGROUND
]


def named(operation: RouteOperation) -> str:
    return f"{operation.method} {operation.path}"


@partial(pytest.mark.parametrize, "operation", ids=named)(CLOSED)
async def test_every_management_route_refuses_it(
    admin: AdminGateway, operation: RouteOperation
) -> None:
    path = operation.path.replace("{", "").replace("}", "")

    answer = await admin.call(operation.method, path, params={"provder": "x"}, status=400)

    assert answer["error"].startswith('Unknown query parameter "provder": ')
    for name in operation.query.__struct_encode_fields__ if operation.query else ():
        assert name in answer["error"]


@pytest.mark.parametrize("query", ["_=1", "t=1700000000", "key=none"])
async def test_cache_busters_and_a_key_are_no_parameters(admin: AdminGateway, query: str) -> None:
    await admin.call("GET", f"/api/usage/history?{query}")


async def test_public_paths_may_be_asked_with_anything(admin: AdminGateway) -> None:
    await admin.call("GET", "/api/livez?probe=1")
