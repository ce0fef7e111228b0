import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.storage.moments import iso, seconds


def test_a_moment_is_utc_with_milliseconds() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso(1_800_000_000.1239) == "2027-01-15T08:00:00.123Z"


@given(st.integers(0, 4_000_000_000_000))
def test_a_moment_comes_back(milliseconds: int) -> None:
    assert round(seconds(iso(milliseconds / 1000)) * 1000) == pytest.approx(milliseconds, abs=1)


@given(st.integers(0, 10**11), st.integers(0, 10**11))
def test_moments_sort_as_the_times_they_name(one: int, other: int) -> None:
    assert (iso(one) <= iso(other)) == (one <= other)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="names no time zone"):
        seconds("2027-01-15T08:00:00")
