"""Stretches of time."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gateway_core.contracts.errors import BadRequest
from gateway_dashboard_api.usage.periods import (
    CHART,
    DAY,
    Period,
    every_day,
    hours,
    midnight,
    named_period,
    read_period,
)

NOON = datetime(2027, 1, 15, 12, 0, 30).timestamp()


@pytest.mark.parametrize(
    ("name", "first"),
    [("today", date(2027, 1, 15)), ("7d", date(2027, 1, 9)), ("30d", date(2026, 12, 17))],
)
def test_a_number_of_days_ends_with_today(name: str, first: date) -> None:
    assert named_period(name, NOON) == Period(first=first)


def test_the_last_hours_end_with_the_running_minute() -> None:
    since = named_period("24h", NOON).since

    assert since == NOON - 30 + 60 - 24 * 3600


def test_all_has_no_beginning_and_no_end() -> None:
    assert named_period("all", NOON).days == ("", "9999-12-31")


@pytest.mark.parametrize("name", ["", "1d", "TODAY", "90d", "7d "])
def test_a_name_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(BadRequest, match="Invalid period"):
        named_period(name, NOON)


@given(some.sampled_from(CHART), some.floats(86_400, 4e9))
def test_every_period_holds_the_present(name: str, now: float) -> None:
    period = named_period(name, now, CHART)
    today = date.fromtimestamp(now)

    assert period.since is None or now - 86_400 < period.since <= now
    assert period.first is None or period.first <= today
    assert period.last is None


def test_two_dates_are_a_period_and_one_is_none() -> None:
    assert read_period(None, "2027-01-01", "2027-01-02", NOON).days == ("2027-01-01", "2027-01-02")
    for start, end in (("2027-01-01", None), (None, "2027-01-01"), ("2027-01-01", "")):
        with pytest.raises(BadRequest):
            read_period(None, start, end, NOON)


@pytest.mark.parametrize(
    ("day", "count"),
    [(date(2027, 3, 27), 24), (date(2027, 3, 28), 23), (date(2027, 10, 31), 25)],
    ids=["plain", "spring", "autumn"],
)
def test_a_day_has_as_many_hours_as_the_clocks_give_it(day: date, count: int) -> None:
    berlin = ZoneInfo("Europe/Berlin")

    starts = list(hours(midnight(day, berlin), midnight(day + DAY, berlin)))

    assert len(starts) == count


def test_days_follow_each_other() -> None:
    days = list(every_day(date(2027, 2, 27), date(2027, 3, 1)))

    assert days == [date(2027, 2, 27), date(2027, 2, 28), date(2027, 3, 1)]
