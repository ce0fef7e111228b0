"""Deleting what is older than the operator wants to keep, on request and once a day."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Literal

import msgspec
from msgspec import Struct

from gateway_core.pipeline.context import Core
from gateway_core.storage.failure_log import FailureLog
from gateway_core.storage.moments import iso, local_day, seconds
from gateway_core.storage.stores import Stores
from gateway_core.storage.stores.usage import UsageFilter

DAY = 24 * 3600
LOOK_EVERY = 600.0
"""Seconds between two looks whether a run is due."""
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


async def run(core: Core, days: int, trigger: Trigger) -> Run:
    """Delete what ended more than so many days ago, overwrite it on disk, and note that."""
    stores, now = core.stores, core.clock()
    moment = now - days * DAY
    cutoff, errors = iso(moment), list[str]()
    until = UsageFilter(until=cutoff)
    last_day = local_day(moment).isoformat()
    usage = await _attempt("usage", stores.reports.delete(until, "", last_day), errors)
    details = await _attempt("request details", stores.request_details.delete(until=cutoff), errors)
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
    """How much was deleted. What goes wrong with one kind does not stop the others."""
    try:
        return await deleting
    except Exception:
        log.exception("old %s %s", what, FAILED)
        errors.append(f"{what} {FAILED}")
        return 0


async def run_if_due(core: Core) -> Run | None:
    """Delete what is old, if that is wanted and was not done within a day."""
    settings = core.snapshot.settings
    if not settings.data_retention_enabled:
        return None
    before = await last_run(core.stores)
    if before is not None and 0 <= core.clock() - seconds(before.ran_at) < DAY:
        return None
    return await run(core, settings.data_retention_days, "scheduled")


async def _look(core: Core) -> None:
    trouble = FailureLog(log, "Deleting old rows", "It is tried again every ten minutes.")
    while True:
        try:
            await run_if_due(core)
        except Exception as error:
            trouble.met(error)
        else:
            trouble.over()
        await asyncio.sleep(LOOK_EVERY)


@asynccontextmanager
async def daily(core: Core) -> AsyncIterator[None]:
    """Look after what is old until the block ends."""
    looking = asyncio.create_task(_look(core))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
