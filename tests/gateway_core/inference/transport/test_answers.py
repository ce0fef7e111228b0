"""What is known of an answer without asking for more of it."""

import asyncio

from gateway_core.contracts.errors import TransportError
from gateway_core.inference.transport import arrived, is_over
from gateway_core.inference.transport.answers import Answer


class Nowhere:
    """A connection that is never asked for more."""

    async def more(self, answer: Answer) -> None:
        raise AssertionError("nothing waits here")

    def resume(self) -> None:
        pass

    def drop(self, answer: Answer) -> None:
        pass


def answer(*chunks: bytes, ends: bool = True, failure: TransportError | None = None) -> Answer:
    made = Answer(Nowhere())
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
