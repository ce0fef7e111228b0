"""One request and its answer on a fast connection: what is written when, and what is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from gateway_server_fast.http1.extensions import NoOwner
from gateway_server_fast.http1.flow_control import FlowControl
from gateway_server_fast.http1.request_cycle import LONG, RequestCycle
from gateway_server_fast.http1.response_head import CommonHeaders, format_headers
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.asgi import ON_DISCONNECT, PUSH
from gateway_core.pipeline.client_response import whole_headers, whole_lines

Answering = Callable[[RequestCycle], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ndate: now\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


class Wire(asyncio.Transport):
    """Keeps each write by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed = self.paused = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


def answered(answering: Answering, *, method: str = "POST", keep_alive: bool = True) -> Wire:
    """What an application makes go out."""
    wire = Wire()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await answering(cycle)

    async def main() -> None:
        await cycle.run(app)
        await asyncio.sleep(0)

    cycle = made(wire, method=method, keep_alive=keep_alive)
    asyncio.run(main())
    return wire


def made(wire: Wire, *, method: str = "POST", keep_alive: bool = True) -> RequestCycle:
    scope: dict[str, Any] = {"method": method}
    cycle = RequestCycle(
        lambda: scope,
        wire,
        FlowControl(wire),
        CommonHeaders((b"date", b"now")),
        NoOwner(),
        expects_continue=False,
        keep_alive=keep_alive,
        is_head=method == "HEAD",
    )
    cycle.more_body = False
    return cycle


async def start(cycle: RequestCycle, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    await cycle.send({"type": "http.response.start", "status": status, "headers": headers})


async def body(cycle: RequestCycle, piece: bytes, *, more: bool = False) -> None:
    await cycle.send({"type": "http.response.body", "body": piece, "more_body": more})


def test_a_whole_answer_leaves_in_one_write() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle, (b"Content-Length", b"5"))
        await body(cycle, b"hello")

    assert answered(answering).writes == [HEAD + b"content-length: 5\r\n\r\nhello"]


def test_the_headers_of_whole_answers_are_the_same_whoever_writes_them() -> None:
    body, number = b"{}" * 600, "01234567-89ab-cdef"

    assert whole_lines(body, number) == format_headers(whole_headers((), body, number.encode()))


def test_a_stream_to_an_old_client_ends_with_the_connection() -> None:
    wire = Wire()

    async def main() -> None:
        cycle = made(wire, keep_alive=False)
        cycle.takes_chunks = False
        await start(cycle, (b"content-type", b"text/plain"))
        await body(cycle, b"one", more=True)
        await body(cycle, b"two")

    asyncio.run(main())

    reported = HEAD + b"content-type: text/plain\r\nconnection: close\r\n\r\n"
    assert b"".join(wire.writes) == reported + b"onetwo"
    assert wire.is_closing()


def test_the_head_of_a_stream_leaves_with_its_first_piece() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle)
        await body(cycle, b"one", more=True)
        await body(cycle, b"")

    assert answered(answering).writes == [CHUNKED + b"3\r\none\r\n", b"0\r\n\r\n"]


def test_the_head_of_a_stream_does_not_wait_for_a_piece_that_is_late() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await body(cycle, b"late")

    assert answered(answering).writes == [CHUNKED, b"4\r\nlate\r\n0\r\n\r\n"]


def test_what_goes_wrong_before_anything_has_left_is_told_to_the_client() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle, (b"content-length", b"5"))
        raise ValueError

    (write,) = answered(answering).writes

    assert write.startswith(b"HTTP/1.1 500 ")


def test_what_goes_wrong_later_closes_the_connection() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle)
        await body(cycle, b"one", more=True)
        raise ValueError

    wire = answered(answering)

    assert wire.closed
    assert wire.writes == [CHUNKED + b"3\r\none\r\n"]


@pytest.mark.parametrize("header", [(b"x", b"a\r\nb: c"), (b"x y", b""), (b"x\n", b""), (b"", b"")])
def test_a_header_that_would_be_another_one_is_not_sent(header: tuple[bytes, bytes]) -> None:
    async def answering(cycle: RequestCycle) -> None:
        with pytest.raises(RuntimeError):
            await start(cycle, header)
        raise ValueError

    (write,) = answered(answering).writes

    assert write.startswith(b"HTTP/1.1 500 ")
    assert header[1] not in write or not header[1]


@pytest.mark.parametrize(("announced", "piece"), [(b"3", b"four"), (b"5", b"four")])
def test_a_body_is_as_long_as_was_announced(announced: bytes, piece: bytes) -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle, (b"content-length", announced))
        await body(cycle, piece)

    assert piece not in b"".join(answered(answering).writes)


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_has_no_framing(status: int) -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle, status=status)
        await body(cycle, b"")

    assert b"transfer-encoding" not in b"".join(answered(answering).writes)


