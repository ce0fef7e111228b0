"""A body is what its pieces were, and is there once."""

import asyncio
import os
import platform
import subprocess
import sys
import tracemalloc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.pipeline.client_response import ClientGone
from gateway_core.pipeline.request_body import read_body
from gateway_core.upstream import body_buffer as module
from gateway_core.upstream.body_buffer import LARGE, SHARE, BodyBuffer, keep_room

MIB = 1024 * 1024
PIECE = 250_000
PAGE = 4096


def gathered(pieces: list[bytes], announced: int) -> bytes:
    gathering = BodyBuffer(announced)
    for piece in pieces:
        gathering.add(piece)
    assert gathering.size == sum(map(len, pieces))
    return gathering.whole()


@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(-30, 30), st.integers(1, 30))
def test_a_body_is_whole_whatever_was_announced(pieces: list[bytes], more: int, large: int) -> None:
    whole = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGE", large)

        assert gathered(pieces, max(0, len(whole) + more)) == whole


@given(st.lists(st.binary(max_size=20), max_size=40), st.integers(0, 300), st.integers(1, 5))
def test_short_pieces_become_one(pieces: list[bytes], announced: int, many: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MANY", many)
        patch.setattr(module, "LARGE", 50)

        assert gathered(pieces, announced) == b"".join(pieces)


def test_a_body_in_pieces_of_a_byte_takes_little_more_memory_than_it_has_bytes() -> None:
    gathering = BodyBuffer(0)
    piece = [bytes([number]) for number in range(256)]
    tracemalloc.start()
    for number in range(MIB):
        gathering.add(piece[number % 256] + b"")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held < 1.25 * MIB
    assert gathering.whole() == bytes(range(256)) * (MIB // 256)


@pytest.mark.parametrize("change", [0, 1, -1, LARGE, -LARGE])
def test_a_long_body_is_whole_whatever_was_announced(change: int) -> None:
    whole = bytes(range(256)) * (2 * MIB // 256)
    pieces = [whole[begin : begin + PIECE] for begin in range(0, len(whole), PIECE)]

    assert gathered(pieces, len(whole) + change) == whole


def most_held(come: int, announced: int) -> int:
    """The most memory that is in use while a body is read, whose client leaves if it is short."""
    left = come

    async def receive() -> dict[str, Any]:
        nonlocal left
        if not left:
            return {"type": "http.disconnect"}
        piece = b"x" * min(PIECE, left)
        left -= len(piece)
        return {"type": "http.request", "body": piece, "more_body": left > 0 or come < announced}

    async def main() -> int:
        keep_room()  # Once for all; what it shows the allocator is not used.
        tracemalloc.start()
        try:
            body = await read_body(receive, {"content-length": str(announced)}, announced)
            assert len(body) == come == announced
        except ClientGone:
            assert come < announced
        return tracemalloc.get_traced_memory()[1]

    try:
        return asyncio.run(main())
    finally:
        tracemalloc.stop()


def test_a_long_body_is_not_held_twice() -> None:
    assert most_held(8 * MIB, 8 * MIB) < 1.5 * 8 * MIB


def test_what_is_announced_and_does_not_come_takes_no_place() -> None:
    come = 8 * MIB // SHARE - PIECE

    assert most_held(come, 8 * MIB) < come + 2 * PIECE


def test_nothing_is_left_of_a_body_that_stops_short() -> None:
    gathering = BodyBuffer(8 * MIB)
    for _ in range(12):
        gathering.add(b"x" * PIECE)
    room = gathering._place
    assert room is not None
    watched = weakref.ref(room)

    del room, gathering

    assert watched() is None


REPEATED = """
import resource
from snapshots import target
from gateway_core.pipeline.json_body import fitted, members_of
from gateway_core.upstream.body_buffer import BodyBuffer

def serve():
    whole = b'{"model":"m","data":"' + b"x" * SIZE + b'"}'
    buffer = BodyBuffer(len(whole))
    for begin in range(0, len(whole), 250_000):
        buffer.add(whole[begin : begin + 250_000])
    del whole
    body = buffer.whole()
    return fitted(members_of(body), target(), len(body))

for _ in range(3):
    serve()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    serve()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 10)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have their ways")
@pytest.mark.parametrize("size", [MIB, 4 * MIB, 5 * MIB])
def test_the_memory_of_a_long_body_is_used_for_the_next(size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REPEATED.replace("SIZE", str(size))],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(done.stdout) < size / PAGE / 10
