"""Which streams the grammar calls well formed."""

from itertools import accumulate

import pytest
from claude_streams import ERROR, HELLO, START, STOP, ended, stream, well_formed
from gateway_format_claude import CLAUDE


def test_the_keep_alive_may_come_anywhere() -> None:
    assert CLAUDE.keep_alive is not None
    beat = CLAUDE.keep_alive.frame
    for data in (stream(*HELLO), stream(*HELLO[:3], ERROR)):
        edges = list(accumulate(len(piece) + 2 for piece in data.split(b"\n\n")[:-1]))
        for edge in (0, *edges[:-1]):
            assert well_formed(data[:edge] + beat + data[edge:])


NOT_WELL_FORMED = [
    b"",
    stream(*HELLO[:-1]),
    stream(*HELLO, *HELLO),
    stream(*HELLO[1:]),
    stream(START, HELLO[2], ended(), STOP),
    stream(START, *HELLO),
    stream(*HELLO[:3], *HELLO[4:]),
    stream(*HELLO[:4], STOP),
    stream(*HELLO, ERROR),
    stream(*HELLO[:3], ERROR, *HELLO[3:]),
    stream(*HELLO).replace(b"event: content_block_stop", b"event: nothing"),
    stream(*HELLO).replace(b'"index": 0', b'"index": 1', 1),
    b"data: nonsense\n\n" + stream(*HELLO),
]


@pytest.mark.parametrize("data", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_the_grammar_refuses_broken_streams(data: bytes) -> None:
    assert not well_formed(data)
