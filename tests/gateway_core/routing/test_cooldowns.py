"""Rests grow, end, are noted, and survive a restart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import Clock, account

from gateway_core import AccountRest, AccountScore, UpstreamError
from gateway_core.config.environment import Environment
from gateway_core.routing.cooldowns import EVERY_MODEL, LONGEST, MOST_SCORES, Cooldowns, moment
from gateway_core.routing.failure_rules import SEVEN_DAYS, FailureClass
from gateway_core.storage.moments import iso

GROWING = FailureClass(True, backoff=True)
CROWDED = UpstreamError("Too many requests", status=429)
BROKEN = UpstreamError("Oops", status=500)


def a_health(clock: Clock, **backoff: int) -> Cooldowns:
    return Cooldowns(Environment(**backoff), clock)


def left(health: Cooldowns, clock: Clock, model: str = "m") -> float:
    """Seconds that account ``a`` still rests for a model."""
    rest = health.find("a", model)
    return 0.0 if rest is None else rest.until - clock.now


@given(base=st.integers(1, 10_000), most=st.integers(10_000, 1_000_000), top=st.integers(1, 20))
def test_a_growing_rest_doubles_up_to_its_limits(base: int, most: int, top: int) -> None:
    clock = Clock()
    health = a_health(clock, backoff_base_ms=base, backoff_max_ms=most, backoff_max_level=top)

    for failure in range(1, 25):
        health.record_failure("a", "m", CROWDED, GROWING)
        expected = min(base * 2 ** (min(failure, top) - 1), most) / 1000
        assert left(health, clock) == pytest.approx(expected, abs=1e-3)
        clock.now += expected + 0.01
        assert health.find("a", "m") is None


def test_a_rest_may_double_more_often_than_a_float_can() -> None:
    clock = Clock()
    health = a_health(clock, backoff_max_level=5000)

    for _ in range(1500):
        health.record_failure("a", "m", CROWDED, GROWING)

    assert left(health, clock) == 300


def test_an_answer_lets_the_level_fall_to_the_beginning() -> None:
    clock = Clock()
    health = a_health(clock)
    for _ in range(5):
        health.record_failure("a", "m", CROWDED, GROWING)

    health.record_success("a", "m")
    health.record_failure("a", "m", CROWDED, GROWING)

    assert left(health, clock) == 2


def test_a_rest_is_for_one_model_or_for_all() -> None:
    clock = Clock()
    health = a_health(clock)

    health.record_failure("a", "m", BROKEN, FailureClass(True, 30.0))
    assert (left(health, clock), left(health, clock, "other")) == (30, 0)
    health.record_failure("a", "m", BROKEN, FailureClass(True, 120.0, whole_account=True))
    assert (left(health, clock), left(health, clock, "other")) == (120, 120)
    assert health.find("b", "m") is None


def test_a_late_failure_does_not_shorten_a_rest_or_forget_its_level() -> None:
    clock = Clock()
    health = a_health(clock)
    health.record_failure("a", "m", CROWDED, FailureClass(True, SEVEN_DAYS))
    for _ in range(3):
        health.record_failure("a", "m", CROWDED, GROWING)

    health.record_failure("a", "m", BROKEN, FailureClass(True, 30.0))

    assert left(health, clock) == SEVEN_DAYS
    assert health.take_changes()["a"]["backoffLevel"] == 3


def test_a_verdict_without_a_cooldown_lets_nobody_rest() -> None:
    clock = Clock()
    health = a_health(clock)

    health.record_failure("a", "m", BROKEN, FailureClass(True, 0.0))

    assert health.find("a", "m") is None
    assert health.take_changes() == {}


def test_a_cooldown_that_no_date_can_hold_is_cut() -> None:
    clock = Clock()
    health = a_health(clock)

    health.record_failure("a", "m", BROKEN, FailureClass(True, 1e18))

    assert left(health, clock) == LONGEST


def test_a_failure_is_noted_and_an_answer_takes_the_note_back() -> None:
    clock = Clock()
    health = a_health(clock)

    health.record_failure("a", "m", CROWDED, GROWING)
    assert health.take_changes() == {
        "a": {
            "modelLock_m": iso(clock.now + 2),
            "testStatus": "unavailable",
            "lastError": "Too many requests",
            "lastErrorAt": iso(clock.now),
            "errorCode": 429,
            "backoffLevel": 1,
        }
    }
    assert health.take_changes() == {}
    health.record_success("a", "m")
    assert health.take_changes() == {
        "a": {"modelLock_m": None, "testStatus": "active", "backoffLevel": 0}
    }
    health.record_success("a", "m")
    assert health.take_changes() == {}


def test_an_account_is_well_again_once_it_answers_after_a_rest_for_every_model() -> None:
    clock = Clock()
    health = a_health(clock)
    health.record_failure("a", "m", BROKEN, FailureClass(True, 120.0, whole_account=True))
    health.take_changes()
    clock.now += 121

    health.record_success("a", "m")

    assert health.take_changes()["a"] == {
        "modelLock___all": None,
        "testStatus": "active",
        "backoffLevel": 0,
    }


def test_an_answer_leaves_rests_of_other_models_that_are_not_over() -> None:
    clock = Clock()
    health = a_health(clock)
    health.record_failure("a", "m", BROKEN, FailureClass(True, 30.0))
    health.record_failure("a", "other", BROKEN, FailureClass(True, 30.0))
    health.take_changes()

    health.record_success("a", "m")

    assert left(health, clock, "other") == 30
    assert health.take_changes()["a"] == {"modelLock_m": None}


def test_rests_survive_a_restart() -> None:
    clock = Clock()
    before, after = a_health(clock), a_health(clock)
    for _ in range(3):
        before.record_failure("a", "m", CROWDED, GROWING)
    before.record_failure("b", "m", BROKEN, FailureClass(True, 120.0, whole_account=True))
    notes = before.take_changes()

    after.recall(account(id, state=notes[id]) for id in ("a", "b"))

    found = after.find("a", "m")
    assert found is not None
    assert (found.until - clock.now, found.level, found.status) == (8, 3, 429)
    assert found.reason == "Too many requests"
    assert after.find("b", "anything") is not None
    clock.now += 8
    after.record_failure("a", "m", CROWDED, GROWING)
    assert left(after, clock) == 16


@pytest.mark.parametrize("value", [None, 7, "soon", "2001-01-01T00:00:00Z", "0001-01-01"], ids=str)
def test_a_rest_that_is_over_or_makes_no_sense_is_not_recalled(value: Any) -> None:
    health = a_health(Clock())

    health.recall([account("a", state={"modelLock_m": value, "backoffLevel": "high"})])

    assert health.all_active() == []


def test_rests_end_by_hand() -> None:
    clock = Clock()
    health = a_health(clock)
    for id, model in (("a", "m"), ("a", "n"), ("b", "m")):
        health.record_failure(id, model, BROKEN, FailureClass(True, 30.0))
    health.take_changes()

    health.clear(["a"], "m")
    assert [(id, model) for id, model, _ in health.all_active()] == [("a", "n"), ("b", "m")]
    health.clear(["a", "b"], EVERY_MODEL)
    assert health.all_active() == []
    assert health.take_changes()["b"] == {
        "modelLock_m": None,
        "testStatus": "active",
        "backoffLevel": 0,
    }


@given(st.lists(st.booleans(), max_size=60))
def test_a_score_stays_between_0_and_100(answers: list[bool]) -> None:
    health = a_health(Clock())

    for answered in answers:
        if answered:
            health.record_success("a", "m")
        else:
            health.record_failure("a", "m", BROKEN, FailureClass(True, 1.0))
        assert 0 <= health.score("a", "m") <= 100
    assert health.score("b", "m") == 100


def test_a_change_of_a_score_is_published_and_a_healthy_account_publishes_nothing() -> None:
    published = list[AccountRest | AccountScore]()
    health = Cooldowns(Environment(), Clock(), published.append)

    health.record_success("a", "m")
    health.record_failure("a", "m", BROKEN, FailureClass(True))
    for _ in range(4):
        health.record_success("a", "m")

    assert published == [
        AccountScore("a", "m", 75.0, -25.0),
        AccountScore("a", "m", 85.0, 10.0),
        AccountScore("a", "m", 95.0, 10.0),
        AccountScore("a", "m", 100.0, 5.0),
    ]


def test_the_score_of_others_counts_here_and_is_not_published_again() -> None:
    published = list[AccountRest | AccountScore]()
    health = Cooldowns(Environment(), Clock(), published.append)

    health.adopt(AccountScore("a", "m", 50.0))

    assert (health.score("a", "m"), published) == (50.0, [])
    assert health.find("a", "m") is None
    health.record_success("a", "m")
    assert published == [AccountScore("a", "m", 60.0, 10.0)]


def test_scores_of_names_that_clients_made_up_take_bounded_room() -> None:
    health = a_health(Clock())

    for number in range(MOST_SCORES + 1):
        health.record_failure("a", f"m-{number}", BROKEN, FailureClass(True))

    assert health.score("a", "m-0") == 100
    assert health.score("a", "m-1") == health.score("a", f"m-{MOST_SCORES}") == 75


@given(st.floats(0, 4e9))
def test_a_noted_moment_is_read_back(seconds: float) -> None:
    assert moment(iso(seconds)) == pytest.approx(seconds, abs=0.001)
