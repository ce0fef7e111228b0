"""Interceptors stand on the path of every call, and none of them can break it by itself."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import msgspec
import pytest

from gateway_core import BadRequest, Call, hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ


class Shouting:
    """Rewrites the body, and keeps what it sees afterwards."""

    order = 1
    required = False

    def __init__(self) -> None:
        self.seen: list[Mapping[str, Any]] = []

    async def before(self, call: Call) -> Call:
        turns = [{"role": "user", "content": "LOUD"}]
        call.members = {**call.members, "messages": msgspec.Raw(msgspec.json.encode(turns))}
        return call

    async def after(self, record: Mapping[str, Any]) -> None:
        self.seen.append(record)


class Refusing(Shouting):
    async def before(self, call: Call) -> Call:
        raise BadRequest("not this")


class Broken(Shouting):
    async def before(self, call: Call) -> Call:
        raise RuntimeError("a bug")

    async def after(self, record: Mapping[str, Any]) -> None:
        raise RuntimeError("a bug")


class Required(Broken):
    required = True


def ask(folder: Path, interceptor: object) -> httpx2.Response:
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [interceptor]))
    body = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}

    async def main() -> httpx2.Response:
        environment = from_environ({"DATA_DIR": str(folder)})
        async with Gateway.open(environment, extra_plugins={"watcher": plugin}) as gateway:
            transport = httpx2.ASGITransport(app=gateway.app, client=("127.0.0.1", 1))
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as c:
                return await c.post("/v1/chat/completions", json=body)

    return asyncio.run(main())


def test_one_may_rewrite_a_call_and_see_its_record(tmp_path: Path) -> None:
    interceptor = Shouting()

    answer = ask(tmp_path, interceptor)

    assert answer.json()["choices"][0]["message"]["content"] == "LOUD"
    (record,) = interceptor.seen
    assert (record["provider"], record["status"]) == ("echo", "ok")


def test_one_may_refuse_a_call(tmp_path: Path) -> None:
    answer = ask(tmp_path, Refusing())

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "not this")


def test_a_broken_one_is_passed_over(tmp_path: Path) -> None:
    assert ask(tmp_path, Broken()).status_code == 200


def test_a_broken_one_that_is_required_stops_the_call(tmp_path: Path) -> None:
    answer = ask(tmp_path, Required())

    assert answer.status_code == 500
    assert "a bug" not in answer.text


@pytest.mark.parametrize("path", ["/api/%", "/api/%zz", "/api/keys%c0%ae", "/api/keys%00"])
def test_a_path_under_api_that_hides_something_is_refused(tmp_path: Path, path: str) -> None:
    async def main() -> int:
        async with Gateway.open(from_environ({"DATA_DIR": str(tmp_path)})) as gateway:
            sent: list[Any] = []

            async def send(message: Any) -> None:
                sent.append(message)

            async def receive() -> Any:
                return {"type": "http.request", "body": b"", "more_body": False}

            scope = {
                "type": "http",
                "method": "GET",
                "path": "/api/keys",
                "raw_path": path.encode(),
                "query_string": b"",
                "headers": [(b"host", b"localhost")],
                "client": ("127.0.0.1", 1),
            }
            await gateway.app(scope, receive, send)
            return int(sent[0]["status"])

    assert asyncio.run(main()) == 401


def test_a_gateway_can_be_mounted_under_a_prefix(tmp_path: Path) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    async def main() -> tuple[int, int]:
        async with Gateway.open(from_environ({"DATA_DIR": str(tmp_path)})) as gateway:
            app = Starlette(routes=[Mount("/models", app=gateway.app)])
            transport = httpx2.ASGITransport(app=app, client=("127.0.0.1", 1))
            body = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as c:
                chat = await c.post("/models/v1/chat/completions", json=body)
                return chat.status_code, (await c.get("/models/api/health")).status_code

    assert asyncio.run(main()) == (200, 200)


def test_one_may_say_how_long_it_takes(tmp_path: Path) -> None:
    class Hanging(Required):
        timeout = 0.05

        async def before(self, call: Call) -> Call:
            await asyncio.Event().wait()
            return call

    response = ask(tmp_path, Hanging())

    assert response.status_code == 500
    assert "A required check could not be made" in response.text


@pytest.mark.parametrize("timeout", ["long", None, -1, 0])
def test_a_time_that_is_none_is_the_usual_one(tmp_path: Path, timeout: object) -> None:
    watcher = Shouting()
    watcher.timeout = timeout  # type: ignore[attr-defined]

    assert ask(tmp_path, watcher).status_code == 200


def test_a_note_is_in_the_calls_row_once_and_short(tmp_path: Path) -> None:
    class Noting(Shouting):
        async def before(self, call: Call) -> Call:
            for _ in range(2):
                call.note("watcher: seen")
            call.note("x" * 1000)
            for number in range(100):
                call.note(f"{number}")
            return call

    watcher = Noting()
    ask(tmp_path, watcher)

    [row] = watcher.seen
    assert row["notes"][:3] == ("watcher: seen", "x" * 300, "0")
    assert len(row["notes"]) == 32


def test_an_idle_one_sees_no_call(tmp_path: Path) -> None:
    class Idle(Required):
        is_idle = True

    assert ask(tmp_path, Idle()).status_code == 200
