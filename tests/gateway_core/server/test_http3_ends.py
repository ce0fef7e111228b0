"""HTTP/3 at the edge: how a request ends when one side gives it up, and what is left of it."""

import asyncio
import gc
from typing import Any

import pytest
from certificates import Issued
from h2_apps import MIB, Held, Send, echo, much, read, say, settle, start, streams
from h2_peer import Place, place
from h3_peer import Peer3, peer3

from gateway_core.contracts.asgi import ON_DISCONNECT, PUSH, REPLY
from gateway_core.server.http3 import Http3
from gateway_core.server.quic_engine import HELD
from gateway_core.server.stream import Stream

pytestmark = pytest.mark.anyio

CANCELLED, INTERNAL, NO_ERROR = 0x10C, 0x102, 0x100


async def until_stuck(here: Place) -> Any:
    await settle(lambda: streams(here) and streams(here)[0]._stuck)
    return streams(here)[0]


@pytest.mark.parametrize("hearing", [True, False])
async def test_who_gives_up_a_request_is_not_answered(issued: Issued, hearing: bool) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", ends=False)
        await settle(lambda: held.begun)
        peer.give_up(number, hearing=hearing)
        await settle(lambda: not streams(here))
        held.go.set()
        await settle(lambda: held.ended)
        other = await peer.answer(peer.request())

    assert held.heard == ["http.disconnect", "http.request"]
    assert peer.heard(number).status == 0
    assert other.body == b"held"


async def test_who_does_not_want_an_answer_gets_no_more_of_it(issued: Issued) -> None:
    serving = place(much, issued, http3=True)
    async with serving as here, peer3(here.port, issued, max_stream_data=1000) as peer:
        number = peer.request()
        stream = await until_stuck(here)
        peer.give_up(number, sending=False)
        await settle(lambda: not streams(here))
        kept = len(quic_of(here)._streams)

    assert stream.gone
    assert kept <= 8  # The protocol's own.


def quic_of(here: Place) -> Any:
    return next(v.quic for v in here.door.visitors if isinstance(v, Http3))


async def test_an_application_that_fails_ends_its_answer(issued: Issued) -> None:
    async def fails(scope: Any, receive: Any, send: Send) -> None:
        if scope["path"] == "/late":
            await start(send)
            await say(send, b"begun", more=True)
        raise RuntimeError("on purpose")

    async with place(fails, issued, http3=True) as here, peer3(here.port, issued) as peer:
        early = await peer.answer(peer.request(b"/early"))
        late = await peer.answer(peer.request(b"/late"))

    assert (early.status, early.body) == (500, b"Internal Server Error")
    assert late.reset == INTERNAL


