"""The lockout: its schedule, its room, and that it does what a simple model of it does."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from gateway_dashboard_api.login.lockout import (
    FAILURES,
    QUIET,
    STEPS,
    LockedOut,
    Lockout,
    LoginAttempt,
    bucket,
)

HERE = "203.0.113.7"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lockout(clock: Clock) -> Lockout:
    return Lockout(clock)


def fail(lockout: Lockout, times: int = FAILURES, address: str = HERE) -> list[int]:
    return [lockout.begin(address).left for _ in range(times)]


def wait_of(lockout: Lockout, address: str = HERE) -> float | None:
    with pytest.raises(LockedOut) as refused:
        lockout.begin(address)
    return refused.value.retry_after


def test_five_failures_lock_and_each_says_what_is_left(lockout: Lockout) -> None:
    assert fail(lockout) == [4, 3, 2, 1, 0]
    assert wait_of(lockout) == 30


def test_locks_grow_to_half_an_hour_and_stay_there(lockout: Lockout, clock: Clock) -> None:
    waits = []
    for _ in range(6):
        fail(lockout)
        waits.append(wait_of(lockout))
        clock.now += waits[-1] or 0

    assert waits == [30, 120, 600, 1800, 1800, 1800]


def test_waiting_is_told_in_whole_seconds_and_never_as_none(lockout: Lockout, clock: Clock) -> None:
    fail(lockout)
    clock.now += 29.999

    assert wait_of(lockout) == 1


def test_a_refused_attempt_makes_nothing_longer(lockout: Lockout, clock: Clock) -> None:
    fail(lockout)
    clock.now += 20
    wait_of(lockout)
    clock.now += 10

    assert lockout.begin(HERE).left == 4


def test_a_quiet_hour_forgets_the_steps(lockout: Lockout, clock: Clock) -> None:
    fail(lockout)
    clock.now += QUIET

    fail(lockout)

    assert wait_of(lockout) == 30


def test_less_than_an_hour_forgets_nothing(lockout: Lockout, clock: Clock) -> None:
    fail(lockout, 4)
    clock.now += QUIET - 1

    assert lockout.begin(HERE).left == 0


def test_success_forgets_the_address(lockout: Lockout) -> None:
    fail(lockout, 4)

    lockout.succeed(lockout.begin(HERE))

    assert len(lockout) == 0
    assert lockout.begin(HERE).left == 4


def test_guesses_made_together_count_before_any_is_judged(lockout: Lockout) -> None:
    begun = fail(lockout)

    assert len(begun) == FAILURES
    assert wait_of(lockout) == 30


def test_a_withdrawn_attempt_never_was(lockout: Lockout) -> None:
    fail(lockout, 2)

    lockout.withdraw(lockout.begin(HERE))

    assert lockout.begin(HERE).left == 2


def test_withdrawing_the_one_that_locked_unlocks(lockout: Lockout) -> None:
    fail(lockout, 4)

    lockout.withdraw(lockout.begin(HERE))

    assert lockout.begin(HERE).left == 0
    assert wait_of(lockout) == 30


def test_addresses_are_apart_and_a_customers_ipv6_network_is_one(lockout: Lockout) -> None:
    fail(lockout, address="2001:db8:1:2::1")

    assert wait_of(lockout, "2001:db8:1:2:ffff::9") == 30
    assert lockout.begin("2001:db8:1:3::1").left == 4
    assert lockout.begin(HERE).left == 4
    assert bucket("invalid") == "invalid"


def test_a_full_table_forgets_the_longest_quiet_but_nobody_locked(clock: Clock) -> None:
    lockout = Lockout(clock, most=2)
    fail(lockout, address="10.0.0.1")
    fail(lockout, 3, address="10.0.0.2")

    assert lockout.begin("10.0.0.3").left == 4
    assert wait_of(lockout, "10.0.0.1") == 30
    assert lockout.begin("10.0.0.2").left == 4


def test_a_table_full_of_the_locked_refuses_strangers(clock: Clock) -> None:
    lockout = Lockout(clock, most=2)
    fail(lockout, address="10.0.0.1")
    clock.now += 10
    fail(lockout, address="10.0.0.2")

    assert wait_of(lockout, "10.0.0.3") == 20
    clock.now += 20
    assert lockout.begin("10.0.0.3").left == 4


def test_how_an_address_stands_is_taken_over(lockout: Lockout, clock: Clock) -> None:
    other = Lockout(clock)
    fail(other, FAILURES)
    fail(lockout, 3)

    lockout.adopt(HERE, other.standing(HERE))

    assert wait_of(lockout) == 30
    clock.now += 30
    assert fail(lockout, 2) == [4, 3]
    other.adopt(HERE, lockout.standing(HERE))
    assert fail(other, 3) == [2, 1, 0]
    assert wait_of(other) == 120


def test_what_is_forgotten_elsewhere_is_forgotten(lockout: Lockout) -> None:
    fail(lockout)
    assert lockout.standing(HERE) is not None

    lockout.adopt(HERE, None)

    assert lockout.standing(HERE) is None
    assert lockout.begin(HERE).left == 4


def test_a_lock_of_an_hour_ago_is_not_taken_over(lockout: Lockout, clock: Clock) -> None:
    other = Lockout(clock)
    fail(other)
    clock.now += QUIET

    lockout.adopt(HERE, other.standing(HERE))

    assert lockout.standing(HERE) is None
    assert fail(lockout, 1) == [4]


class Story:
    """All that happened at one address, kept as a list."""

    def __init__(self) -> None:
        self.failures: list[float] = []

    def lock(self, now: float) -> float:
        """Seconds that are left of a lock; nothing is left of an hour in which nothing happened."""
        recent = self.recent(now)
        full, rest = divmod(len(recent), FAILURES)
        if rest or not full:
            return 0.0
        return max(0.0, recent[-1] + STEPS[min(full, len(STEPS)) - 1] - now)

    def recent(self, now: float) -> list[float]:
        if self.failures and now - self.failures[-1] >= QUIET:
            self.failures = []
        return self.failures


class LockoutMachine(RuleBasedStateMachine):
    """The table beside one story for each address."""

    open_attempts = Bundle("open_attempts")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.lockout = Lockout(self.clock)
        self.stories: dict[str, Story] = {}

    @rule(target=open_attempts, address=st.sampled_from(["10.0.0.1", "10.0.0.2", "::1"]))
    def attempt(self, address: str) -> LoginAttempt | None:
        story = self.stories.setdefault(bucket(address), Story())
        left = story.lock(self.clock.now)
        if left > 0:
            with pytest.raises(LockedOut) as refused:
                self.lockout.begin(address)
            assert refused.value.retry_after is not None
            assert 0 <= refused.value.retry_after - left < 1 or refused.value.retry_after == 1
            return None
        story.recent(self.clock.now).append(self.clock.now)
        begun = self.lockout.begin(address)
        assert begun.left == (FAILURES - len(story.failures)) % FAILURES
        return begun

    @rule(attempt=open_attempts)
    def succeed(self, attempt: LoginAttempt | None) -> None:
        if attempt is not None:
            self.lockout.succeed(attempt)
            self.stories.pop(attempt.address, None)

    @rule(seconds=st.sampled_from([0.5, 29.0, 30.0, 120.0, 599.0, 1800.0, QUIET]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def nobody_is_forgotten_before_time(self) -> None:
        kept = [story for story in self.stories.values() if story.recent(self.clock.now)]

        assert len(self.lockout) >= len(kept)


TestLockoutMachine = LockoutMachine.TestCase
