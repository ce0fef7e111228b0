"""A gateway in a program of its own making: under a path of it, and when it stops."""

import logging
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from chat_endpoints import BODIES, GPT, PATHS, UUID, gpt_stream
from custom_node import END, EVENT
from fake_vendor import MockResponse, ReceivedRequest
from other_servers import OVER_HTTP_1, SERVERS, Guest, Lockstep, embedded, until
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

CHAT = PATHS["openai"]
BELOW = ("/gw", "/more/deep", "/mid")
WORD = EVENT % b"word"
STOPPING = SERVERS[:3]
"""Over HTTP/2 hypercorn may say farewell before the end of what it still serves, and fails when it
gives up what runs."""


async def _own(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"mine, at {request.url.path}")


async def _looked_at(request: Request, answer: Any) -> Response:
    reported: Response = await answer(request)
    reported.headers["x-looked-at"] = "yes"
    return reported


def program(gateway: Any) -> Starlette:
    """Has a page of its own, and the gateway below three paths, once behind a middleware."""
    below = Starlette(routes=[Mount("/deep", gateway)])
    looking = [Middleware(BaseHTTPMiddleware, dispatch=_looked_at)]
    behind = Starlette(routes=[Mount("/", gateway)], middleware=looking)
    mounted = [Mount("/gw", gateway), Mount("/more", below), Mount("/mid", behind)]
    return Starlette(routes=[Route("/own", _own), *mounted])


def script(received: ReceivedRequest) -> MockResponse:
    if received.json()["model"] == "never":
        return MockResponse(delay=60)
    return (
        MockResponse.stream(*gpt_stream("fi", "ne"))
        if received.json().get("stream")
        else MockResponse((GPT,))
    )


@pytest.fixture(scope="module", params=SERVERS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    folder = tmp_path_factory.mktemp("guest")
    with embedded(request.param, folder, {"openai": script}, wrap=program) as guest:
        yield guest


@pytest.fixture
def guest(place: Guest, caplog: pytest.LogCaptureFixture) -> Iterator[Guest]:
    yield place
    until(lambda: not place.here.gateway.core.in_flight)
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.fixture
def http(guest: Guest) -> Iterator[httpx2.Client]:
    with guest.client() as client:
        yield client


@pytest.mark.parametrize("below", BELOW[1:])
@pytest.mark.parametrize("wire", PATHS)
def test_a_gateway_below_a_path_serves_every_format(
    http: httpx2.Client, below: str, wire: str
) -> None:
    reported = http.post(below + PATHS[wire], json=BODIES[wire])

    assert reported.status_code == 200
    assert "fine" in reported.text
    assert ("x-looked-at" in reported.headers) is (below == "/mid")
    assert UUID.fullmatch(reported.headers["x-request-id"])


@pytest.mark.parametrize("below", BELOW)
def test_a_gateway_below_a_path_is_what_it_is(http: httpx2.Client, below: str) -> None:
    health = http.get(f"{below}/api/health")
    models = http.get(f"{below}/v1/models")
    unknown = http.get(f"{below}/v1/nothing")
    method = http.get(below + CHAT)
    head = http.head(f"{below}/api/health")

    assert health.json() == {"ok": True}
    assert models.json()["object"] == "list"
    assert unknown.json()["error"]["path"] == "/v1/nothing"
    assert (unknown.status_code, method.status_code, head.status_code) == (404, 405, 200)
    assert method.headers["allow"] == "POST, OPTIONS"
    assert "Use POST for /v1/chat/completions" in method.text


def test_the_program_around_a_gateway_keeps_its_pages(http: httpx2.Client) -> None:
    assert http.get("/own").text == "mine, at /own"
    assert http.get(CHAT).text == "Not Found"
    assert http.get("/gwx/api/health").status_code == 404


@pytest.mark.parametrize("below", BELOW)
def test_a_stream_comes_through_a_program(guest: Guest, below: str) -> None:
    with (
        guest.client() as client,
        openai.OpenAI(base_url=f"{guest.url}{below}/v1", api_key="none", http_client=client) as sdk,
    ):
        received: Any = {"model": "v-openai/m", "messages": [{"role": "user", "content": "Hello"}]}
        with sdk.chat.completions.create(**received, stream=True) as stream:
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]

    assert "".join(pieces) == "fine"


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("path", ["/v1/nothing", "/api/keys"])
def test_a_body_that_nobody_reads_below_a_path_holds_nobody(
    http: httpx2.Client, below: str, path: str
) -> None:
    reported = http.put(below + path, content=iter([b" " * 65536] * 40))
    after = http.get(f"{below}/api/health")

    assert 400 <= reported.status_code < 500
    assert after.json() == {"ok": True}


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("wanted", [False, True], ids=["whole", "stream"])
def test_a_client_that_leaves_a_program_ends_what_the_vendor_does(
    guest: Guest, below: str, wanted: bool
) -> None:
    vendor = guest.here.vendors["openai"]
    gone = vendor.gone
    body = {**BODIES["openai"], "model": "v-openai/never", "stream": wanted}
    with guest.client() as client, pytest.raises(httpx2.TimeoutException):
        client.post(below + CHAT, json=body, timeout=0.1)

    until(lambda: vendor.gone > gone and not guest.here.gateway.core.in_flight)
    row = guest.here.rows()[0]
    assert (row.status, row.http_status, row.output_tokens) == ("client_gone", 499, 0)


@OVER_HTTP_1
@pytest.mark.parametrize("path", ["/gw/../api/keys", "/gw//api/keys", "/gw/api/%2e%2e/keys"])
def test_a_path_below_a_path_means_one_thing(guest: Guest, path: str) -> None:
    with guest.call() as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert peer.recv(65536).split()[1] in (b"400", b"401", b"404")


@pytest.mark.parametrize("server", STOPPING)
def test_a_stop_in_mid_stream_leaves_nothing_behind(tmp_path: Path, server: str) -> None:
    with closing(Lockstep()) as step, ExitStack() as stack:
        guest = stack.enter_context(
            embedded(server, tmp_path, {}, specs=lambda _: [step.provider()])
        )
        pieces = streaming(guest, step, stack)
        guest.here.loop.call_soon_threadsafe(guest.here.stop.set)

        assert step.was_left()
        with pytest.raises(httpx2.RemoteProtocolError):
            next(pieces)

    with closing(sqlite3.connect(tmp_path / "db" / "data.sqlite")) as database:
        rows = list(database.execute("SELECT status, http_status, output_tokens FROM usage"))
    assert rows == [("client_gone", 499, 1)]


@pytest.mark.parametrize("server", STOPPING)
def test_a_stop_waits_for_a_stream_that_ends(tmp_path: Path, server: str) -> None:
    with closing(Lockstep()) as step, ExitStack() as stack:
        guest = stack.enter_context(
            embedded(server, tmp_path, {}, specs=lambda _: [step.provider()])
        )
        pieces = streaming(guest, step, stack)
        guest.here.loop.call_soon_threadsafe(guest.here.stop.set)
        step.say(END)
        step.say(b"")

        assert b"".join(pieces) == END


def streaming(guest: Guest, step: Lockstep, stack: ExitStack) -> Iterator[bytes]:
    """A stream that has begun."""
    pool = stack.enter_context(ThreadPoolExecutor(1))
    client = stack.enter_context(guest.client())
    body = {**BODIES["openai"], "model": "step-openai/m", "stream": True}
    coming = pool.submit(stack.enter_context, client.stream("POST", CHAT, json=body))
    step.hear()
    step.begin()
    step.say(WORD)
    pieces = coming.result(10).iter_raw()
    assert next(pieces) == WORD
    return pieces
