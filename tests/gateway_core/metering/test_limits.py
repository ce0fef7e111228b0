import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from key_limits_setup import NOON, KeyLimitsSetup, berlin, key, record

from gateway_core.contracts.errors import Unavailable
from gateway_core.metering.limits import DAILY_TOTAL, WINDOWS, dollars, limit_message
from gateway_core.storage.stores.key_usage import Spending

pytestmark = pytest.mark.anyio


async def test_a_minute_slides() -> None:
    setup = KeyLimitsSetup(NOON)
    for _ in range(2):
        assert await setup.admits(rpm=2)
        setup.move(20)

    refused = await setup.refused(rpm=2)
    setup.move(20)

    assert refused is not None
    assert refused.message == "API key rate limit exceeded (2 requests/minute)."
    assert refused.retry_after == 20
    assert await setup.admits(rpm=2)
    assert not await setup.admits(rpm=2)


async def test_what_was_refused_is_not_counted() -> None:
    setup = KeyLimitsSetup(NOON)
    assert await setup.admits(rpm=1)
    for _ in range(10):
        setup.move(5)
        assert not await setup.admits(rpm=1)
    setup.move(10)

    assert await setup.admits(rpm=1)


async def test_calls_at_once_are_let_in_one_by_one() -> None:
    setup = KeyLimitsSetup(NOON)

    results = await asyncio.gather(*(setup.admits(rpm=20) for _ in range(60)))
    setup.move(60)
    again = await asyncio.gather(*(setup.admits(rpm=20) for _ in range(60)))

    assert (results.count(True), again.count(True)) == (20, 20)


async def test_tokens_of_a_minute_leave_it_as_they_came() -> None:
    setup = KeyLimitsSetup(NOON)
    assert await setup.admits(tpm=10)
    for tokens in (4, 3, 5):
        setup.finish(tokens)
        setup.move(10)

    refused = await setup.refused(tpm=10)

    assert refused is not None
    assert refused.message == "API key token rate limit exceeded (12/10 tokens/minute)."
    assert refused.retry_after == 30
    setup.move(29)
    assert not await setup.admits(tpm=10)
    setup.move(1)
    assert await setup.admits(tpm=10)


