"""Which batches this process runs: it takes leases, keeps them, and gives them back.

```text
look ──▶ claim ──▶ BatchRun.run ──▶ Finisher.finish ──▶ over
  ▲                     │ a full disk, a database that is not there
  └───── release ◀──────┘
```

Of several processes on one database the one that claims a batch first runs it. It renews its lease
as long as it lives; the lease of a process that is gone runs out, and another one goes on.
"""

import asyncio
import logging
from contextlib import suppress
from secrets import token_hex

from gateway_core.storage.errors import StorageFull, StorageUnavailable
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.journal import recover
from gateway_files.kept_elsewhere import AnyStore

from .batch import Batch, BatchError
from .folder import BatchFolder, remove_folders
from .results import Finisher
from .runner import BatchRun, RunContext
from .store import Lease, LeaseLost

LEASE = 10.0
"""Seconds for which a lease is good."""
LOOK_AFTER = 2.0
"""Seconds between two looks for batches to run, and between two renewals."""
CLEAN_AFTER = 3600.0
AGAIN_AFTER = 5.0
"""Seconds after which a batch that the disk or the database stopped is tried again."""
GRACE = 3.0
"""Seconds that rows under way get when the gateway stops."""
DAY = 24 * 3600.0

log = logging.getLogger(__name__)


class Scheduler:
    """Runs batches in this process, until ``close``."""

    def __init__(self, context: RunContext, files: AnyStore) -> None:
        self._context, self._files = context, files
        self._name = token_hex(8)
        self._wake = asyncio.Event()
        self._runs: dict[str, BatchRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._pausing: dict[str, float] = {}
        """Batches that were stopped, and when they are tried again."""
        self._cleaned_at = float("-inf")
        self._is_closing = False
        self._trouble = FailureLog(log, "Looking for batches", "Those that wait go on waiting.")

    def wake(self, batch_id: str | None = None) -> None:
        """There is a new batch, or something has changed about this one."""
        run = self._runs.get(batch_id or "")
        if run is not None:
            run.wake()
        self._wake.set()

    async def run(self) -> None:
        """Look for batches until the task is cancelled."""
        while True:
            self._wake.clear()
            try:
                await self._look()
            except Exception as error:
                self._trouble.met(error)
            else:
                self._trouble.over()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AFTER):
                    await self._wake.wait()

    async def close(self) -> None:
        """Stop in order: rows under way get a moment to end, and others can go on at once."""
        self._is_closing = True
        for run in self._runs.values():
            run.close()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        core, store = self._context.core, self._context.store
        now = core.clock()
        if self._tasks:
            await store.renew(self._name, now + LEASE)
        is_alone = not core.shares_database
        for batch in await store.waiting(now, self._name, is_alone=is_alone):
            # What only has to be ended does not wait for a place.
            is_urgent = batch.status == "cancelling" or now >= batch.expires_at
            is_full = len(self._tasks) >= self._context.settings().batches_at_once
            if self._pausing.get(batch.id, now) > now or (is_full and not is_urgent):
                continue
            self._pausing.pop(batch.id, None)
            if not BatchFolder(core.environment.files_path, batch.id).is_here():
                continue  # Gateways on one database need not share a disk.
            if batch.id not in self._tasks and not self._is_closing:
                await self._begin(batch, now, is_alone=is_alone)
        if abs(now - self._cleaned_at) >= CLEAN_AFTER:
            self._cleaned_at = now
            await self._clean(now)

    async def _begin(self, batch: Batch, now: float, *, is_alone: bool) -> None:
        context = self._context
        lease = await context.store.claim(batch, self._name, now, now + LEASE, is_alone=is_alone)
        # Its runner may have gone on until the lease was taken from it.
        current = await context.store.get(batch.id) if lease is not None else None
        if lease is None or current is None:
            return
        if batch.runner and not is_alone:
            # Its process is gone: what it has journaled belongs to the ledger first.
            await recover(context.core.data_dir.journal, context.core.stores.usage)
        folder = BatchFolder(context.core.environment.files_path, batch.id)
        run = self._runs[batch.id] = BatchRun(context, current, lease, folder)
        task = self._tasks[batch.id] = asyncio.create_task(self._serve(run))
        task.add_done_callback(lambda _: self._forget(batch.id))

    def _forget(self, batch_id: str) -> None:
        del self._tasks[batch_id], self._runs[batch_id]
        self._wake.set()

    async def _serve(self, run: BatchRun) -> None:
        """Run a batch to its end, or give it back."""
        context, lease = self._context, run.lease
        try:
            outcome = await run.run()
            if outcome == "left":
                await context.store.release(lease)
            elif outcome != "failed":
                await self._finisher(run).finish(outcome, context.core.clock())
        except LeaseLost:
            log.warning("batch %s is run by another process now", lease.batch_id)
        except asyncio.CancelledError:
            with suppress(Exception):
                await context.store.release(lease)
            raise
        except FileNotFoundError as error:  # What is gone does not come back.
            log.exception("batch %s failed", lease.batch_id)
            await self._fail(run, error)
        except (StorageFull, StorageUnavailable, OSError) as error:
            log.error("batch %s has to wait: %s", lease.batch_id, error or type(error).__name__)
            await self._give_back(lease)
        except Exception as error:
            log.exception("batch %s failed", lease.batch_id)
            await self._fail(run, error)

    async def _give_back(self, lease: Lease) -> None:
        self._pausing[lease.batch_id] = self._context.core.clock() + AGAIN_AFTER
        with suppress(Exception):  # Its lease runs out, if the database does not take this.
            await self._context.store.release(lease)

    async def _fail(self, run: BatchRun, error: Exception) -> None:
        """End a batch whose runner is broken, with the answers that it has."""
        shown = BatchError(f"The batch could not be run: {type(error).__name__}")
        try:
            await self._finisher(run).fail(shown, self._context.core.clock())
        except LeaseLost:
            return
        except Exception:
            log.exception("batch %s could not be ended", run.batch.id)
            await self._give_back(run.lease)

    def _finisher(self, run: BatchRun) -> Finisher:
        longest = self._context.core.max_body
        return Finisher(self._context.store, self._files, run.lease, run.folder, longest)

    async def _clean(self, now: float) -> None:
        """Remove batches that ended long ago, and folders without a batch."""
        store, place = self._context.store, self._context.core.environment.files_path
        before = now - self._context.settings().kept_days * DAY
        while await store.remove_ended(before):
            continue
        known = await store.with_files()
        await asyncio.to_thread(remove_folders, place, known, CLEAN_AFTER)
