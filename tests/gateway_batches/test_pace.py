"""When rows may begin, with a clock that the test moves."""

from manual_clock import Clock

from gateway_batches.pace import Pace
from gateway_batches.settings import BatchSettings


def test_rows_begin_while_few_interactive_requests_are_under_way() -> None:
    busy, clock = [3], Clock()
    pace = Pace(lambda: BatchSettings(yield_above=3), lambda: busy[0], clock)

    quiet = pace.admit("a", 2)
    busy[0] = 4

    assert (quiet, pace.admit("a", 2)) == (2, 0)


def test_one_row_of_each_batch_begins_in_a_minute_of_a_busy_gateway() -> None:
    clock = Clock()
    pace = Pace(lambda: BatchSettings(yield_above=0), lambda: 1, clock)

    assert [pace.admit("a", 2), pace.admit("b", 2)] == [0, 0]
    clock.move(60)
    assert [pace.admit("a", 2), pace.admit("a", 2), pace.admit("b", 2)] == [1, 0, 1]
    clock.move(59)
    assert pace.admit("a", 2) == 0
    clock.move(1)
    assert pace.admit("a", 2) == 1


def test_a_rate_counts_the_rows_of_all_batches() -> None:
    clock = Clock()
    pace = Pace(lambda: BatchSettings(rows_per_minute=3), lambda: 0, clock)

    assert [pace.admit("a", 2), pace.admit("b", 2), pace.admit("a", 1)] == [2, 1, 0]
    clock.move(60)
    assert pace.admit("b", 2) == 2


def test_rows_that_were_not_there_are_given_back() -> None:
    pace = Pace(lambda: BatchSettings(rows_per_minute=3), lambda: 0, Clock())

    pace.admit("a", 3)
    pace.give_back(2)

    assert pace.admit("a", 3) == 2
