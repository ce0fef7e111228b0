"""Behind its fence a stranger's route spoils one answer at most."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from drop_ins import folder_in
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.plugin_sandbox import Fenced
from gateway_core.http.requests import REQUEST_ID

pytestmark = pytest.mark.anyio
BLIND = '''"""A route that does not even tell its path."""

from starlette.routing import BaseRoute

from gateway_core import hookimpl
from gateway_core.identity.access import Access
from gateway_core.http.operations import Guarded


class Blind(BaseRoute):
    @property
    def path(self):
        raise SystemExit(3)


@hookimpl
def register_routes():
    return [Guarded(Blind(), Access.PUBLIC)]
'''


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def cancelled(request: Request) -> Response:
    """Waits for a task of its own that was cancelled."""
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task
    return Response()


async def lost(request: Request) -> Response:
    raise BaseExceptionGroup("several at once", [SystemExit(3)])


def scope_of(path: str) -> dict[str, Any]:
    return {"type": "http", "method": "GET", "path": path, "headers": [], REQUEST_ID: "r"}


@pytest.mark.parametrize("endpoint", [cancelled, lost])
async def test_an_end_that_is_not_the_requests_is_one_answer(endpoint: Any) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = scope_of("/a")
    fenced = Fenced("acme", Route("/a", endpoint))
    scope.update(fenced.matches(scope)[1])
    await fenced.handle(scope, receive, send)

    assert sent[0]["status"] == 500


async def test_a_request_that_is_ended_ends_its_route() -> None:
    started = asyncio.Event()

    async def wait(request: Request) -> Response:
        started.set()
        await asyncio.Event().wait()
        return Response()

    scope: Any = scope_of("/a")
    fenced = Fenced("acme", Route("/a", wait))
    scope.update(fenced.matches(scope)[1])
    nothing: Any = None
    task = asyncio.create_task(fenced.handle(scope, nothing, nothing))
    await started.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_route_that_fails_when_it_is_looked_at_fits_nothing() -> None:
    class Leaves(Route):
        def matches(self, scope: Any) -> Any:
            raise SystemExit(3)

    assert Fenced("acme", Leaves("/a", cancelled)).matches(scope_of("/a"))[0] is Match.NONE


ROUTE = '''"""Says who answered."""

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from gateway_core import hookimpl
from gateway_core.identity.access import Access
from gateway_core.http.operations import Guarded


async def tell(request):
    return PlainTextResponse("{0}")


@hookimpl
def register_routes():
    return [Guarded(Route("/api/who", tell), Access.PUBLIC)]
'''


@pytest.mark.parametrize(("trusted", "answered"), [("", "aa"), ("zz", "zz")])
async def test_a_trusted_plugin_keeps_its_path(tmp_path: Path, trusted: str, answered: str) -> None:
    folder_in(tmp_path, aa=ROUTE.format("aa"), zz=ROUTE.format("zz"))
    names = {"GATEWAY_LOAD_PLUGINS": "aa,zz", "GATEWAY_TRUST_PLUGINS": trusted}

    async with Gateway.open(from_environ({"DATA_DIR": str(tmp_path), **names})) as gateway:
        transport = httpx2.ASGITransport(app=gateway.app, client=("127.0.0.1", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await client.get("/api/who")

    assert answer.text == answered


async def test_a_route_that_cannot_be_read_is_told_and_not_served(tmp_path: Path) -> None:
    folder_in(tmp_path, blind=BLIND)
    environment = from_environ({"DATA_DIR": str(tmp_path), "GATEWAY_LOAD_PLUGINS": "blind"})

    async with Gateway.open(environment) as gateway:
        [problem] = gateway.core.snapshot.registry.problems

        assert problem.message == "a route is not served: reading it raised SystemExit"
