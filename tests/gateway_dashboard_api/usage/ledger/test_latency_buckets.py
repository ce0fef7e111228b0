"""Percentiles from counts in buckets are near those of the times themselves."""

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gateway_dashboard_api.usage.ledger.latency_buckets import BOUNDS, percentile

TIMES = some.lists(some.integers(0, 1_200_000), min_size=1, max_size=60)


def counted(times: list[int]) -> list[int]:
    counts = [0] * len(BOUNDS)
    for each in times:
        counts[bisect_right(BOUNDS, each) - 1] += 1
    return counts


@given(TIMES, some.sampled_from((0.5, 0.95, 0.99)))
def test_a_percentile_lies_in_the_bucket_of_the_exact_one(times: list[int], share: float) -> None:
    exact = sorted(times)[max(0, -int(-(share * len(times)) // 1) - 1)]
    place = bisect_right(BOUNDS, exact) - 1

    found = percentile(counted(times), share)

    assert found is not None
    assert BOUNDS[place] <= found <= (*BOUNDS, 1_200_000)[place + 1]


def test_without_calls_there_is_none() -> None:
    assert percentile([0] * len(BOUNDS), 0.5) is None


@pytest.mark.parametrize(("times", "middle"), [([100] * 4, 125), ([0, 0], 2), ([700_000], 900_000)])
def test_times_in_a_bucket_are_taken_to_be_spread(times: list[int], middle: int) -> None:
    assert percentile(counted(times), 0.5) == middle
