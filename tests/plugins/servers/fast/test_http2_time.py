"""What takes too long on a connection of HTTP/2."""

import asyncio
from typing import Any

import pytest
from certificates import Issued
from h2.errors import ErrorCodes
from h2_apps import CALM, FINE, MIB, Held, Send, echo, much, say, settle, start, streams, stuck
from h2_peer import Place, frame, place
from h2_wire import Pair

pytestmark = pytest.mark.anyio
LATE, LATER = 11.0, 31.0
"""Seconds after which a head, and after which a body, is late."""


async def test_a_head_that_does_not_end_is_late(issued: Issued) -> None:
    begun = frame(1, number=1, data=b"\x82")

    for unfinished in (begun, begun[:5], begun[:9]):
        async with place(echo, issued) as here, here.peer() as peer:
            await peer.send(unfinished)
            await peer.send(b"")
            await settle(lambda: late(here))
            here.pass_time(LATE)

            assert await peer.end() == CALM


def late(here: Place) -> bool:
    """Whether the server has seen the beginning of something."""
    now = asyncio.get_running_loop().time()
    return any(each.frames.is_late(now + LATE, 10) for each in here.manager.connections)  # type: ignore


async def test_an_idle_connection_is_closed_also_if_it_sends_pings(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        await peer.answer(await peer.request())
        here.pass_time(14)
        peer.h2.ping(b"12345678")
        await peer.flush()
        await peer.hear()
        here.pass_time(16)

        assert await peer.end() == FINE


async def test_a_connection_with_a_request_is_not_idle(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        number = await peer.request()
        await settle(lambda: held.begun)
        here.pass_time(1000)
        held.go.set()
        heard = await peer.answer(number)

    assert heard.body == b"held"


async def test_a_body_that_stops_coming_is_refused(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.body(number, b"a")
        other = await peer.request(method=b"POST", ends=False)
        await settle(lambda: len(streams(here)) == 2)
        await settle(lambda: not any(each.body.unread for each in streams(here)))
        here.pass_time(29)
        await peer.body(other, b"", ends=True)
        served = await peer.answer(other)
        here.pass_time(LATER)
        refused = await peer.answer(number)

    assert served.status == 200
    assert refused.status == 408


async def test_a_body_that_nobody_reads_is_not_late(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.body(number, b"a" * 1000)
        await settle(lambda: streams(here) and streams(here)[0].body.unread)
        here.pass_time(LATER)
        held.go.set()
        await peer.body(number, b"", ends=True)
        heard = await peer.answer(number)

    assert heard.body == b"held"


@pytest.mark.parametrize("room", [0, MIB])
async def test_an_answer_that_is_not_taken_is_given_up(issued: Issued, room: int) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        number = await stuck(here, peer)
        if room:  # The connection has it, and the stream has none.
            peer.h2.increment_flow_control_window(room)
            await peer.flush()
        here.pass_time(29)
        is_patient = len(here.manager.tasks) == 1
        here.pass_time(LATER)
        heard = await peer.answer(number)
        await settle(lambda: not here.manager.tasks)

    assert is_patient
    assert heard.reset == ErrorCodes.CANCEL


async def test_an_answer_that_is_taken_slowly_goes_on(issued: Issued) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        number = await stuck(here, peer)
        (stream,) = streams(here)
        before = stream._stuck_at
        peer.h2.increment_flow_control_window(10)
        peer.h2.increment_flow_control_window(10, number)
        await peer.flush()
        await settle(lambda: stream._stuck and stream._stuck_at > before)
        here.pass_time(29)
        peer.takes = True
        peer.h2.increment_flow_control_window(MIB)
        peer.h2.increment_flow_control_window(MIB, number)
        await peer.flush()
        heard = await peer.answer(number)

    assert len(heard.body) == MIB


async def test_an_answer_waits_its_turn_while_others_are_taken(issued: Issued) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        number = await stuck(here, peer)
        peer.h2.increment_flow_control_window(MIB, number)
        await peer.flush()
        (stream,) = streams(here)
        h2 = stream.connection.h2
        await settle(lambda: h2.streams[number].outbound_flow_control_window >= MIB)
        ahead = asyncio.get_running_loop().time() + LATER
        stream.connection.sent_at = ahead - 1
        stream.on_tick(ahead, here.manager.limits)
        is_patient = not stream.gone
        stream.on_tick(ahead + LATER, here.manager.limits)

    assert is_patient
    assert stream.gone


async def later(here: Place, peer: Any, number: int, seconds: float, data: bytes) -> None:
    """Send a piece of a body when so much time has passed, and have it read."""
    (stream,) = streams(here)
    before = stream.body.size
    here.manager.now = asyncio.get_running_loop().time() + seconds
    await peer.body(number, data)
    await settle(lambda: stream.body.size > before and not stream.body.unread)


@pytest.mark.parametrize(("size", "is_refused"), [(1, True), (1023, True), (1024, False)])
async def test_a_body_that_trickles_is_late(issued: Issued, size: int, is_refused: bool) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await settle(lambda: streams(here))
        await later(here, peer, number, 29, b"a" * size)
        here.pass_time(LATER)
        if not is_refused:
            await peer.body(number, b"", ends=True)
        heard = await peer.answer(number)

    assert heard.status == (408 if is_refused else 200)


async def test_a_body_that_comes_on_after_the_answer_is_ended_all_the_same(issued: Issued) -> None:
    async def refuse(scope: Any, receive: Any, send: Send) -> None:
        await start(send, status=413)
        await say(send)

    async with place(refuse, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.answer(number)
        await later(here, peer, number, 4, b"a" * 2000)
        here.pass_time(6)
        left = streams(here)
        while peer.heard(number).reset is None:
            await peer.hear()

    assert not left
    assert peer.heard(number).reset == FINE


async def test_an_answer_is_not_given_up_while_the_last_of_it_is_on_its_way() -> None:
    pair = Pair(much)
    number = await pair.request()
    pair.wire.waiting = sum(map(len, pair.wire.writes))
    is_patient = []
    for second in range(0, 100, 20):
        pair.wire.waiting -= 1
        pair.line.on_tick(now := asyncio.get_running_loop().time() + second)
        is_patient.append(number in pair.line.streams)
    pair.line.on_tick(now + 29)
    is_patient.append(number in pair.line.streams)
    pair.line.on_tick(now + 31)
    pair.hear()

    assert all(is_patient)
    assert pair.reset(number) == ErrorCodes.CANCEL


async def test_what_is_on_its_way_to_others_keeps_no_answer() -> None:
    pair = Pair(much)
    number = await pair.request()
    begun = pair.line.written
    for second in range(0, 50, 10):
        pair.line.written = begun + second
        pair.wire.waiting = 10
        pair.line.on_tick(asyncio.get_running_loop().time() + second)
    pair.hear()

    assert pair.reset(number) == ErrorCodes.CANCEL
