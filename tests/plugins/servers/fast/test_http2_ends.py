"""How answers over HTTP/2 end, well or badly, and what is left of them."""

import asyncio
import gc
import logging
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from certificates import Issued
from gateway_server_fast.multiplexed.connection import Http2Connection
from gateway_server_fast.multiplexed.stream import Stream
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from h2_apps import FINE, MIB, PING, Send, echo, say, settle, start
from h2_peer import place
from h2_wire import Pair

from gateway_core.contracts.asgi import ON_DISCONNECT

pytestmark = pytest.mark.anyio


async def refuse(scope: Any, receive: Any, send: Send) -> None:
    """Reads nothing."""
    await start(send, status=413)
    await say(send, b"too much")


async def test_a_refusal_reaches_a_client_that_sends_all_of_a_large_body(issued: Issued) -> None:
    async with (
        place(refuse, issued) as here,
        httpx2.AsyncClient(verify=issued.trusting(), http2=True, trust_env=False) as http,
    ):
        heard = await http.post(here.url, content=b"a" * 4 * MIB)
        after = await http.post(here.url)

    assert (heard.status_code, heard.content) == (413, b"too much")
    assert after.status_code == 413


async def test_a_body_that_nobody_wants_is_ended_after_a_while(issued: Issued) -> None:
    async with place(refuse, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        heard = await peer.answer(number)
        here.pass_time(6)
        while peer.heard(number).reset is None:
            await peer.hear()

    assert heard.status == 413
    assert peer.heard(number).reset == FINE


async def test_an_application_that_fails_ends_its_stream_only(issued: Issued) -> None:
    async def fail(scope: Any, receive: Any, send: Send) -> None:
        if scope["path"] == "/late":
            await start(send)
            await say(send, b"a", more=True)
        if scope["path"] != "/silent":
            raise ValueError("a test")

    async with place(fail, issued) as here, here.peer() as peer:
        early, late, silent = [
            await peer.answer(await peer.request(path)) for path in (b"/", b"/late", b"/silent")
        ]

    assert (early.status, early.body, early.reset) == (500, b"Internal Server Error", None)
    assert (late.body, late.reset) == (b"a", ErrorCodes.INTERNAL_ERROR)
    assert silent.status == 500


async def test_the_end_of_an_answer_needs_no_room(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        peer.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 0})
        heard = [await peer.answer(await peer.request(method=m)) for m in (b"HEAD", b"GET")]

    assert [(each.status, each.reset) for each in heard] == [(200, None)] * 2


async def test_a_failure_of_head_has_no_body(issued: Issued) -> None:
    async def fail(scope: Any, receive: Any, send: Send) -> None:
        raise ValueError("a test")

    async with place(fail, issued) as here, here.peer() as peer:
        heard = await peer.answer(await peer.request(method=b"HEAD"))

    assert (heard.status, heard.body, heard.reset) == (500, b"", None)


@pytest.mark.parametrize("header", [(b"a", b"b\r\nc: d"), (b"a b", b"c"), (b"a", b"\0")])
async def test_a_header_that_cannot_be_sent_is_a_failure(
    issued: Issued, header: tuple[bytes, bytes]
) -> None:
    async def split(scope: Any, receive: Any, send: Send) -> None:
        await start(send, header)
        await say(send, b"a")

    async with place(split, issued) as here, here.peer() as peer:
        heard = await peer.answer(await peer.request())

    assert (heard.status, heard.body) == (500, b"Internal Server Error")


async def test_an_answer_of_another_length_than_announced_is_a_failure(issued: Issued) -> None:
    async def wrong(scope: Any, receive: Any, send: Send) -> None:
        await start(send, (b"Content-Length", b"3"))
        await say(send, b"a", more=True)
        await say(send, b"b" if scope["path"] == "/short" else b"bcd")

    async with place(wrong, issued) as here, here.peer() as peer:
        heard = [await peer.answer(await peer.request(path)) for path in (b"/short", b"/long")]

    assert [(each.body, each.reset) for each in heard] == [(b"a", ErrorCodes.INTERNAL_ERROR)] * 2


async def test_what_one_answer_may_not_say_does_not_garble_the_next(issued: Issued) -> None:
    async def odd(scope: Any, receive: Any, send: Send) -> None:
        own = scope["path"].encode()
        await start(send, (b"own", own), (b"TE", b"gzip"), (b"upgrade", b"h2c"), (b"last", own))
        await say(send, b"a")

    async with place(odd, issued) as here, here.peer() as peer:
        heard = [await peer.answer(await peer.request(path)) for path in (b"/a", b"/b", b"/a")]

    assert [each.headers[b"own"] for each in heard] == [b"/a", b"/b", b"/a"]
    assert not any({b"te", b"upgrade"} & each.headers.keys() for each in heard)


@pytest.mark.parametrize("window", [0, 10])
async def test_a_piece_that_is_cut_off_by_us_ends_the_answer(window: int) -> None:
    reported: list[str] = []

    async def hasty(scope: Any, receive: Any, send: Send) -> None:
        scope[ON_DISCONNECT](lambda: reported.append("left"))
        await start(send)
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await say(send, b"a" * 15, more=True)
        await say(send, b"b" * 5)

    pair = Pair(hasty, window=window)
    number = await pair.request()
    await settle(lambda: window or pair.line.streams[number]._stuck)
    pair.client.increment_flow_control_window(100, number)
    pair.tell()
    await settle(lambda: not pair.line.streams)
    pair.hear()

    assert not reported
    # What was not begun can be left out.
    if window:
        assert (pair.body(number), pair.reset(number)) == (b"a" * 10, ErrorCodes.INTERNAL_ERROR)
    else:
        assert (pair.body(number), pair.reset(number)) == (b"b" * 5, None)


async def test_an_answer_that_waits_for_room_is_given_up_with_its_client(issued: Issued) -> None:
    gone = asyncio.Event()

    async def much(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, b"a" * MIB)
        assert (await receive())["type"] == "http.disconnect"
        gone.set()

    for leave in ("reset", "close"):
        gone.clear()
        async with place(much, issued) as here, here.peer() as peer:
            peer.takes = False
            number = await peer.request()
            while len(peer.heard(number).body) < 65535:
                await peer.hear()
            if leave == "reset":
                peer.h2.reset_stream(number)
                await peer.flush()
            else:
                peer.writer.transport.abort()

            await settle(gone.is_set)
            await settle(lambda: not here.manager.tasks)


def kept() -> int:
    gc.collect()
    return sum(
        isinstance(each, Http2Connection | Stream | H2Connection) for each in gc.get_objects()
    )


async def test_nothing_is_kept_of_connections_that_ended(
    issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    # A captured record holds the error it tells of, and with it the connection's frames.
    caplog.set_level(logging.ERROR)
    before, complaints = kept(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, written: complaints.append(written))

    async with place(echo, issued) as here:
        for ending in ("answered", "reset", "in the middle", "a flood", "nonsense"):
            async with here.peer() as peer:
                number = await peer.request(method=b"POST", ends=False)
                await peer.body(number, b"a" * 1000, ends=ending == "answered")
                if ending == "answered":
                    await peer.answer(number)
                elif ending == "reset":
                    peer.h2.reset_stream(number)
                    await peer.flush()
                elif ending != "in the middle":
                    await peer.send(PING * 2000 if ending == "a flood" else b"nonsense" * 10)
                    await peer.end()
            await settle(lambda: not here.manager.connections | here.manager.tasks)
        del peer
        # Objects of earlier tests may be collected meanwhile.
        await settle(lambda: kept() <= before)

    assert not complaints
