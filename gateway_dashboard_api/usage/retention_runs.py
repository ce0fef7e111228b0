"""Deleting old usage, on request and once a day."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Literal

import msgspec
from msgspec import Struct

from gateway_administration.stores.leases import LeaseStore
from gateway_administration.stores.request_details import KeptRequestDetails
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.moments import iso, local_day, seconds
from gateway_core.storage.stores import Stores
from gateway_core.storage.stores.usage import UsageFilter

from .ledger.reports import UsageReports

DAY = 24 * 3600
CHECK_EVERY = 600.0
"""Seconds between two checks whether a run is due."""
LEASE = CHECK_EVERY / 2
"""Seconds for which no other process on the database begins a run of its own."""
SCOPE = "retention"
_LAST = "lastRun"
FAILED = "could not be deleted"
log = logging.getLogger(__name__)
Trigger = Literal["manual", "scheduled"]


class DeletedRows(Struct, frozen=True, kw_only=True, rename="camel"):
    usage: int = 0
    request_details: int = 0
    timeline: int = 0
    quota_snapshots: int = 0


class Run(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one run did. Times are UTC ISO text; everything before ``cutoff`` is gone."""

    ran_at: str
    trigger: Trigger
    days: int
    cutoff: str
    deleted: DeletedRows = msgspec.field(default_factory=DeletedRows)
    errors: tuple[str, ...] = ()


async def last_run(stores: Stores) -> Run | None:
    stored = await stores.kv.get(SCOPE, _LAST)
    return None if stored is None else msgspec.convert(stored, Run)


async def run(core: Collaborators, days: int, trigger: Trigger) -> Run:
    """Delete calls that ended more than ``days`` days ago, and store a record of the run."""
    stores, now = core.stores, core.clock()
    moment = now - days * DAY
    cutoff, errors = iso(moment), list[str]()
    until = UsageFilter(until=cutoff)
    last_day = local_day(moment).isoformat()
    reports = UsageReports(stores.database, stores.usage)
    usage = await _attempt("usage", reports.delete(until, "", last_day), errors)
    kept = KeptRequestDetails(stores.database)
    details = await _attempt("request details", kept.delete(until=cutoff), errors)
    core.limits.forget()
    done = Run(
        ran_at=iso(now),
        trigger=trigger,
        days=days,
        cutoff=cutoff,
        deleted=DeletedRows(usage=usage, request_details=details),
        errors=tuple(errors),
    )
    await stores.kv.put(SCOPE, {_LAST: msgspec.to_builtins(done)})
    return done


async def _attempt(what: str, deleting: Awaitable[int], errors: list[str]) -> int:
    """Return how many rows were deleted. A failure of one kind does not stop the others."""
    try:
        return await deleting
    except Exception:
        log.exception("old %s %s", what, FAILED)
        errors.append(f"{what} {FAILED}")
        return 0


async def run_if_due(core: Collaborators) -> Run | None:
    """Delete old rows if retention is on and the last run was not within a day."""
    settings = core.snapshot.settings
    if not settings.data_retention_enabled:
        return None
    before = await last_run(core.stores)
    if before is not None and 0 <= core.clock() - seconds(before.ran_at) < DAY:
        return None
    leases, now = LeaseStore(core.stores.database), core.clock()
    if not await leases.take(SCOPE, now, now + LEASE):
        return None  # Another gateway is at it.
    return await run(core, settings.data_retention_days, "scheduled")


@asynccontextmanager
async def daily(core: Collaborators) -> AsyncIterator[None]:
    """Run retention in the background until the block ends."""

    async def check_regularly() -> None:
        failures = FailureLog(log, "Deleting old rows", "It is tried again every ten minutes.")
        while True:
            try:
                await run_if_due(core)
            except Exception as error:
                failures.met(error)
            else:
                failures.over()
            await asyncio.sleep(CHECK_EVERY)

    task = asyncio.create_task(check_regularly())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