async def test_an_answer_before_the_end_of_a_request_stops_the_rest(issued: Issued) -> None:
    async def refuses(scope: Any, receive: Any, send: Send) -> None:
        await start(send, status=413)
        await say(send, b"too long")

    async with place(refuses, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", body=b"a", ends=False)
        heard = await peer.answer(number)
        here.pass_time(6)
        await peer.until(lambda: peer.stopped(number) is not None)
        peer.give_up(number, hearing=False)
        other = await peer.answer(peer.request())

    assert (heard.status, heard.body, heard.reset) == (413, b"too long", None)
    assert peer.stopped(number) == NO_ERROR
    assert other.status == 413


async def test_a_client_that_gives_up_sending_still_gets_the_answer_that_is_out(
    issued: Issued,
) -> None:
    async def refuses(scope: Any, receive: Any, send: Send) -> None:
        await start(send, status=413)
        await say(send, b"a" * 200_000)

    async with place(refuses, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", body=b"a", ends=False)
        await peer.until(lambda: peer.heard(number).status)
        peer.give_up(number, hearing=False)
        heard = await peer.answer(number)

    assert (len(heard.body), heard.reset) == (200_000, None)


async def test_an_application_hears_that_its_client_is_gone(issued: Issued) -> None:
    told: list[str] = []

    async def listens(scope: Any, receive: Any, send: Send) -> None:
        scope[ON_DISCONNECT](lambda: told.append("left"))
        await read(receive)
        told.append((await receive())["type"])

    async with place(listens, issued, http3=True) as here:
        async with peer3(here.port, issued) as peer:
            peer.request()
            await settle(lambda: streams(here))
        await settle(lambda: len(told) == 2)

    assert sorted(told) == ["http.disconnect", "left"]


async def test_pieces_and_whole_answers_go_out_at_once(issued: Issued) -> None:
    taken: list[bool] = []

    async def quick(scope: Any, receive: Any, send: Send) -> None:
        if scope["path"] == "/whole":
            taken.append(scope[REPLY](200, [(b"content-length", b"5")], b"whole"))
            return
        await start(send)
        taken.append(scope[PUSH](b"piece"))
        await say(send)

    async with place(quick, issued, http3=True) as here, peer3(here.port, issued) as peer:
        whole = await peer.answer(peer.request(b"/whole"))
        piece = await peer.answer(peer.request(b"/piece"))

    assert (whole.body, piece.body) == (b"whole", b"piece")
    assert taken == [True, True]


async def test_a_slow_reader_holds_up_its_answer_and_no_other(issued: Issued) -> None:
    sent: list[int] = []

    async def says(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        for _ in range(10 if scope["path"] == "/much" else 1):
            await say(send, b"a" * 100_000, more=True)
            sent.append(1)
        await say(send)

    slow = {"max_stream_data": 1000, "max_data": 10 * MIB}
    serving = place(says, issued, http3=True)
    async with serving as here, peer3(here.port, issued, Deaf, **slow) as peer:
        peer.request(b"/much")
        stream = await until_stuck(here)
        room = stream.line.quic.held(stream.number)
        before = len(sent)
        peer.request(b"/little")
        await settle(lambda: len(sent) > before)

    assert room <= HELD + 8  # A frame has a few bytes of its own.
    assert before < 4


class Deaf(Peer3):
    """Takes what it is sent and lets the server send no more."""

    def __init__(self, quic: Any) -> None:
        super().__init__(quic)
        quic._write_stream_limits = lambda **_: None


async def test_who_takes_nothing_for_too_long_is_given_up(issued: Issued) -> None:
    serving = place(much, issued, http3=True)
    async with serving as here, peer3(here.port, issued, Deaf, max_stream_data=1000) as peer:
        number = peer.request()
        await until_stuck(here)
        here.pass_time(0)
        here.pass_time(29)
        patient = bool(streams(here))
        here.pass_time(31)
        heard = await peer.answer(number)

    assert patient
    assert heard.reset == CANCELLED


async def test_a_body_that_does_not_come_is_given_up(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", body=b"a", ends=False)
        await settle(lambda: streams(here) and streams(here)[0].body.size)
        await settle(lambda: not streams(here)[0].body.unread)
        here.pass_time(31)
        heard = await peer.answer(number)

    assert heard.status == 408


async def test_nothing_is_kept_of_what_has_ended(issued: Issued) -> None:
    async with place(much, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for _ in range(5):
            await peer.answer(peer.request())
        given_up = peer.request(method=b"POST", ends=False)
        peer.give_up(given_up)
        await settle(lambda: not streams(here))
        await peer.ping()
        await peer.ping()
        (connection,) = [v for v in here.door.visitors if isinstance(v, Http3)]
        kept = [number for number in connection.http._stream if number % 4 == 0]  # type: ignore[union-attr]
        running = len(connection.running)
        del connection
    peer.events.clear()
    gc.collect()
    left = sum(isinstance(each, Http3 | Stream) for each in gc.get_objects())

    assert not kept
    assert not running
    assert not left


async def test_a_connection_lives_on_while_a_request_runs(issued: Issued) -> None:
    held = Held()

    serving = place(held, issued, http3=True)
    async with serving as here, peer3(here.port, issued, idle_timeout=1.0) as peer:
        number = peer.request()
        await settle(lambda: held.begun)
        for ping in range(1, 4):
            here.pass_time(10 * ping)
            await asyncio.sleep(0.5)
        held.go.set()
        heard = await peer.answer(number)

    assert heard.body == b"held"


async def test_a_request_that_comes_while_its_connection_ends_is_answered(issued: Issued) -> None:
    """Memory was short while the last bytes of an answer were on their way."""
    async with place(much, issued, http3=True) as here, peer3(here.port, issued) as peer:
        peer.request()
        await settle(lambda: streams(here))
        await settle(lambda: not streams(here))
        next_one = peer.request()
        here.door.close_idle()
        heard = await peer.answer(next_one)

    assert len(heard.body) == MIB
