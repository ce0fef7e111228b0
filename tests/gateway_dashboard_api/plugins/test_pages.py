"""The pages that plugins add to the web interface, over HTTP."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from admin_gateway import AdminGateway, client_of, opened
from drop_ins import folder_in
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway_core import Access, Guarded, hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ

pytestmark = pytest.mark.anyio
PATH = "/api/pages"
SCRIPT = "/quota/page.js"
DROP_IN = '''"""Quota."""

from gateway_core import Access, Guarded, hookimpl
from starlette.responses import Response
from starlette.routing import Route


async def script(request):
    return Response("export const mount = () => {};", media_type="text/javascript")


@hookimpl
def register_routes():
    return [Guarded(Route("/quota/page.js", script), Access.MANAGEMENT, page="Quota")]
'''


def page_plugin(title: str) -> object:
    async def script(request: Request) -> Response:
        return Response("export const mount = () => {};", media_type="text/javascript")

    def register_routes() -> list[Guarded]:
        return [Guarded(Route(SCRIPT, script), Access.MANAGEMENT, page=title)]

    return SimpleNamespace(register_routes=hookimpl(register_routes))


async def test_without_one_the_list_is_empty(admin: AdminGateway) -> None:
    assert await admin.call("GET", PATH) == {"pages": []}


async def test_a_page_is_listed_and_its_script_is_for_operators(tmp_path: Path) -> None:
    async with opened(tmp_path, {}, more={"house": page_plugin("Quota")}) as admin:
        listed = await admin.call("GET", PATH)
        script = await admin.client.get(SCRIPT)
        async with client_of(admin.gateway, "203.0.113.5", operator=False) as stranger:
            refused = await stranger.get(SCRIPT)

    assert listed == {"pages": [{"title": "Quota", "script": SCRIPT}]}
    assert script.headers["content-type"].startswith("text/javascript")
    assert refused.status_code == 401


@pytest.mark.parametrize("trusted", ["", "quota"])
async def test_a_page_of_a_plugin_that_is_not_trusted_is_a_problem(
    tmp_path: Path, trusted: str
) -> None:
    """It would run with the operator's session."""
    folder_in(tmp_path, quota=DROP_IN)
    variables = {"DATA_DIR": str(tmp_path), "GATEWAY_TRUST_PLUGINS": trusted}

    async with Gateway.open(from_environ(variables)) as gateway:
        pages = [each.page for each in gateway.app.routes if each.page]
        served = [getattr(each.route, "path", "") for each in gateway.app.routes]
        found = gateway.core.snapshot.registry.problems
        problems = [each.message for each in found if each.plugin == "quota"]

    assert SCRIPT in served
    assert pages == (["Quota"] if trusted else [])
    assert ["GATEWAY_TRUST_PLUGINS" in each for each in problems] == ([] if trusted else [True])
