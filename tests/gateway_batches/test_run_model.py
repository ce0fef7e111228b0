"""A batch through any order of answers, kills, takeovers, cancelling and expiry: a state machine.

The database, the working files and the files of results are real; the pipeline is a function whose
answers the machine gives. A kill leaves a run in the middle of whatever it was doing, also between
the file of settled rows and the transaction that counts them.
"""

import asyncio
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from manual_clock import Clock

from gateway_batches import row_call
from gateway_batches.batch import WINDOW, Batch
from gateway_batches.folder import INPUT, BatchFolder
from gateway_batches.pace import Pace
from gateway_batches.results import Finisher
from gateway_batches.row_call import RowCalls
from gateway_batches.runner import INTERRUPTED, BatchRun, Outcome, RunContext
from gateway_batches.settings import BatchSettings
from gateway_batches.store import BatchStore, Lease, Step
from gateway_batches.whole_response import WholeResponse
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import MEMORY, open_sqlite
from gateway_files.store import LOCAL, FileStore
from gateway_files.unfinished import FileLimits

T = TypeVar("T")
ID = f"batch_{'0' * 24}"
LIMITS = FileLimits(largest=2**40, quota=2**40, most=2**20)
LONGEST = 1024 * 1024
JSON = {"content-type": "application/json"}


class Killed(BaseException):
    """Stands for the end of a process."""


class Ledger:
    """What was recorded."""

    def __init__(self) -> None:
        self.records: list[RequestRecord] = []

    async def settle(self) -> None:
        """Everything is written at once."""

    def record(self, record: RequestRecord) -> None:
        self.records.append(record)


class Store(BatchStore):
    """Is killed ahead of a transaction that settles rows, when the machine says so."""

    is_killed = False
    ledger: Ledger

    async def step(self, lease: Lease, step: Step) -> Any:
        if self.is_killed and step.settled:
            raise Killed
        return await super().step(lease, step)

    async def in_ledger(self, ids: Any, since: int) -> set[str]:
        return {record.request_id for record in self.ledger.records} & set(ids)


class Calls:
    """The pipeline: requests wait for the machine to answer them."""

    def __init__(self, ledger: Ledger) -> None:
        self.waiting: dict[str, asyncio.Future[int]] = {}
        self.sent = list[str]()
        self._ledger = ledger

    async def call(self, batch: Batch, body: bytes, request_id: str) -> WholeResponse:
        self.sent.append(request_id)
        self.waiting[request_id] = asyncio.get_running_loop().create_future()
        try:
            status = await self.waiting[request_id]
        finally:
            del self.waiting[request_id]
        record = RequestRecord(request_id, batch.endpoint, "", 0.0)
        record.attempts = 1
        self._ledger.record(record)
        if status == 0:
            raise ValueError("the pipeline broke")
        return WholeResponse(status, {**JSON, "retry-after": "0"}, b"{}", record)


