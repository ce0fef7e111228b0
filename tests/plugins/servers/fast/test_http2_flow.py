"""FlowControl control of HTTP/2: nobody is sent, or made to keep, more than is taken."""

from typing import Any

import pytest
from certificates import Issued
from gateway_server_fast.multiplexed.connection import Http2Connection
from h2.events import DataReceived
from h2.settings import SettingCodes
from h2_apps import MIB, Held, Send, echo, much, say, settle, start, streams, stuck
from h2_peer import place

pytestmark = pytest.mark.anyio


async def test_what_a_client_does_not_read_is_not_heaped_up(issued: Issued) -> None:
    sent = 0

    async def much(scope: Any, receive: Any, send: Send) -> None:
        nonlocal sent
        await start(send)
        for _ in range(400):
            await say(send, b"a" * 65536, more=True)
            sent += 65536

    async with place(much, issued) as here, here.peer() as peer:
        peer.takes = False
        number = await peer.request()
        while len(peer.heard(number).body) < 65535:
            await peer.hear()
        # One that has taken all that it wants does not hold up another one.
        peer.h2.increment_flow_control_window(MIB)
        await peer.flush()
        second = await peer.request()
        while len(peer.heard(second).body) < 65535:
            await peer.hear()
        after = sent

    assert after <= 2 * 65536


async def test_a_client_that_does_not_read_is_not_heard_either(issued: Issued) -> None:
    paths = []

    async def note(scope: Any, receive: Any, send: Send) -> None:
        paths.append(scope["path"])
        await echo(scope, receive, send)

    async with place(note, issued) as here, here.peer() as peer:
        (line,) = here.manager.connections
        assert isinstance(line, Http2Connection)
        line.pause_writing()
        number = await peer.request(b"/a")
        async with here.peer() as other:
            await other.answer(await other.request(b"/b"))
        line.resume_writing()
        heard = await peer.answer(number)

    assert heard.status == 200
    assert paths == ["/b", "/a"]


async def test_a_client_sends_no_more_than_is_read(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        room = peer.h2.local_flow_control_window(number)
        await peer.body(number, b"a" * room)
        await settle(lambda: streams(here) and streams(here)[0].body.unread == room)
        left = peer.h2.local_flow_control_window(number)

    assert room == 256 * 1024
    assert left == 0


async def test_what_a_reset_leaves_unread_makes_room_again(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        for _ in range(8):
            number = await peer.request(method=b"POST", ends=False)
            await peer.body(number, b"a" * 200_000)
            await settle(lambda: streams(here) and streams(here)[0].body.unread == 200_000)
            (stream,) = streams(here)
            peer.h2.reset_stream(number)
            await peer.flush()
            await settle(lambda: not streams(here))
            assert not stream.body._kept
        held.go.set()
        number = await peer.request(method=b"POST", ends=False)
        await peer.body(number, b"a" * 1000, ends=True)
        heard = await peer.answer(number)

    assert heard.body == b"held"


async def test_a_long_answer_is_not_copied_for_each_of_its_frames(issued: Issued) -> None:
    copied = []

    class Copied(bytes):
        def __getitem__(self, part: Any) -> Any:
            copied.append(len(bytes(self)[part]))
            return bytes(self)[part]

    async def long(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, Copied(200_000))

    async with place(long, issued) as here, here.peer() as peer:
        heard = await peer.answer(await peer.request())

    assert len(heard.body) == 200_000
    assert max(copied) <= 16 * 1024


async def test_answers_take_turns(issued: Issued) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        first = await stuck(here, peer)
        second = await peer.request()
        await settle(lambda: len(streams(here)) == 2 and streams(here)[-1]._stuck)
        for number in (first, second):
            peer.h2.increment_flow_control_window(MIB, number)
        for wanted in range(1, 9):
            peer.h2.increment_flow_control_window(10_000)
            await peer.flush()
            while len(peer.heard(first).body + peer.heard(second).body) < 65_535 + wanted * 10_000:
                await peer.hear()

        taken = len(peer.heard(second).body)

    assert taken == 40_000


async def test_frames_are_short_however_long_a_client_takes_them(issued: Issued) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        wide = {SettingCodes.MAX_FRAME_SIZE: 2**24 - 1, SettingCodes.INITIAL_WINDOW_SIZE: 2**30}
        peer.h2.update_settings(wide)
        peer.h2.increment_flow_control_window(2**30)
        heard = await peer.answer(await peer.request())
        sizes = {len(each.data) for each in peer.events if isinstance(each, DataReceived)}

    assert len(heard.body) == MIB
    assert max(sizes) == 16 * 1024
