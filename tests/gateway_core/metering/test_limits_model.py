"""Limits against a list of what happened, through any order of calls, time and clock steps."""

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from key_limits_setup import NOON, KeyLimitsSetup, berlin, key

from gateway_core.contracts.errors import GatewayError, LimitExceeded


class KeptLimits(RuleBasedStateMachine):
    """Calls, time and jumps of the wall clock against a list of what happened."""

    @initialize(
        rpm=st.integers(1, 4),
        tpm=st.integers(1, 40),
        daily=st.integers(1, 60),
        monthly=st.integers(1, 90),
        start=st.sampled_from(
            [NOON, berlin(2031, 3, 29, 23), berlin(2031, 10, 25, 23), berlin(2031, 12, 31, 23)]
        ),
    )
    def begin(self, rpm: int, tpm: int, daily: int, monthly: int, start: datetime) -> None:
        self.admin = KeyLimitsSetup(start)
        self.key = key(rpm=rpm, tpm=tpm, daily_tokens=daily, monthly_tokens=monthly)
        self.let_in: list[float] = []
        self.used: list[tuple[float, str, int]] = []

    @rule(calls=st.integers(1, 4))
    def call(self, calls: int) -> None:
        for _ in range(calls):
            wanted = self.allowed()
            with reported() as refused:
                run(self.admin.limits.admit(self.key))
            assert (not refused) is wanted
            if wanted:
                self.let_in.append(self.admin.steady.now)
            elif refused[0].retry_after is not None:
                assert refused[0].retry_after > 0

    @rule(tokens=st.integers(0, 30))
    def finish(self, tokens: int) -> None:
        run(self.admin.limits.count_of("k"))
        self.admin.finish(tokens)
        self.used.append((self.admin.steady.now, self.admin.day, tokens))

    @rule(seconds=st.sampled_from([0.5, 7, 30, 59, 60, 1800, 3600, 43200]))
    def wait(self, seconds: float) -> None:
        self.admin.move(seconds)

    @rule(step=st.sampled_from([-3600, 3600, 86400, -86400]))
    def step(self, step: float) -> None:
        self.admin.wall.move(step)

    @invariant()
    def resets_lie_ahead(self) -> None:
        for span in ("today", "month"):
            left = self.admin.limits.resets_at(span) - self.admin.wall.now  # type: ignore[arg-type]
            assert 0 < left <= timedelta(days=31, hours=2).total_seconds()

    def allowed(self) -> bool:
        now, day, policy = self.admin.steady.now, self.admin.day, self.key.policy
        minute = [tokens for at, _, tokens in self.used if at > now - 60]
        today = [tokens for _, other, tokens in self.used if other == day]
        month = [tokens for _, other, tokens in self.used if other[:7] == day[:7]]
        assert policy.rpm is not None
        assert policy.tpm is not None
        assert policy.daily_tokens is not None
        assert policy.monthly_tokens is not None
        return (
            len([at for at in self.let_in if at > now - 60]) < policy.rpm
            and sum(minute) < policy.tpm
            and sum(today) < policy.daily_tokens
            and sum(month) < policy.monthly_tokens
        )


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Nothing in here waits for anything, so no loop is needed."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


@contextmanager
def reported() -> Iterator[list[GatewayError]]:
    """Collects a refusal."""
    found: list[GatewayError] = []
    try:
        yield found
    except LimitExceeded as error:
        found.append(error)


TestKeptLimits = KeptLimits.TestCase
KeptLimits.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