async def test_limits_are_looked_at_from_the_longest_to_the_shortest() -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits()
    setup.finish(5, 5, 5)
    everything = {"max_tokens": 1, "daily_tokens": 1, "monthly_tokens": 1, "tpm": 1, "rpm": 1}

    reported = []
    for name in tuple(everything):
        refused = await setup.refused(**everything)
        assert refused is not None
        reported.append(refused.message.partition(" (")[0].removeprefix("API key "))
        del everything[name]

    assert reported == [
        "token limit reached",
        "daily token limit exceeded",
        "monthly tokens limit reached",
        "token rate limit exceeded",
        "rate limit exceeded",
    ]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"daily_tokens": 5}, "API key daily token limit exceeded (5/5 tokens)"),
        (
            {"daily_input": 2},
            "API key daily input tokens limit reached (2/2). Resets at local midnight.",
        ),
        (
            {"daily_output": 3},
            "API key daily output tokens limit reached (3/3). Resets at local midnight.",
        ),
        (
            {"monthly_tokens": 4},
            "API key monthly tokens limit reached (5/4). Resets on the 1st of next month.",
        ),
        (
            {"monthly_input": 1},
            "API key monthly input tokens limit reached (2/1). Resets on the 1st of next month.",
        ),
        (
            {"monthly_output": 1},
            "API key monthly output tokens limit reached (3/1). Resets on the 1st of next month.",
        ),
        (
            {"monthly_requests": 1},
            "API key monthly requests limit reached (1/1). Resets on the 1st of next month.",
        ),
        (
            {"monthly_budget": 1_000_000},
            "API key monthly budget limit reached (1.5/1). Resets on the 1st of next month.",
        ),
        ({"max_tokens": 0}, "API key token limit reached (5/0 tokens)"),
        ({"max_cost": 20_000}, "API key cost limit reached ($1.5/$0.02)"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
async def test_a_refusal_names_its_limit(limits: dict[str, int], message: str) -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits()
    setup.finish(2, 3, 1_500_000)

    refused = await setup.refused(**limits)

    assert refused is not None
    assert refused.message == message
    assert refused.status == 429
    is_for_life = "max_" in next(iter(limits))
    assert (refused.retry_after is None) is is_for_life


async def test_a_cap_of_zero_lets_nobody_in() -> None:
    assert not await KeyLimitsSetup(NOON).admits(max_tokens=0)
    assert not await KeyLimitsSetup(NOON).admits(max_cost=0)


@pytest.mark.parametrize(
    ("now", "until_midnight", "until_month"),
    [
        (berlin(2031, 5, 14, 23, 30), 0.5, 17 * 24 + 0.5),
        (berlin(2031, 12, 31, 12), 12, 12),
        (berlin(2032, 2, 28, 12), 12, 36),
        # The clocks go forward on 2031-03-30 and back on 2031-10-26.
        (berlin(2031, 3, 30, 0, 30), 22.5, 22.5 + 24),
        (berlin(2031, 10, 26, 0, 30), 24.5, 24.5 + 5 * 24),
    ],
    ids=["evening", "end of the year", "leap year", "short day", "long day"],
)
async def test_windows_end_with_the_local_day_and_month(
    now: datetime, until_midnight: float, until_month: float
) -> None:
    setup = KeyLimitsSetup(now)
    await setup.admits()
    setup.finish(5)

    by_day, by_month = await setup.refused(daily_tokens=5), await setup.refused(monthly_tokens=5)

    assert by_day is not None
    assert by_day.retry_after == until_midnight * 3600
    assert by_month is not None
    assert by_month.retry_after == until_month * 3600
    setup.move(until_midnight * 3600 - 1)
    assert not await setup.admits(daily_tokens=5)
    setup.move(1)
    assert await setup.admits(daily_tokens=5)
    setup.move((until_month - until_midnight) * 3600)
    assert await setup.admits(monthly_tokens=5)


async def test_a_step_of_the_wall_clock_neither_unlocks_nor_sticks_a_minute() -> None:
    for step in (-3600, 86400, -400 * 86400):
        setup = KeyLimitsSetup(NOON)
        await setup.admits(rpm=1)
        setup.finish(9)

        setup.wall.move(step)

        refused = await setup.refused(rpm=1)
        assert refused is not None
        assert refused.retry_after == 60
        assert not await setup.admits(tpm=9)
        setup.move(60)
        assert await setup.admits(rpm=1)
        assert await setup.admits(tpm=9)


async def test_a_step_of_the_wall_clock_takes_the_calendar_with_it() -> None:
    setup = KeyLimitsSetup(berlin(2031, 6, 1, 0, 30))
    await setup.admits()
    setup.finish(5)

    setup.wall.move(-3600)
    yesterday = await setup.admits(daily_tokens=5), await setup.admits(monthly_tokens=5)
    setup.wall.move(3600)
    today = await setup.admits(daily_tokens=5), await setup.admits(monthly_tokens=5)
    setup.wall.move(86400)
    tomorrow = await setup.admits(daily_tokens=5), await setup.admits(monthly_tokens=5)

    assert (yesterday, today, tomorrow) == ((True, True), (False, False), (True, False))


async def test_the_sums_are_read_again_every_ten_seconds_and_when_in_doubt() -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits(daily_tokens=5)
    await setup.admits(daily_tokens=5)
    setup.days[setup.day] = Spending(1, 5)

    before = await setup.admits(daily_tokens=5), setup.reads
    setup.move(10.5)
    later = await setup.admits(daily_tokens=5), setup.reads
    setup.days.clear()
    setup.limits.forget()
    after = await setup.admits(daily_tokens=5), setup.reads

    assert (before, later, after) == ((True, 1), (False, 2), (True, 3))


async def test_rows_that_wait_to_be_written_are_in_the_sums() -> None:
    setup = KeyLimitsSetup(NOON)
    setup.waiting = [record(setup.day, 5, 0, 0), record("2031-04-30", 7, 0, 0)]

    refused = await setup.refused(daily_tokens=5)
    spent = (await setup.limits.count_of("k")).spent

    assert refused is not None
    assert (spent.today.tokens, spent.month.tokens, spent.ever.tokens) == (5, 5, 12)


async def test_without_a_database_the_last_known_sums_of_the_day_count() -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits()
    setup.finish(5)
    setup.is_down = True
    setup.move(60)

    assert await setup.admits(daily_tokens=6)
    assert not await setup.admits(daily_tokens=5)
    setup.move(12 * 3600)
    with pytest.raises(Unavailable, match="Database temporarily unavailable"):
        await setup.refused(daily_tokens=6)
    setup.is_down = False
    assert await setup.admits(daily_tokens=5)


async def test_a_key_that_was_never_seen_waits_for_the_database() -> None:
    setup = KeyLimitsSetup(NOON)
    setup.is_down = True

    with pytest.raises(Unavailable):
        await setup.limits.admit(key(rpm=1))


async def test_the_use_of_a_key_can_be_looked_at_without_counting() -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits()
    setup.finish(2, 3, 4)

    count = await setup.limits.count_of("k")
    sums = (len(count.requests), count.tokens_sum, count.spent.today)
    setup.move(61)
    later = await setup.limits.count_of("k")

    assert sums == (1, 5, Spending(1, 2, 3, 4))
    assert (len(later.requests), later.tokens_sum, later.spent.today) == (0, 0, sums[2])


async def test_a_key_that_is_only_looked_at_does_not_pile_up_its_calls() -> None:
    setup = KeyLimitsSetup(NOON)
    count = await setup.limits.count_of("k")
    for _ in range(300):
        setup.move(1)
        setup.finish(1)

    assert len(count.tokens) == count.tokens_sum == 60


async def test_calls_that_do_not_count_do_not_count() -> None:
    setup = KeyLimitsSetup(NOON)
    await setup.admits()
    setup.limits.record(record("2031-05-14", 5, 5, None))
    row: Any = SimpleNamespace(api_key_id="k", attempts=0)
    setup.limits.record(row)
    other: Any = SimpleNamespace(api_key_id=None, attempts=1)
    setup.limits.record(other)

    count = await setup.limits.count_of("k")

    assert count.spent.ever == Spending(1, 5, 5, 0, 1, 10)


async def test_a_call_counts_for_the_day_and_month_on_which_it_ended() -> None:
    setup = KeyLimitsSetup(berlin(2031, 6, 2, 0, 0))
    await setup.admits()
    for day in ("2031-05-31", "2031-06-01", "2031-06-02"):
        setup.limits.record(record(day, 1, 0, 0))

    spent = (await setup.limits.count_of("k")).spent

    assert (spent.today.tokens, spent.month.tokens, spent.ever.tokens) == (1, 2, 3)


@pytest.mark.parametrize(
    ("micro", "text"), [(0, "0"), (42, "0.000042"), (1_500_000, "1.5"), (10**6 * 10, "10")]
)
def test_money_is_shown_without_needless_digits(micro: int, text: str) -> None:
    assert dollars(micro) == text


def test_every_windowed_limit_has_a_sentence_of_its_own() -> None:
    sentences = {limit_message(window, 1, 1) for window in WINDOWS}

    assert len(sentences) == len(WINDOWS)
    assert limit_message(DAILY_TOTAL, 2, 1) == "API key daily token limit exceeded (2/1 tokens)"


def test_days_are_those_of_the_zone() -> None:
    late = datetime(2031, 5, 14, 22, 30, tzinfo=UTC)

    assert KeyLimitsSetup(late).limits.today() == "2031-05-15"
    assert KeyLimitsSetup(late, ZoneInfo("America/New_York")).limits.today() == "2031-05-14"
