"""Reservations of two processes through any order of calls, ends, deaths and time."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from manual_clock import Clock

from gateway_core.contracts.errors import LimitExceeded
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores.key_usage import Spending, additions
from gateway_groups.group import Group
from gateway_groups.reservations import Reservations
from gateway_groups.settings import KeyGroup

DAY = "2031-05-05"
CAP = 100
"""Millionths of a dollar in the group's lifetime."""


class Process:
    """One process: its reservations, the rows that its ledger has still to write, its calls."""

    def __init__(self, database: Any, clock: Clock) -> None:
        self.waiting: list[int] = []
        self.calls: dict[str, tuple[RequestRecord, int]] = {}
        self._database = database
        limits = SimpleNamespace(today=lambda: DAY, resets_at=lambda span: clock() + 60)
        core = SimpleNamespace(
            clock=clock,
            stores=SimpleNamespace(database=database),
            ledger=SimpleNamespace(flush=self.flush),
            limits=limits,
        )
        self.reservations = Reservations(cast(Collaborators, core))

    async def flush(self) -> None:
        rows = [("k", DAY, Spending(1, 0, 0, cost)) for cost in self.waiting]
        if rows:
            await self._database.write_all(additions(rows))
        self.waiting.clear()


class KeptBound(RuleBasedStateMachine):
    """What was used, and what calls that live may still use, is never more than the limit."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.clock = Clock(1_900_000_000.0)
        self.number = self.spent = 0
        self.group = Group(KeyGroup(name="g", keys=("k",), reserve=True, max_cost_usd=CAP / 1e6))
        self.runner.run(self._open())
        self.processes = [Process(self.database, self.clock) for _ in range(2)]

    async def _open(self) -> None:
        self.database = await open_sqlite(":memory:")
        await migrate(self.database, packaged_migrations("sqlite"), self.clock)
        await self.database.execute(
            "INSERT INTO api_keys (id, name, machine_id, digest, secret, is_active, "
            "allowed_combos, policy, created_at, updated_at, version) "
            "VALUES ('k', 'k', 'm', 'd', 's', 1, '[]', '{}', '', '', 1)"
        )

    @rule(at=st.integers(0, 1), most=st.integers(1, 60))
    def call(self, at: int, most: int) -> None:
        self.number += 1
        record = RequestRecord(f"r{self.number}", "/v1/x", "openai", self.clock())
        free = CAP - self.spent - self.held()
        try:
            self.runner.run(
                self.processes[at].reservations.reserve(self.group, record, Spending(1, 0, 0, most))
            )
        except LimitExceeded:
            record.is_recorded = True
            # Other processes settle within a second: until then a call counts with its most.
            assert most > free - self.unsettled()
        else:
            assert most <= free
            self.processes[at].calls[record.request_id] = record, most

    @rule(at=st.integers(0, 1), share=st.floats(0, 1))
    def end(self, at: int, share: float) -> None:
        process = self.processes[at]
        if not process.calls:
            return
        record, most = process.calls.pop(next(iter(process.calls)))
        cost = int(most * share)
        record.is_recorded = True
        process.waiting.append(cost)
        self.spent += cost

    @rule(at=st.integers(0, 1))
    def tend(self, at: int) -> None:
        self.runner.run(self.processes[at].reservations.tend())

    @rule(at=st.integers(0, 1))
    def die(self, at: int) -> None:
        """The rows of calls that ended are in the journal, which the next start reads."""
        process = self.processes[at]
        self.runner.run(process.flush())
        self.processes[at] = Process(self.database, self.clock)

    @rule(seconds=st.sampled_from([1, 14, 16, 40, 61]))
    def wait(self, seconds: int) -> None:
        """Processes that live renew what they hold every 15 seconds."""
        for _ in range(seconds):
            self.clock.move(1)
            for process in self.processes:
                self.runner.run(process.reservations.tend())

    @precondition(lambda self: hasattr(self, "processes"))
    @invariant()
    def the_limit_holds(self) -> None:
        live = sum(most for each in self.processes for _, most in each.calls.values())
        assert self.spent + live <= CAP

    def held(self) -> int:
        """What calls that live may still use."""
        return sum(most for each in self.processes for _, most in each.calls.values())

    def unsettled(self) -> int:
        """What reservations hold for calls that are over, or whose process is gone."""
        rows = self.runner.run(
            self.database.fetch(
                "SELECT COALESCE(sum(cost), 0) AS held FROM group_reservations WHERE until > :now",
                now=self.clock(),
            )
        )
        extra: int = rows[0]["held"] - self.held()
        return extra

    def teardown(self) -> None:
        if not hasattr(self, "processes"):
            return
        # Nothing is held for good: everything ends, and the time of the dead is over.
        for process in self.processes:
            for record, _ in process.calls.values():
                record.is_recorded = True
            process.calls.clear()
        self.wait(61)
        record = RequestRecord("last", "/v1/x", "openai", self.clock())
        if self.spent < CAP:
            all_left = Spending(1, 0, 0, CAP - self.spent)
            self.runner.run(self.processes[0].reservations.reserve(self.group, record, all_left))
        self.runner.run(self.database.close())
        self.runner.close()


KeptBound.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
test_the_bound_is_kept = KeptBound.TestCase
