"""Charges that were claimed, and whose ledger rows may be missing because a process ended."""

import logging

from gateway_core.contracts.provider import Target
from gateway_core.identity.keys import Key, KeyTable
from gateway_core.identity.policy import Policy
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.moments import iso, seconds

from .exchange import NATIVE
from .native_request import PREFIX
from .resources import NativeResource, NativeResourceStore

MARGIN = 60.0
"""Seconds in which another process may still be about to record what it has claimed."""

log = logging.getLogger(__name__)


def creator(keys: KeyTable, id: str | None) -> Key | None:
    """The key that is charged; one that is gone is charged under its id, and nobody else is."""
    if id is None:
        return None
    return keys.get(id) or Key(
        id=id,
        name="",
        digest=b"",
        is_active=False,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=Policy(),
        connections=frozenset(),
        has_limits=False,
        is_restricted=False,
    )


async def recover_charges(core: Collaborators) -> int:
    """Record what was claimed and never recorded; gives how many charges that were."""
    store = NativeResourceStore(core.stores.database, clock=core.clock)
    until = core.clock() - (MARGIN if core.shares_database else 0.0)
    count = 0
    for claimed in await store.unsettled(until):
        request_id, since = claimed.request_id or "", claimed.claimed_at or ""
        if not await core.stores.usage.has(request_id, iso(seconds(since) - MARGIN)):
            core.ledger.record(_record(core, claimed))
            count += 1
        await store.settle(claimed.name, request_id)
    if count:
        log.warning("%d native charges of an earlier process were recorded", count)
    return count


def _record(core: Collaborators, claimed: NativeResource) -> RequestRecord:
    """The row that the poll would have left."""
    name, snapshot = claimed.name, core.snapshot
    record = RequestRecord(
        claimed.request_id or "",
        f"{PREFIX}/{name.provider}",
        NATIVE,
        core.clock(),
        creator(core.identity.keys, claimed.api_key_id),
    )
    record.model, record.connection_id = f"{name.provider}/{claimed.model}", name.connection_id
    record.usage, record.attempts = claimed.usage, 1
    spec = snapshot.registry.providers.get(name.provider)
    rows = snapshot.models.get(name.provider, ())
    model = next((row for row in rows if row.id == claimed.model), None)
    if spec is not None and model is not None:
        record.target = Target(spec, model)
    record.over = record.begun
    return record
