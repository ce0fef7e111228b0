"""What is known of an answer without asking for more of it."""

import asyncio
import tracemalloc

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.body_buffer import keep_room
from gateway_core.upstream.transport import arrived, is_over
from gateway_core.upstream.transport.answers import UpstreamAnswer, read_all


class Nowhere:
    """A connection that is never asked for more."""

    async def more(self, answer: UpstreamAnswer) -> None:
        raise AssertionError("nothing waits here")

    def resume(self) -> None:
        pass

    def drop(self, answer: UpstreamAnswer) -> None:
        pass


def answer(
    *chunks: bytes, ends: bool = True, failure: TransportError | None = None
) -> UpstreamAnswer:
    made = UpstreamAnswer(Nowhere())
    made.chunks += chunks
    made.buffered = sum(map(len, chunks))
    if ends:
        made.end(failure)
    return made


def test_a_body_that_has_come_whole_is_taken_at_once() -> None:
    assert arrived(answer(b"he", b"llo")) == b"hello"
    assert arrived(answer()) == b""


def test_a_body_of_which_more_may_come_or_that_was_cut_is_left_to_its_reader() -> None:
    growing, cut = answer(b"he", ends=False), answer(b"he", failure=TransportError("cut"))

    assert arrived(growing) is None
    assert arrived(cut) is None
    assert [*growing.chunks, *cut.chunks] == [b"he", b"he"]


def test_an_answer_is_over_when_its_last_piece_was_taken() -> None:
    whole, growing, cut = (
        answer(b"a"),
        answer(b"a", ends=False),
        answer(failure=TransportError("x")),
    )
    before = is_over(whole)

    piece = asyncio.run(whole.next())

    assert (before, piece, is_over(whole)) == (False, b"a", True)
    assert not is_over(growing)
    assert not is_over(cut)


class Pieces:
    """An answer that comes in pieces, from whatever carries it."""

    status = 200

    def __init__(self, come: int, announced: str) -> None:
        self.headers = {"content-length": announced}
        self._left = come

    async def next(self) -> bytes:
        size = min(250_000, self._left)
        self._left -= size
        return b"x" * size

    async def aclose(self) -> None:
        self._left = 0


def read(come: int, announced: str, limit: int) -> tuple[bytes, int]:
    """A whole body, and the most memory that was in use while it was read."""

    async def main() -> tuple[bytes, int]:
        keep_room()  # Once for all; what it shows the allocator is not used.
        tracemalloc.start()
        body = await read_all(Pieces(come, announced), limit)
        return body, tracemalloc.get_traced_memory()[1]

    try:
        return asyncio.run(main())
    finally:
        tracemalloc.stop()


def test_a_long_answer_is_not_held_twice() -> None:
    body, most = read(8_000_000, "8000000", 10_000_000)

    assert body == b"x" * 8_000_000
    assert most < 1.5 * len(body)


@pytest.mark.parametrize("announced", ["", "no number", "0", "1", "7999999", "8000001", "9" * 20])
def test_an_answer_is_whole_whatever_was_announced(announced: str) -> None:
    assert read(8_000_000, announced, 10_000_000)[0] == b"x" * 8_000_000


def test_an_answer_beyond_the_limit_is_refused_whatever_was_announced() -> None:
    for announced in ("", "100", "8000000"):
        with pytest.raises(TransportError):
            read(8_000_000, announced, 2_000_000)
