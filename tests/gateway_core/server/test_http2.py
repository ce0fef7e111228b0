"""HTTP/2 at the edge: what is served, and what a client cannot do to us."""

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from certificates import Issued
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from h2_peer import Place, frame, place
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.server import Door, Limits
from gateway_core.server.http2 import Multiplexed
from gateway_core.server.stream import Stream

pytestmark = pytest.mark.anyio

CALM, FINE = ErrorCodes.ENHANCE_YOUR_CALM, ErrorCodes.NO_ERROR
MIB = 1024 * 1024
LATE, LATER = 11.0, 31.0
"""Seconds after which a head, and after which a body, is late."""
Send = Callable[[Any], Awaitable[None]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def start(send: Send, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def say(send: Send, body: bytes = b"", *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def read(receive: Any) -> bytes:
    """A whole body, as far as it comes."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    return body


async def echo(scope: Any, receive: Any, send: Send) -> None:
    """Answers with the body it gets."""
    body = await read(receive)
    await start(send)
    await say(send, body)


class Held:
    """An application that answers when it is told to, and keeps what it heard until then."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = self.ended = 0
        self.heard: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        self.begun += 1
        await self.go.wait()
        self.heard.append((await receive())["type"])
        await start(send)
        await say(send, b"held")
        self.ended += 1


async def settle(until: Callable[[], object]) -> None:
    """Let the event loop come around until something is so."""
    async with asyncio.timeout(5):
        while not until():
            await asyncio.sleep(0.001)


# What is served.


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
            connections = len(here.door.visitors)

    assert {each.http_version for each in heard} == {"HTTP/2"}
    assert [each.content for each in heard] == bodies
    assert connections == 1


async def test_pieces_of_an_answer_come_as_they_are_said(issued: Issued) -> None:
    said = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, b"one", more=True)
        await said.wait()
        await say(send, b"two")

    async with place(slow, issued) as here, here.peer() as peer:
        number = await peer.request()
        while peer.heard(number).body != b"one":
            await peer.hear()
        said.set()
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


# Heads.


def many(count: int, size: int) -> list[tuple[bytes, bytes]]:
    return [(b"a%d" % n, b"b" * size) for n in range(count)]


HEADS: dict[str, tuple[dict[str, Any], list[tuple[bytes, bytes]], int]] = {
    "a long path": ({"path": b"/" + b"a" * 9000}, [], 414),
    "a long header": ({}, [(b"a", b"b" * 8200)], 431),
    "too many headers": ({}, many(101, 1), 431),
    "headers too long together": ({}, many(5, 7000), 431),
    "a long cookie": ({}, [(b"cookie", b"a" * 17_000)], 431),
    "a control character": ({}, [(b"a", b"b\x01c")], 400),
    "a name that is no token": ({}, [(b"a(b", b"c")], 400),
    "a host that is none": ({"host": b"a/b"}, [], 400),
    "two slashes": ({"path": b"//a"}, [], 400),
    "a backslash": ({"path": b"/a\\b"}, [], 400),
    "a byte over ASCII": ({"path": b"/\xff"}, [], 400),
    "another origin": ({"path": b"https://other/"}, [], 400),
    "two lengths that agree": ({}, [(b"content-length", b"0")] * 2, 400),
    "a length without a body": ({}, [(b"content-length", b"5")], 400),
    "a star": ({"path": b"*"}, [], 400),
    "a small method": ({"method": b"get"}, [], 400),
    "TRACE": ({"method": b"TRACE"}, [], 405),
    "CONNECT": ({"method": b"CONNECT", "path": None}, [], 405),
}


@pytest.mark.parametrize(("given", "headers", "status"), HEADS.values(), ids=HEADS.keys())
async def test_a_bad_head_is_refused_and_the_rest_is_served(
    issued: Issued, given: dict[str, Any], headers: list[tuple[bytes, bytes]], status: int
) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        refused = await peer.answer(await peer.request(given.pop("path", b"/"), *headers, **given))
        served = await peer.answer(await peer.request())

    assert refused.status == status
    assert refused.reset is None
    assert list(json.loads(refused.body)) == ["error"]
    assert served.status == 200


async def test_a_body_must_be_as_long_as_announced_also_with_trailers(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        codes = []
        for length in (b"3", b"4"):
            announced = (b"content-length", length)
            number = await peer.request(b"/", announced, method=b"POST", ends=False)
            await peer.body(number, b"abc")
            peer.h2.send_headers(number, [(b"a", b"b")], end_stream=True)
            await peer.flush()
            heard = await peer.answer(number)
            codes.append((heard.body, heard.reset))

    assert codes == [(b"abc", None), (b"", ErrorCodes.PROTOCOL_ERROR)]


FORBIDDEN: dict[str, list[tuple[bytes, bytes]]] = {
    "a large letter in a name": [(b"A", b"b")],
    "a line feed": [(b"a", b"b\nc: d")],
    "a NUL": [(b"a", b"b\0c")],
    "another framing": [(b"transfer-encoding", b"chunked")],
    "a connection header": [(b"connection", b"close")],
    "another host": [(b"host", b"other")],
    "a second method": [(b":method", b"POST")],
    "a WebSocket": [(b":protocol", b"websocket")],
    "two lengths": [(b"content-length", b"0"), (b"content-length", b"1")],
    "a length with a sign": [(b"content-length", b"+0")],
}


@pytest.mark.parametrize("headers", FORBIDDEN.values(), ids=FORBIDDEN.keys())
async def test_what_the_protocol_forbids_ends_the_connection(
    issued: Issued, headers: list[tuple[bytes, bytes]]
) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        await peer.request(b"/", *headers)
        code = await peer.end()

    assert code == ErrorCodes.PROTOCOL_ERROR


async def test_headers_that_unpack_to_too_much_end_the_connection(issued: Issued) -> None:
    # One long header in the table, named again and again in one byte each.
    bomb = [(b"a", b"b" * 3000)] * 200

    async with place(echo, issued) as here, here.peer() as peer:
        await peer.request(b"/", *bomb)
        code = await peer.end()

    assert code == CALM


# Floods.

SETTINGS, PING, UPDATE = frame(4), frame(6, data=b"12345678"), frame(8, data=b"\0\0\0\1")
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

    # What is in flight while it closes may cost the client the word of farewell.
    assert code in (CALM, ErrorCodes.PROTOCOL_ERROR, None)
    assert served.status == 200


async def test_pieces_of_a_body_that_hold_nothing_are_a_flood(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.send(frame(0, number=number) * 2000)

        assert await peer.end() in (CALM, None)


async def test_settings_that_nobody_knows_are_not_heaped_up(issued: Issued) -> None:
    told = b"".join(n.to_bytes(2, "big") + bytes(4) for n in range(1000, 3000))

    async with place(echo, issued) as here, here.peer() as peer:
        await peer.send(frame(4, data=told))

        assert await peer.end() in (CALM, None)


async def test_answers_are_shortened_with_no_more_memory_than_usual(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        (line,) = here.door.visitors
        assert isinstance(line, Multiplexed)
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
        await settle(lambda: held.ended == 100)
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
        (line,) = here.door.visitors
        assert isinstance(line, Multiplexed)
        line.pause_writing()
        number = await peer.request(b"/a")
        async with here.peer() as other:
            await other.answer(await other.request(b"/b"))
        line.resume_writing()
        heard = await peer.answer(number)

    assert heard.status == 200
    assert paths == ["/b", "/a"]


class Wire(asyncio.Transport):
    """Takes everything, until it is closed."""

    closed = False

    def write(self, data: Any) -> None:
        assert not self.closed

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


FRAMES = st.builds(
    frame,
    st.integers(0, 10),
    flags=st.sampled_from([0, 1, 4, 5, 8, 32, 37, 255]),
    number=st.sampled_from([0, 1, 3, 5]),
    data=st.sampled_from([b"", b"\0\0\0\1", b"\0\0\0\0\x10", b"12345678", b"\x82\x87\x84\x41\x01a"])
    | st.binary(max_size=20),
)


@given(st.lists(FRAMES, max_size=12))
def test_whatever_comes_is_served_or_ends_the_connection(frames: list[bytes]) -> None:
    async def main() -> set[Any]:
        door, wire = Door(Limits()), Wire()
        line = Multiplexed(echo, door)
        line.connection_made(wire)
        for data in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frame(4), *frames):
            line.data_received(data)
            await asyncio.sleep(0)
        assert line.deaf == wire.closed
        line.connection_lost(None)
        for _ in range(5):
            await asyncio.sleep(0)
        return door.tasks | door.visitors

    assert not asyncio.run(main())


# Time.


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
    return any(each.frames.is_late(now + LATE, 10) for each in here.door.visitors)  # type: ignore


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
        await settle(lambda: not any(each._unread for each in streams(here)))
        here.pass_time(29)
        await peer.body(other, b"", ends=True)
        served = await peer.answer(other)
        here.pass_time(LATER)
        refused = await peer.answer(number)

    assert served.status == 200
    assert refused.status == 408


def streams(here: Place) -> list[Any]:
    return [s for v in here.door.visitors for s in v.streams.values()]  # type: ignore[attr-defined]


async def test_a_body_that_nobody_reads_is_not_late(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        await peer.body(number, b"a" * 1000)
        await settle(lambda: streams(here) and streams(here)[0]._unread)
        here.pass_time(LATER)
        held.go.set()
        await peer.body(number, b"", ends=True)
        heard = await peer.answer(number)

    assert heard.body == b"held"


async def test_a_client_sends_no_more_than_is_read(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        number = await peer.request(method=b"POST", ends=False)
        room = peer.h2.local_flow_control_window(number)
        await peer.body(number, b"a" * room)
        await settle(lambda: streams(here) and streams(here)[0]._unread == room)
        left = peer.h2.local_flow_control_window(number)

    assert room == 256 * 1024
    assert left == 0


async def test_what_a_reset_leaves_unread_makes_room_again(issued: Issued) -> None:
    held = Held()

    async with place(held, issued) as here, here.peer() as peer:
        for _ in range(8):
            number = await peer.request(method=b"POST", ends=False)
            await peer.body(number, b"a" * 200_000)
            await settle(lambda: streams(here) and streams(here)[0]._unread == 200_000)
            (stream,) = streams(here)
            peer.h2.reset_stream(number)
            await peer.flush()
            await settle(lambda: not streams(here))
            assert not stream._body
        held.go.set()
        number = await peer.request(method=b"POST", ends=False)
        await peer.body(number, b"a" * 1000, ends=True)
        heard = await peer.answer(number)

    assert heard.body == b"held"


async def much(scope: Any, receive: Any, send: Send) -> None:
    """Answers at great length."""
    await start(send)
    await say(send, b"a" * MIB)


async def stuck(here: Place, peer: Any) -> int:
    """The number of a stream that waits for its client to take more."""
    peer.takes = False
    number = await peer.request()
    await settle(lambda: streams(here) and streams(here)[-1]._stuck)
    return int(number)


@pytest.mark.parametrize("room", [0, MIB])
async def test_an_answer_that_is_not_taken_is_given_up(issued: Issued, room: int) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        number = await stuck(here, peer)
        if room:  # The connection has it, and the stream has none.
            peer.h2.increment_flow_control_window(room)
            await peer.flush()
        here.pass_time(29)
        is_patient = len(here.door.tasks) == 1
        here.pass_time(LATER)
        heard = await peer.answer(number)
        await settle(lambda: not here.door.tasks)

    assert is_patient
    assert heard.reset == ErrorCodes.CANCEL


async def test_an_answer_that_is_taken_slowly_goes_on(issued: Issued) -> None:
    async with place(much, issued) as here, here.peer() as peer:
        number = await stuck(here, peer)
        (stream,) = streams(here)
        since = stream._stuck
        peer.h2.increment_flow_control_window(10)
        peer.h2.increment_flow_control_window(10, number)
        await peer.flush()
        await settle(lambda: stream._stuck not in (None, since))
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
        await settle(lambda: stream.h2.streams[number].outbound_flow_control_window >= MIB)
        ahead = asyncio.get_running_loop().time() + LATER
        stream.line.sent = ahead - 1
        stream.look(ahead, here.door.limits)
        is_patient = not stream.gone
        stream.look(ahead + LATER, here.door.limits)

    assert is_patient
    assert stream.gone


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


# The end of an answer.
# The end of an answer.


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
            await settle(lambda: not here.door.tasks)


async def test_a_client_that_says_farewell_is_let_go(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        peer.h2.close_connection()
        await peer.flush()
        await settle(lambda: not here.door.visitors)


# Stopping.


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
        farewell = await busy.end()
        await here.serving

    assert (quiet, farewell) == (FINE, FINE)
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


# What is left of a connection.


def kept() -> int:
    gc.collect()
    return sum(isinstance(each, Multiplexed | Stream | H2Connection) for each in gc.get_objects())


async def test_nothing_is_kept_of_connections_that_ended(issued: Issued) -> None:
    before, complaints = kept(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))

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
            await settle(lambda: not here.door.visitors | here.door.tasks)
        del peer
        await settle(lambda: kept() == before)

    assert not complaints
