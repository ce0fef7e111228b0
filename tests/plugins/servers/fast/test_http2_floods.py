"""HTTP/2 without end or sense: frames, requests, resets, settings."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from certificates import Issued
from gateway_server_fast.connections import App, ConnectionManager
from gateway_server_fast.multiplexed.connection import Http2Connection
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from h2_apps import CALM, PING, Held, Send, echo, say, settle, start
from h2_peer import frame, place
from h2_wire import Pair, Wire
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import ServerLimits
from gateway_core.contracts.asgi import PUSH, REPLY

pytestmark = pytest.mark.anyio
SETTINGS, UPDATE = frame(4), frame(8, data=b"\0\0\0\1")


FLOODS = {
    "a frame that is too long": b"\0\x40\1" + bytes(16_000),
    "pings": PING * 2000,
    "settings": SETTINGS * 2000,
    "priorities": frame(2, number=9, data=b"\0\0\0\0\x10") * 2000,
    "window updates": UPDATE * 2000,
    "frames that nobody knows": frame(99, data=b"?") * 2000,
    "headers without an end": frame(1, number=1, data=b"a" * 16_000)
    + frame(9, number=1, data=b"a" * 16_000) * 20,
    "empty headers without an end": frame(1, number=1) + frame(9, number=1) * 20_000,
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
async def test_a_flood_ends_the_connection(issued: Issued, flood: bytes) -> None:
    async with place(echo, issued) as here, here.peer() as peer, here.peer() as other:
        await peer.send(flood)
        code = await peer.end()
        served = await other.answer(await other.request())

    # What is in flight while it closes may cost the client the word of say_goodbye.
    assert code in (CALM, ErrorCodes.PROTOCOL_ERROR, None)
    assert served.status == 200


async def test_pieces_of_a_body_that_hold_nothing_are_a_flood(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.send(frame(0, number=number) * 2000)

        assert await peer.end() in (CALM, None)


async def test_pieces_of_a_body_that_hold_a_byte_are_a_flood(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.send(frame(0, number=number, data=b"x") * 2000)

        assert await peer.end() in (CALM, None)


async def test_pieces_of_a_body_that_hold_padding_only_are_a_flood(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.send(frame(0, flags=8, number=number, data=b"\1\0") * 2000)

        assert await peer.end() in (CALM, None)


OVERFLOW = (2**31 - 1).to_bytes(4, "big")
SPOILED = {
    "a window that is too large": frame(8, data=OVERFLOW),
    "trailers before all of the body": frame(1, flags=5, data=b"\0\1a\1b"),
}


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED.keys())
async def test_requests_that_are_spoiled_without_end_end_the_connection(spoiled: bytes) -> None:
    pair = Pair(echo)
    begun = 0

    while not pair.wire.closed and begun < 300:
        begun += 1
        number = await pair.request("POST", (b"content-length", b"9"), ends=False)
        pair.line.data_received(spoiled[:5] + number.to_bytes(4, "big") + spoiled[9:])
        pair.hear()
        for _ in range(5):
            await asyncio.sleep(0)

    assert begun == 200
    assert pair.say_goodbye == CALM


async def test_settings_that_nobody_knows_are_not_heaped_up(issued: Issued) -> None:
    reported = b"".join(n.to_bytes(2, "big") + bytes(4) for n in range(1000, 3000))

    async with place(echo, issued) as here, here.peer() as peer:
        await peer.send(frame(4, data=reported))

        assert await peer.end() in (CALM, None)


async def test_answers_are_shortened_with_no_more_memory_than_usual(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        (line,) = here.manager.connections
        assert isinstance(line, Http2Connection)
        sizes = []
        for offered in (2**31, 100):
            peer.h2.update_settings({SettingCodes.HEADER_TABLE_SIZE: offered})
            heard = await peer.answer(await peer.request())
            sizes.append(line.h2.encoder.header_table_size)

    assert heard.status == 200
    assert sizes == [4096, 100]


async def test_all_connections_run_no_more_requests_than_there_may_be_connections(
    issued: Issued,
) -> None:
    held = Held()

    async with place(held, issued, connections=5) as here, AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(here.peer()) for _ in range(2)]
        for peer in peers * 2:
            await peer.request()
        await settle(lambda: held.begun == 4)
        await peers[0].request()
        await settle(lambda: held.begun == 5)
        refused = await peers[1].answer(await peers[1].request())
        held.go.set()
        await settle(lambda: held.ended == 5)
        served = await peers[1].answer(await peers[1].request())

    assert refused.reset == ErrorCodes.REFUSED_STREAM
    assert served.body == b"held"


async def test_requests_that_are_reset_run_no_more_than_others(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        for _ in range(190):
            peer.h2.reset_stream(await peer.request())
        await peer.flush()
        await settle(lambda: held.begun == 100)
        await peer.answer(await peer.request())
        begun = held.begun
        held.go.set()
        await settle(lambda: held.ended == 100 and not here.manager.tasks)
        served = await peer.answer(await peer.request())

    assert begun == 100
    assert set(held.heard[:100]) == {"http.disconnect"}
    assert served.body == b"held"


async def test_resets_without_end_end_the_connection(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        for _ in range(300):
            peer.h2.reset_stream(await peer.request())
            await peer.flush()

        assert await peer.end() in (CALM, None)


async def test_more_streams_than_were_offered_end_the_connection(issued: Issued) -> None:
    async with place(Held(), issued) as here, here.peer() as peer:
        assert peer.h2.remote_settings.max_concurrent_streams == 100
        peer.h2.remote_settings = type(peer.h2.remote_settings)(client=False)
        for _ in range(101):
            await peer.request(method=b"POST", ends=False)

        assert await peer.end() == ErrorCodes.PROTOCOL_ERROR


FRAMES = st.builds(
    frame,
    st.integers(0, 10),
    flags=st.sampled_from([0, 1, 4, 5, 8, 32, 37, 255]),
    number=st.sampled_from([0, 1, 3, 5]),
    data=st.sampled_from(
        [b"", bytes(8), b"\0\0\0\1", b"\0\0\0\0\x10", b"12345678", b"\x82\x87\x84\x41\x01a"]
    )
    | st.binary(max_size=20),
)


async def hasty(scope: Any, receive: Any, send: Send) -> None:
    """Sends what it can in the moment it has it, and waits where it must."""
    if scope["path"] == "/" and scope[REPLY](200, (), b"whole"):
        return
    await start(send)
    for _ in range(3):
        await asyncio.sleep(0)
        if not scope[PUSH](b"a" * 30):
            await say(send, b"a" * 30, more=True)
    await say(send)


@given(st.sampled_from([echo, hasty]), st.lists(FRAMES, max_size=12))
def test_whatever_comes_is_served_or_ends_the_connection(app: App, frames: list[bytes]) -> None:
    async def main() -> set[Any]:
        manager, wire = ConnectionManager(ServerLimits()), Wire()
        line = Http2Connection(app, manager)
        line.connection_made(wire)
        for data in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frame(4), *frames):
            line.data_received(data)
            await asyncio.sleep(0)
        assert line.input_closed == wire.closed
        line.connection_lost(None)
        for _ in range(5):
            await asyncio.sleep(0)
        return manager.tasks | manager.connections

    assert not asyncio.run(main())
