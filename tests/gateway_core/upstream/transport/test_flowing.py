"""A body that is given on in the moment it comes."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.transport.answers import Taker, UpstreamAnswer, read_all
from gateway_core.upstream.transport.connection import UpstreamConnection
from gateway_core.upstream.transport.heads import RequestBytes
from gateway_core.upstream.transport.limits import HEAD_BYTES, TransportLimits

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
Play = Callable[[UpstreamConnection, UpstreamAnswer], Awaitable[None]]


class Wire(asyncio.Transport):
    """A socket that takes everything and says nothing."""

    closed = False

    def write(self, data: object) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def played(play: Play) -> None:
    """Have an answer begin, and go on as ``play`` says."""

    async def main() -> None:
        connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
        connection.connection_made(Wire())
        asking = asyncio.create_task(
            connection.exchange(RequestBytes(b"", b"", 5.0, 5.0, bodiless=False))
        )
        await asyncio.sleep(0)
        connection.data_received(HEAD)
        await play(connection, await asking)

    asyncio.run(main())


async def begun(answer: UpstreamAnswer, taker: Taker) -> "asyncio.Task[None]":
    """A flow that has begun to wait."""
    flowing = asyncio.create_task(answer.flow(taker))
    await asyncio.sleep(0)
    return flowing


def test_pieces_are_given_on_before_anybody_wakes() -> None:
    taken: list[bytes] = []

    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: taken.append(piece) or True)
        connection.data_received(chunk(b"one"))
        connection.data_received(chunk(b"two"))
        assert taken == [b"one", b"two"]
        connection.data_received(chunk(b"three") + END)
        await flowing
        assert await answer.next() == b"three"
        assert await answer.next() == b""

    played(play)

    assert taken == [b"one", b"two"]


def test_what_came_before_the_flow_goes_first() -> None:
    taken: list[bytes] = []

    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        connection.data_received(chunk(b"one"))
        flowing = await begun(answer, lambda piece: taken.append(piece) or True)
        connection.data_received(chunk(b"two"))
        connection.data_received(END)
        await flowing

    played(play)

    assert taken == [b"one", b"two"]


def test_a_taker_that_has_enough_leaves_the_rest_to_next() -> None:
    taken: list[bytes] = []

    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: bool(taken.append(piece)))
        connection.data_received(chunk(b"one"))
        connection.data_received(chunk(b"two"))
        await flowing
        assert await answer.next() == b"two"

    played(play)

    assert taken == [b"one"]


def test_a_taker_that_breaks_is_heard_of_where_the_flow_is_waited_for() -> None:
    def broken(piece: bytes) -> bool:
        raise ZeroDivisionError

    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, broken)
        connection.data_received(chunk(b"one"))
        with pytest.raises(ZeroDivisionError):
            await flowing
        assert connection.closed

    played(play)


def test_a_flow_that_is_cut_ends_and_next_says_why() -> None:
    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: True)
        connection.data_received(chunk(b"one"))
        connection.connection_lost(None)
        await flowing
        with pytest.raises(TransportError):
            await answer.next()

    played(play)


def test_a_flow_whose_task_is_cancelled_takes_nothing_more() -> None:
    taken: list[bytes] = []

    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: taken.append(piece) or True)
        flowing.cancel()
        connection.data_received(chunk(b"late"))
        with pytest.raises(asyncio.CancelledError):
            await flowing
        assert connection.closed

    played(play)

    assert taken == []


@pytest.mark.parametrize(
    "rubbish",
    [b"zz\r\n", chunk(b"two")[:-2] + b"!!", b"3;" + b"x" * HEAD_BYTES],
    ids=["no size", "no end of a chunk", "framing without an end"],
)
def test_a_flow_into_which_rubbish_comes_fails(rubbish: bytes) -> None:
    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: True)
        connection.data_received(chunk(b"one"))
        connection.data_received(rubbish)
        assert connection.closed
        await flowing
        with pytest.raises(TransportError) as caught:
            await read_all(answer)
        assert caught.value.status == 502

    played(play)


def test_framing_without_a_body_is_counted_over_all_pieces_of_a_flow() -> None:
    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: True)
        connection.data_received(b"3;")
        for _ in range(HEAD_BYTES // 1024):
            assert not connection.closed
            connection.data_received(b"x" * 1024)
        assert connection.closed
        await flowing

    played(play)


def test_framing_counts_anew_after_a_piece_of_the_body() -> None:
    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: True)
        for _ in range(2 * HEAD_BYTES // 1024):
            connection.data_received(b"3;" + b"x" * 1024)
            connection.data_received(b"\r\none\r\n")
        assert not connection.closed
        connection.data_received(END)
        await flowing

    played(play)


def test_what_follows_a_flow_that_has_ended_is_not_of_the_answer() -> None:
    async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
        flowing = await begun(answer, lambda piece: True)
        connection.data_received(chunk(b"one") + END + HEAD + chunk(b"two"))
        assert connection.closed
        await flowing
        assert await answer.next() == b"one"
        assert await answer.next() == b""

    played(play)


def test_a_flow_is_the_same_wherever_its_bytes_are_cut() -> None:
    body = chunk(b"one") + chunk(b"a longer second piece") + END

    def cut_at(place: int) -> list[bytes]:
        taken: list[bytes] = []

        async def play(connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
            flowing = await begun(answer, lambda piece: taken.append(piece) or True)
            connection.data_received(body[:place])
            connection.data_received(body[place:])
            await flowing
            taken.append(await answer.next())

        played(play)
        return taken

    assert {b"".join(cut_at(place)) for place in range(1, len(body))} == {
        b"onea longer second piece"
    }
