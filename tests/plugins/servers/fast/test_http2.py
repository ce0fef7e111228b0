"""HTTP/2 at the edge: what is served, and how it ends when the gateway stops."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from certificates import Issued
from h2.errors import ErrorCodes
from h2.events import PingAckReceived
from h2_apps import FINE, MIB, PING, Held, Send, echo, read, say, settle, start
from h2_peer import frame, place

pytestmark = pytest.mark.anyio


async def test_a_request_looks_like_any_other_to_the_application(issued: Issued) -> None:
    async def show(scope: Any, receive: Any, send: Send) -> None:
        shown = {k: scope[k] for k in ("http_version", "scheme", "method", "path")}
        raw = [scope["raw_path"], scope["query_string"], *(b":".join(h) for h in scope["headers"])]
        shown["raw"] = [each.decode() for each in raw]
        shown["client"] = scope["client"]
        await start(send, (b"content-type", b"application/json"), (b"connection", b"close"))
        await say(send, json.dumps(shown).encode())

    async with place(show, issued) as here, here.peer() as peer:
        own = peer.writer.get_extra_info("sockname")
        cookies = [(b"cookie", b"a=1"), (b"cookie", b"b=2")]
        heard = await peer.answer(await peer.request(b"/a%20b?c=d", *cookies))

    assert json.loads(heard.body) == {
        "http_version": "2",
        "scheme": "https",
        "method": "GET",
        "path": "/a b",
        "raw": ["/a%20b", "c=d", "host:127.0.0.1", "cookie:a=1; b=2"],
        "client": list(own),
    }
    assert heard.status == 200
    assert b"date" in heard.headers
    assert not {b"connection", b"server"} & heard.headers.keys()


@pytest.mark.parametrize("server", ["uvloop", "asyncio"])
async def test_a_usual_client_sends_and_gets_much_at_once(issued: Issued, server: str) -> None:
    bodies = [bytes([n]) * (n * 20_000) for n in range(50)]

    async with place(echo, issued, server=server) as here:
        trusting = issued.trusting()
        async with httpx2.AsyncClient(verify=trusting, http2=True, trust_env=False) as http:
            posts = (http.post(here.url, content=body) for body in bodies)
            heard = await asyncio.gather(*posts)
            connections = len(here.manager.connections)

    assert {each.http_version for each in heard} == {"HTTP/2"}
    assert [each.content for each in heard] == bodies
    assert connections == 1


async def test_pieces_of_an_answer_come_as_they_are_said(issued: Issued) -> None:
    written = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, b"one", more=True)
        await written.wait()
        await say(send, b"two")

    async with place(slow, issued) as here, here.peer() as peer:
        number = await peer.request()
        while peer.heard(number).body != b"one":
            await peer.hear()
        written.set()
        heard = await peer.answer(number)

    assert heard.body == b"onetwo"


async def test_head_and_304_have_no_body(issued: Issued) -> None:
    async def unchanged(scope: Any, receive: Any, send: Send) -> None:
        await start(send, status=304 if scope["method"] == "GET" else 200)
        await say(send, b"ignored")

    async with place(unchanged, issued) as here, here.peer() as peer:
        numbers = [await peer.request(method=method) for method in (b"HEAD", b"GET")]
        heard = [await peer.answer(number) for number in numbers]

    assert [(each.status, each.body) for each in heard] == [(200, b""), (304, b"")]


async def test_a_client_that_asks_whether_to_go_on_is_told(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        expects = (b"expect", b"100-continue")
        number = await peer.request(b"/", expects, method=b"POST", ends=False)
        while not any(type(e).__name__ == "InformationalResponseReceived" for e in peer.events):
            await peer.hear()
        await peer.body(number, b"go", ends=True)
        heard = await peer.answer(number)

    assert heard.body == b"go"


FAREWELL = frame(7, data=bytes(8))


async def test_requests_that_run_outlive_their_clients_farewell(issued: Issued) -> None:
    go = asyncio.Event()

    async def long(scope: Any, receive: Any, send: Send) -> None:
        await go.wait()
        body = await read(receive)
        await start(send)
        await say(send, body + b"a" * MIB)

    async with place(long, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.send(PING + FAREWELL)
        while not any(isinstance(each, PingAckReceived) for each in peer.events):
            await peer.hear()
        await peer.body(number, b"told after the say_goodbye", ends=True)
        go.set()
        heard = await peer.answer(number)
        code = await peer.end()

    assert heard.status == 200
    assert heard.body == b"told after the say_goodbye" + b"a" * MIB
    assert code == FINE


async def test_a_client_that_gives_up_for_an_error_is_let_go(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        await peer.request()
        await settle(lambda: held.begun)
        await peer.send(frame(7, data=bytes(4) + ErrorCodes.INTERNAL_ERROR.to_bytes(4, "big")))
        code = await peer.end()
        held.go.set()
        await settle(lambda: not here.manager.tasks)

    assert code == FINE
    assert held.heard == ["http.disconnect"]


async def test_a_client_that_says_farewell_is_let_go(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        peer.h2.close_connection()
        await peer.flush()
        await settle(lambda: not here.manager.connections)


async def test_a_stop_lets_answers_end_and_refuses_newcomers(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, AsyncExitStack() as stack:
        idle, busy = [await stack.enter_async_context(here.peer()) for _ in range(2)]
        number = await busy.request()
        await settle(lambda: held.begun)
        here.stop()
        quiet = await idle.end()
        newcomer = await busy.answer(await busy.request())
        held.go.set()
        heard = await busy.answer(number)
        say_goodbye = await busy.end()
        await here.serving

    assert (quiet, say_goodbye) == (FINE, FINE)
    assert newcomer.status == 503
    assert newcomer.headers[b"retry-after"] == b"1"
    assert heard.body == b"held"


async def test_a_stop_cuts_off_what_does_not_end(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, drain=0.1) as here, here.peer() as peer:
        number = await peer.request()
        await settle(lambda: held.begun)
        here.stop()
        heard = await peer.answer(number)
        await here.serving

    assert heard.status == 500