def test_the_connection_closes_where_either_side_says_so() -> None:
    async def answering(cycle: RequestCycle) -> None:
        await start(cycle, (b"content-length", b"0"), (b"connection", b"close"))
        await body(cycle, b"")

    async def silent(cycle: RequestCycle) -> None:
        await start(cycle, (b"content-length", b"0"))
        await body(cycle, b"")

    written, received = answered(answering), answered(silent, keep_alive=False)

    assert written.closed
    assert received.closed
    assert written.writes[0].count(b"connection: close") == 1
    assert received.writes[0].count(b"connection: close") == 1


@given(st.lists(st.binary(min_size=1, max_size=300_000), min_size=1, max_size=4))
def test_a_stream_is_the_same_whether_it_is_pushed_or_sent(pieces: list[bytes]) -> None:
    async def sending(cycle: RequestCycle) -> None:
        await start(cycle)
        for piece in pieces:
            await body(cycle, piece, more=True)
        await body(cycle, b"")

    async def pushing(cycle: RequestCycle) -> None:
        await start(cycle)
        await body(cycle, pieces[0], more=True)
        assert all(cycle.push(piece) for piece in pieces[1:])
        await body(cycle, b"")

    assert b"".join(answered(pushing).writes) == b"".join(answered(sending).writes)


def test_nothing_is_pushed_before_a_head_to_a_slow_client_or_behind_the_end() -> None:
    refused = []

    async def answering(cycle: RequestCycle) -> None:
        refused.append(cycle.push(b"early"))
        await start(cycle)
        refused.append(cycle.push(b"early"))
        await body(cycle, b"one", more=True)
        cycle.flow.pause_writing()
        refused.append(cycle.push(b"too much"))
        cycle.flow.resume_writing()
        await body(cycle, b"")
        refused.append(cycle.push(b"late"))

    wire = answered(answering)

    assert refused == [False] * 4
    assert wire.writes == [CHUNKED + b"3\r\none\r\n", b"0\r\n\r\n"]


def test_a_scope_lets_go_of_its_request_when_it_is_answered() -> None:
    scopes = []

    async def answering(cycle: RequestCycle) -> None:
        scopes.append(cycle.scope())
        assert scopes[0][PUSH] == cycle.push
        await start(cycle, (b"content-length", b"0"))
        await body(cycle, b"")

    answered(answering)

    assert PUSH not in scopes[0]
    assert ON_DISCONNECT not in scopes[0]


@pytest.mark.parametrize("is_late", [False, True], ids=["before it leaves", "after"])
def test_who_asked_for_it_is_told_once_that_the_client_left(is_late: bool) -> None:
    reported: list[str] = []

    async def answering(cycle: RequestCycle) -> None:
        if is_late:
            cycle.on_client_gone()
        cycle.on_disconnect(lambda: reported.append("left"))
        cycle.on_client_gone()
        cycle.on_client_gone()

    answered(answering)

    assert reported == ["left"]


def test_nobody_is_told_of_a_client_that_has_its_answer() -> None:
    reported: list[str] = []

    async def answering(cycle: RequestCycle) -> None:
        cycle.on_disconnect(lambda: reported.append("left"))
        await start(cycle, (b"content-length", b"5"))
        await body(cycle, b"hello")
        cycle.on_client_gone()

    answered(answering)

    assert reported == []


def test_a_long_piece_is_not_pushed() -> None:
    pushed: list[bool] = []

    async def answering(cycle: RequestCycle) -> None:
        await start(cycle)
        await body(cycle, b"one", more=True)
        pushed.extend(cycle.push(b"x" * size) for size in (LONG, LONG + 1))
        await body(cycle, b"")

    answered(answering)

    assert pushed == [True, False]


def test_a_request_is_received_as_it_came() -> None:
    async def main() -> list[Any]:
        cycle = made(Wire())
        cycle.more_body = True
        waiting = asyncio.create_task(cycle.receive())
        await asyncio.sleep(0)
        cycle.take(b"he")
        first = await waiting
        cycle.take(b"l")
        cycle.take(b"lo")
        cycle.complete()
        second = await cycle.receive()
        gone = asyncio.create_task(cycle.receive())
        await asyncio.sleep(0)
        cycle.on_client_gone()
        return [first, second, await gone]

    first, second, gone = asyncio.run(main())

    assert (first["body"], first["more_body"]) == (b"he", True)
    assert (second["body"], second["more_body"]) == (b"llo", False)
    assert gone == {"type": "http.disconnect"}


def test_everybody_who_waits_for_a_request_hears_that_the_client_is_gone() -> None:
    async def main() -> list[Any]:
        cycle = made(Wire())
        waiting = [asyncio.create_task(cycle.receive()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting.pop(0).cancel()
        await asyncio.sleep(0)
        cycle.on_client_gone()
        return await asyncio.gather(*waiting)

    assert asyncio.run(main()) == [{"type": "http.disconnect"}] * 2


def test_reading_pauses_while_nobody_takes_what_came() -> None:
    async def main() -> tuple[bool, bool]:
        wire = Wire()
        cycle = made(wire)
        cycle.take(b"x" * 100_000)
        before = wire.paused
        await cycle.receive()
        return before, wire.paused

    assert asyncio.run(main()) == (True, False)