class BatchMachine(RuleBasedStateMachine):
    """One batch of a few rows."""

    @initialize(total=st.integers(1, 7), at_once=st.integers(1, 3))
    def begin(self, total: int, at_once: int) -> None:
        self.total, self.clock = total, Clock()
        # The wait after a 429 that does not say how long.
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(row_call, "USUAL_WAIT", 0.001)
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.database = self.do(open_sqlite(MEMORY))
        self.do(migrate(self.database, packaged_migrations("sqlite"), time.time))
        self.ledger = Ledger()
        self.store = Store(self.database)
        self.store.ledger = self.ledger
        self.calls = Calls(self.ledger)
        self.files = FileStore(self.folder, lambda: LIMITS, self.clock)
        core = SimpleNamespace(clock=self.clock, max_body=LONGEST, ledger=self.ledger)
        self.context = RunContext(
            core=cast(Collaborators, core),
            store=self.store,
            calls=cast(RowCalls, self.calls),
            pace=Pace(BatchSettings, lambda: 0),
            settings=lambda: BatchSettings(rows_at_once=at_once),
        )
        self.working = BatchFolder(self.folder, ID)
        self.working.make()
        rows = [
            {"custom_id": str(n), "method": "POST", "url": "/v1/chat/completions", "body": {}}
            for n in range(total)
        ]
        (self.working.path / INPUT).write_bytes(
            b"".join(json.dumps(r).encode() + b"\n" for r in rows)
        )
        now = self.clock()
        batch = Batch(
            id=ID,
            surface="completions",
            owner=LOCAL,
            endpoint="/v1/chat/completions",
            total=total,
            created_at=now,
            expires_at=now + WINDOW,
        )
        self.do(self.store.create(batch))
        self.runs: list[tuple[BatchRun, asyncio.Task[Outcome]]] = []
        self.is_cancelled = self.is_expired = self.has_overlapped = False

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @property
    def batch(self) -> Batch:
        batch = self.do(self.store.get(ID))
        assert batch is not None
        return batch

    def settle(self) -> None:
        """Let everything happen that can happen without the machine."""

        async def wait() -> None:
            quiet = 0
            before: Any = None
            while quiet < 4:
                await asyncio.sleep(0.001)
                now = (sorted(self.calls.waiting), [task.done() for _, task in self.runs])
                quiet, before = (quiet + 1 if now == before else 0), now

        self.do(wait())

    @rule()
    def take_over(self) -> None:
        """Another process claims the batch, whether the one before it still lives or not."""
        self.has_overlapped |= any(not task.done() for _, task in self.runs)
        batch = self.batch
        claim = self.store.claim(batch, f"p{batch.generation}", 0.0, 1.0, is_alone=True)
        lease = self.do(claim)
        assert lease is not None
        run = BatchRun(self.context, self.batch, lease, self.working)
        self.runs.append((run, self.loop.create_task(run.run())))
        self.settle()

    @rule(place=st.integers(0, 5), status=st.sampled_from([200, 200, 200, 400, 429, 0]))
    def answer(self, place: int, status: int) -> None:
        # No precondition: threads take their time, and what is drawn must not depend on that.
        if not (waiting := sorted(self.calls.waiting)):
            return
        self.calls.waiting[waiting[place % len(waiting)]].set_result(status)
        self.settle()

    @rule(place=st.integers(0, 5), status=st.sampled_from([200, 400]))
    def kill_between_file_and_transaction(self, place: int, status: int) -> None:
        self.store.is_killed = True
        self.answer(place, status)
        self.store.is_killed = False
        self.kill()

    @rule()
    def kill(self) -> None:
        for _, task in self.runs:
            task.cancel()
        self.join()

    def join(self) -> None:
        async def gather() -> None:
            await asyncio.gather(*(task for _, task in self.runs), return_exceptions=True)

        with suppress(Killed):
            self.do(gather())
        self.runs = []

    @rule()
    def cancel(self) -> None:
        self.do(self.store.cancel(ID, self.clock()))
        self.is_cancelled = True
        self.wake()

    @rule()
    def expire(self) -> None:
        self.clock.move(WINDOW)
        self.is_expired = True
        self.wake()

    def wake(self) -> None:
        for run, _ in self.runs:
            run.wake()
        self.settle()

    @invariant()
    def counts_are_those_of_the_lines(self) -> None:
        # Threads take their time: what is compared has to be of one moment.
        batch, before = self.batch, None
        while batch != before:
            parts = [(part.generation, part.length) for part in self.do(self.store.parts(ID))]
            before, batch = batch, self.batch
        lines = [json.loads(line) for line in self.working.settled(parts)]
        assert batch.completed + batch.failed <= self.total
        assert len({line["id"] for line in lines}) == len(lines)
        assert len(lines) == batch.completed + batch.failed
        good = [line for line in lines if (line["response"] or {}).get("status_code") == 200]
        assert len(good) == batch.completed

    @invariant()
    def no_request_is_sent_twice(self) -> None:
        assert max(Counter(self.calls.sent).values(), default=1) == 1

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        try:
            self.finish()
        finally:
            self.kill()
            self.do(self.database.close())
            self.loop.close()
            self.patch.undo()
            shutil.rmtree(self.folder)

    def finish(self) -> None:
        """Run the batch to its end in one more process."""
        self.kill()
        self.take_over()
        ((run, task),) = self.runs
        while not task.done():
            for waiting in list(self.calls.waiting.values()):
                waiting.set_result(200)
            self.settle()
        outcome = self.do(_result(task))
        finisher = Finisher(self.store, self.files, run.lease, self.working, LONGEST)
        self.check_end(self.do(finisher.finish(outcome, self.clock())))

    def check_end(self, ended: Batch) -> None:
        lines = [*self.lines_of(ended.output_file_id), *self.lines_of(ended.error_file_id)]
        assert Counter(line["custom_id"] for line in lines) == {
            str(n): 1 for n in range(self.total)
        }
        allowed = {"completed", "failed"}
        allowed |= {"cancelled"} if self.is_cancelled else set()
        allowed |= {"expired"} if self.is_expired else set()
        assert ended.status in allowed
        if ended.status in ("completed", "failed"):
            assert ended.completed + ended.failed == self.total
        # Every request that was sent is in the ledger: with its answer, or marked.
        known = Counter(record.request_id for record in self.ledger.records)
        if ended.status in ("completed", "failed"):
            assert set(self.calls.sent) <= set(known)
        answered = {r.request_id for r in self.ledger.records if r.error_code != INTERRUPTED}
        marked = {r.request_id for r in self.ledger.records if r.error_code == INTERRUPTED}
        # A process that was taken for dead may still account for what was marked in its place.
        if not self.has_overlapped:
            assert not answered & marked
            assert max(known.values(), default=1) == 1

    def lines_of(self, file_id: str | None) -> list[Mapping[str, Any]]:
        record = self.files.find(LOCAL, file_id) if file_id else None
        if record is None:
            return []
        return [json.loads(line) for line in self.files.path(record).read_text().splitlines()]


async def _result(task: Awaitable[T]) -> T:
    return await task


TestBatch = BatchMachine.TestCase
TestBatch.settings = settings(max_examples=30, stateful_step_count=14, deadline=None)


def test_a_line_of_an_earlier_try_does_not_hide_the_last_one() -> None:
    machine = BatchMachine()
    machine.begin(total=1, at_once=1)
    machine.take_over()
    machine.take_over()
    first, second = machine.calls.sent

    # The process that was taken for dead is answered, and appends a line that does not count.
    machine.calls.waiting[first].set_result(200)
    machine.settle()
    machine.teardown()

    known = {record.request_id: record.error_code for record in machine.ledger.records}
    assert known[second] == INTERRUPTED
