"""FrameCounter of an HTTP/2 connection: what is too much, and what takes too long."""

import pytest
from gateway_server_fast.multiplexed.abuse import BUDGET, BUDGET_PER_SECOND, AbuseError
from gateway_server_fast.multiplexed.http2_frames import MAX_SETTINGS, PREFACE, FrameCounter
from h2_peer import frame
from hypothesis import given
from hypothesis import strategies as st

MOST = 1000
SOCKETS = {7}
"""Streams that are open WebSockets."""
DATA, HEADERS, RESET, SETTINGS, PING, UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
ENDED_BLOCK, ENDED_STREAM = 4, 1
PINGS = frame(PING, data=b"12345678")


def begun(now: float = 0.0) -> FrameCounter:
    """A connection whose preface has come."""
    frames = FrameCounter(MOST, now, SOCKETS.__contains__)
    frames.feed(b" " * PREFACE, now)
    return frames


def test_frames_may_be_cut_anywhere() -> None:
    sent = frame(HEADERS, data=b"a" * 40) + frame(CONTINUATION, flags=ENDED_BLOCK, data=b"b")
    frames = begun()

    for at in range(len(sent)):
        frames.feed(sent[at : at + 1], at)
        is_whole = at == len(sent) - 1

        assert frames.is_late(at + 20, 10) is not is_whole


@given(st.lists(st.sampled_from([0, 10, 300]), max_size=30), st.integers(1, 50))
def test_where_a_flood_is_noticed_does_not_depend_on_the_pieces(
    sizes: list[int], piece: int
) -> None:
    blocks = b"".join(frame(CONTINUATION, data=b"a" * size) for size in sizes)

    whole, pieces = begun(), begun()

    assert is_flood(whole, blocks, len(blocks) or 1) == is_flood(pieces, blocks, piece)
    assert is_flood(begun(), blocks, piece) == (sum(sizes) + 9 * len(sizes) > MOST)


def is_flood(frames: FrameCounter, data: bytes, piece: int) -> bool:
    try:
        for at in range(0, len(data), piece):
            frames.feed(data[at : at + piece], 0.0)
    except AbuseError:
        return True
    return False


def test_idle_frames_are_earned_with_time() -> None:
    frames = begun()
    frames.feed(PINGS * BUDGET, 0.0)

    frames.feed(PINGS * BUDGET_PER_SECOND, 1.0)

    with pytest.raises(AbuseError):
        frames.feed(PINGS, 1.0)


def test_window_updates_are_earned_with_answers() -> None:
    update = frame(UPDATE, data=b"\0\0\0\1")
    frames = begun()

    for _ in range(5000):
        frames.count_sent()
        frames.feed(update * 3, 0.0)

    with pytest.raises(AbuseError):
        frames.feed(update * 5000, 0.0)


def test_settings_are_counted_for_as_long_as_the_connection_lasts() -> None:
    frames = begun()
    for second in range(MAX_SETTINGS):
        frames.feed(frame(SETTINGS, data=bytes(6)), float(second))

    with pytest.raises(AbuseError, match="settings"):
        frames.feed(frame(SETTINGS, data=bytes(6)), MAX_SETTINGS)


@pytest.mark.parametrize("kind", [0, HEADERS, SETTINGS, 99])
def test_a_long_frame_is_noticed_before_it_has_come(kind: int) -> None:
    longest, longer = (size.to_bytes(3, "big") + bytes((kind, 0)) for size in (2**14, 2**14 + 1))

    with pytest.raises(AbuseError, match="too long"):
        begun().feed(longer + bytes(4), 0.0)

    if kind in (0, 99):
        begun().feed(longest + bytes(4), 0.0)


def test_a_body_and_its_end_cost_nothing() -> None:
    frames = begun()

    frames.feed((frame(0, data=b"a") + frame(0, flags=ENDED_STREAM)) * 10_000, 0.0)

    assert not frames.is_late(1000, 10)


def test_part_of_a_body_is_not_late_here() -> None:
    frames = begun()

    frames.feed(frame(0, data=b"a" * 100)[:50], 0.0)

    assert not frames.is_late(1000, 10)


def test_a_client_that_was_not_heard_has_its_time_again() -> None:
    frames = begun()
    frames.feed(frame(HEADERS, data=b"a"), 0.0)

    frames.restart_clock(20.0)

    assert not frames.is_late(29.0, 10)
    assert frames.is_late(31.0, 10)


def test_short_pieces_are_counted_but_those_of_sockets() -> None:
    frames = begun()
    [seventh] = SOCKETS
    frames.feed(frame(DATA, number=seventh, data=b"a") * 2 * BUDGET, 0.0)
    frames.feed(frame(DATA, number=seventh + 2, data=b"a") * BUDGET, 0.0)

    with pytest.raises(AbuseError, match="pieces of a body are too short"):
        frames.feed(frame(DATA, number=seventh + 2, data=b"a"), 0.0)
