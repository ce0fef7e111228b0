"""Routes that a plugin makes only when a request may need them."""

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from drop_ins import folder_in
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.operations import Deferred, Guarded, guarded
from gateway_core.identity.access import Access

pytestmark = pytest.mark.anyio
BELOW = ("/api/", "/later/")
STRANGER = """
from gateway_core import hookimpl
from gateway_core.http.operations import Deferred

@hookimpl
def register_routes():
    return [Deferred(("/api/",), list)]
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def route(path: str, says: str, method: str = "GET") -> Guarded:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(says)

    return guarded(path, answer, Access.PUBLIC, "knock", (method,))


class Later:
    """A plugin whose routes are deferred, and one with routes of the same paths behind it."""

    def __init__(self) -> None:
        self.made_on: list[threading.Thread] = []
        self.plugins = {
            "later": SimpleNamespace(
                register_routes=hookimpl(lambda: [Deferred(BELOW, self.make)])
            ),
            "next": SimpleNamespace(register_routes=hookimpl(lambda: [route("/api/both", "next")])),
        }

    def make(self) -> Iterable[Guarded]:
        self.made_on.append(threading.current_thread())
        return [
            route("/api/both", "later"),
            route("/later/posted", "posted", "POST"),
            route("/api/health", "mine"),
        ]


async def knock(later: Later, tmp_path: Path, *paths: str) -> list[httpx2.Response]:
    """Ask for all of the paths at once."""
    environment = from_environ({"DATA_DIR": str(tmp_path)})
    async with Gateway.open(
        environment, extra_plugins=later.plugins, installed_plugins=False
    ) as gateway:
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return list(await asyncio.gather(*map(client.get, paths)))


@pytest.mark.parametrize("path", ["/api/health", "/v1/models", "/elsewhere"])
async def test_no_request_for_another_route_makes_them(tmp_path: Path, path: str) -> None:
    later = Later()

    await knock(later, tmp_path, path)

    assert later.made_on == []


async def test_a_request_below_their_paths_makes_them_beside_the_event_loop(tmp_path: Path) -> None:
    later = Later()

    [answer] = await knock(later, tmp_path, "/api/unknown")

    assert answer.status_code in (401, 404)
    assert len(later.made_on) == 1
    assert later.made_on[0] is not threading.main_thread()


async def test_they_keep_the_place_of_their_plugin(tmp_path: Path) -> None:
    answers = await knock(Later(), tmp_path, "/api/both", "/api/health", "/api/both")

    assert [answers[0].text, answers[2].text] == ["later", "later"]
    assert answers[1].json() == {"ok": True}


async def test_another_method_of_one_is_refused_as_ever(tmp_path: Path) -> None:
    [answer] = await knock(Later(), tmp_path, "/later/posted")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "OPTIONS, POST"


async def test_a_list_of_all_routes_has_them_once(tmp_path: Path) -> None:
    later = Later()
    environment = from_environ({"DATA_DIR": str(tmp_path)})

    async with Gateway.open(
        environment, extra_plugins=later.plugins, installed_plugins=False
    ) as gateway:
        listed = [gateway.app.routes, gateway.app.routes]

    paths = [getattr(each.route, "path", "") for each in listed[0]]
    assert paths.count("/later/posted") == 1
    assert listed[0] == listed[1]
    assert len(later.made_on) == 1


async def test_a_stranger_defers_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder_in(tmp_path, stranger=STRANGER)
    environment = from_environ({"DATA_DIR": str(tmp_path), "GATEWAY_LOAD_PLUGINS": "stranger"})

    async with Gateway.open(environment):
        pass

    assert "a route that is not Guarded is not served: Deferred" in caplog.text
