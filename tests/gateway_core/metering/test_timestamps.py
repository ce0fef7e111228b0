"""Texts of moments are the same as those that are made one by one."""

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway_core.metering.timestamps import MOST, Timestamps
from gateway_core.storage.moments import iso, local_day

MOMENTS = st.floats(0, 4_000_000_000)
TIMESTAMPS = Timestamps(UTC)


@given(MOMENTS)
@example(1_800_000_000.9999996)
@example(1_800_000_000.9999994)
@example(1_800_000_000.0005)
def test_a_moment_is_written_as_elsewhere(moment: float) -> None:
    assert TIMESTAMPS.iso(moment) == iso(moment)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"])
@given(moment=MOMENTS)
def test_a_day_is_the_local_one(zone: str, moment: float) -> None:
    known = ZoneInfo(zone)

    assert Timestamps(known).day(moment) == local_day(moment, known).isoformat()


def test_a_day_ends_at_local_midnight() -> None:
    timestamps = Timestamps(ZoneInfo("Asia/Kathmandu"))
    midnight = 1_800_036_900.0

    assert [timestamps.day(midnight + after) for after in (-0.001, 0.0)] == [
        "2027-01-15",
        "2027-01-16",
    ]


def test_what_is_remembered_is_bounded() -> None:
    timestamps = Timestamps(UTC)

    texts = {timestamps.iso(second) for second in range(3 * MOST)}

    assert len(texts) == 3 * MOST
    assert len(timestamps._seconds) <= MOST
