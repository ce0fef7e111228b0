"""HTTP/3 at the edge: what is served, and how it ends when the gateway stops."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from certificates import Issued
from h2_apps import MIB, Held, Send, echo, read, say, settle, start, streams
from h2_peer import place
from h3_peer import peer3

pytestmark = pytest.mark.anyio


async def test_a_request_looks_like_any_other_to_the_application(issued: Issued) -> None:
    async def show(scope: Any, receive: Any, send: Send) -> None:
        shown = {k: scope[k] for k in ("http_version", "scheme", "method", "path")}
        raw = [scope["raw_path"], scope["query_string"], *(b":".join(h) for h in scope["headers"])]
        shown["raw"] = [each.decode() for each in raw]
        shown["client"], shown["server"] = scope["client"], scope["server"]
        await start(send, (b"Content-Type", b"application/json"), (b"connection", b"close"))
        await say(send, json.dumps(shown).encode())

    async with place(show, issued, http3=True) as here, peer3(here.port, issued) as peer:
        own = peer._transport.get_extra_info("sockname")  # type: ignore[union-attr]
        cookies = [(b"cookie", b"a=1"), (b"cookie", b"b=2")]
        heard = await peer.answer(peer.request(b"/a%20b?c=d", *cookies))

    assert json.loads(heard.body) == {
        "http_version": "3",
        "scheme": "https",
        "method": "GET",
        "path": "/a b",
        "raw": ["/a%20b", "c=d", "host:127.0.0.1", "cookie:a=1; b=2"],
        "client": list(own),
        "server": ["127.0.0.1", here.port],
    }
    assert heard.status == 200
    assert heard.headers[b"content-type"] == b"application/json"
    assert b"date" in heard.headers
    assert not {b"connection", b"server"} & heard.headers.keys()


@pytest.mark.parametrize("server", ["uvloop", "asyncio"])
async def test_much_is_sent_and_got_at_once(issued: Issued, server: str) -> None:
    bodies = [bytes([n]) * (n * 2_000) for n in range(40)]

    serving = place(echo, issued, server=server, http3=True)
    async with serving as here, peer3(here.port, issued) as peer:
        numbers = [peer.request(method=b"POST", body=body) for body in bodies]
        heard = await asyncio.gather(*map(peer.answer, numbers))
        connections = len(here.door.visitors)

    assert [each.body for each in heard] == bodies
    assert connections == 1


async def test_other_protocols_tell_where_it_is(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, AsyncExitStack() as stack:
        heard = []
        for http2 in (True, False):
            client = httpx2.AsyncClient(verify=issued.trusting(), http2=http2, trust_env=False)
            heard.append(await (await stack.enter_async_context(client)).post(here.url))
        heard.append(await client.request("TRACE", here.url))

    assert [each.http_version for each in heard] == ["HTTP/2", "HTTP/1.1", "HTTP/1.1"]
    assert heard[-1].status_code == 405
    assert {each.headers["alt-svc"] for each in heard} == {f'h3=":{here.port}"; ma=86400'}


async def test_pieces_of_an_answer_come_as_they_are_said(issued: Issued) -> None:
    said = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, b"one", more=True)
        await said.wait()
        await say(send, b"two")

    async with place(slow, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request()
        await peer.until(lambda: peer.heard(number).body == b"one")
        said.set()
        heard = await peer.answer(number)

    assert heard.body == b"onetwo"


async def test_a_head_goes_ahead_of_a_body_that_is_late(issued: Issued) -> None:
    said = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await said.wait()
        await say(send, b"late")

    async with place(slow, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request()
        await peer.until(lambda: peer.heard(number).status == 200)
        said.set()
        heard = await peer.answer(number)

    assert heard.body == b"late"


async def test_a_client_that_waits_for_a_go_ahead_gets_it(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(b"/", (b"expect", b"100-continue"), method=b"POST", ends=False)
        await peer.until(lambda: peer.interim(number))
        peer.body(number, b"body", ends=True)
        heard = await peer.answer(number)

    assert peer.interim(number) == [b"100"]
    assert heard.body == b"body"


@pytest.mark.parametrize("status", [204, 304])
async def test_what_has_no_body_gets_none(issued: Issued, status: int) -> None:
    async def bare(scope: Any, receive: Any, send: Send) -> None:
        await start(send, status=status)
        await say(send, b"no")

    async with place(bare, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request())

    assert (heard.status, heard.body) == (status, b"")


async def test_a_large_body_is_taken_as_it_is_read(issued: Issued) -> None:
    body = bytes(range(256)) * (3 * MIB // 256)

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request(method=b"POST", body=body))

    assert heard.body == body


async def test_what_is_not_read_stops_the_client(issued: Issued) -> None:
    go = asyncio.Event()
    sizes: list[int] = []

    async def waits(scope: Any, receive: Any, send: Send) -> None:
        await go.wait()
        body = await read(receive)
        await start(send)
        await say(send, b"%d" % len(body))

    async with place(waits, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", body=bytes(4 * MIB))
        await settle(lambda: streams(here) and streams(here)[0].body.unread > 200_000)
        for _ in range(50):
            await asyncio.sleep(0.002)
            sizes.append(streams(here)[0].body.unread)
        go.set()
        heard = await peer.answer(number)

    assert max(sizes) <= 256 * 1024
    assert heard.body == b"%d" % (4 * MIB)


async def test_all_that_is_not_read_stops_the_client(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        numbers = [peer.request(method=b"POST", body=bytes(MIB)) for _ in range(10)]
        await settle(lambda: sum(each.body.unread for each in streams(here)) > 900_000)
        for _ in range(50):
            await asyncio.sleep(0.002)
        unread = sum(each.body.unread for each in streams(here))
        held.go.set()
        heard = [await peer.answer(number) for number in numbers]

    assert unread <= MIB
    assert {each.body for each in heard} == {b"held"}


async def test_a_stop_lets_what_runs_end(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request()
        await settle(lambda: held.begun)
        here.stop()
        await settle(lambda: here.door.closing)
        late = await peer.answer(peer.request())
        held.go.set()
        heard = await peer.answer(number)
        code = await peer.end()

    assert heard.body == b"held"
    assert late.reset == 0x10B  # It was not begun, and may be sent elsewhere.
    assert code == 0x100
    assert held.begun == 1


async def test_a_stop_lets_the_last_bytes_arrive(issued: Issued) -> None:
    async def much(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        here.stop()
        await say(send, b"a" * MIB)

    serving = place(much, issued, http3=True, hurry=5.0)
    async with serving as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request())
        code = await peer.end()

    assert len(heard.body) == MIB
    assert code == 0x100


async def test_a_stop_ends_connections_without_a_request(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        await peer.answer(peer.request())
        here.stop()
        code = await peer.end()

    assert code == 0x100
