"""The document as it is served: of all plugins, and the same every time."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from admin_gateway import AdminGateway, client_of
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.operations import Guarded, guarded
from gateway_core.identity.access import Access
from gateway_dashboard_api import plugin

pytestmark = pytest.mark.anyio

PATH = "/api/openapi.json"


class Weather(Struct):
    is_fine: bool


async def tell(request: Request) -> Response:
    return Response()


def register_routes() -> list[Guarded]:
    return [guarded("/api/weather", tell, Access.OPERATOR, "tell the weather", answer=Weather)]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """To a gateway with one more plugin, which has a route."""
    plugins: dict[str, Any] = {
        "dashboard": plugin,
        "weather": SimpleNamespace(register_routes=hookimpl(register_routes)),
    }
    environment = from_environ({"DATA_DIR": str(tmp_path)})
    async with (
        Gateway.open(environment, extra_plugins=plugins, installed_plugins=False) as gateway,
        client_of(gateway) as opened,
    ):
        yield opened


async def test_routes_of_other_plugins_are_in_it(client: httpx2.AsyncClient) -> None:
    document = (await client.get(PATH)).json()

    described = document["paths"]["/api/weather"]["get"]
    assert described["summary"] == "Tell the weather"
    assert described["x-gateway-access"] == "operator"
    assert "Weather" in document["components"]["schemas"]


async def test_it_is_the_same_every_time(admin: AdminGateway) -> None:
    first, second = [await admin.client.get(PATH) for _ in range(2)]

    assert first.content == second.content
    assert first.headers["content-type"] == "application/json"


async def test_formats_that_are_installed_have_their_paths(admin: AdminGateway) -> None:
    document = await admin.call("GET", PATH)

    chat = document["paths"]["/v1/chat/completions"]["post"]
    assert chat["x-gateway-format"] == "openai"
