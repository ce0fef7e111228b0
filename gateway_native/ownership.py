"""Whose a resource of a vendor is, and who is charged for it: the steps of a native call that wait
for the database.

```text
creation   vendor answers ─▶ owner stored ─▶ client has the id
poll       owner checked ─▶ vendor answers ─▶ usage claimed ─▶ ledger row ─▶ client has the result
deletion   owner checked ─▶ vendor answers ─▶ owner forgotten
```

A claim holds the usage, so that what was claimed by a process that ended before its ledger row was
written is charged after all (``charges.py``).
"""

import logging
from typing import TYPE_CHECKING

from gateway_core import BadRequest
from gateway_core.contracts.errors import Forbidden

from .charges import creator
from .resources import NativeResource, NativeResourceStore, ResourceName

if TYPE_CHECKING:
    from .native_run import NativeRun

log = logging.getLogger(__name__)

UNKNOWN_OWNER = "Unknown native resource owner"
OTHER_MODEL = "Native resource model does not match its creation model"


class Ownership:
    """The checkpoints of one call."""

    def __init__(self, run: "NativeRun") -> None:
        self._run = run
        self._store = NativeResourceStore(run.core.stores.database, clock=run.core.clock)
        self._owned: NativeResource | None = None
        self.has_claimed = False

    async def before_plan(self) -> None:
        """Only its creator and the operator may have anything to do with a resource. Raises
        Forbidden, BadRequest."""
        run = self._run
        if run.resource is None:
            return
        owned = self._owned = await self._store.find(run.resource)
        key = run.record.key
        if owned is None or (key is not None and owned.api_key_id != key.id):
            raise Forbidden(UNKNOWN_OWNER)
        if owned.model != run.target.model.id:
            raise BadRequest(OTHER_MODEL, param="model")

    async def before_answer(self) -> None:
        """Note what was created before its client can ask for it."""
        run = self._run
        creates, created = run.operation.creates, run.exchange.created
        if creates is None or created is None:
            return
        name = ResourceName(
            provider=run.native.provider.id,
            connection_id=run.attempt.account.id,
            family=creates.family,
            resource_id=created,
        )
        key, record = run.record.key, run.record
        # A creation that has answered, or is being streamed, is charged by itself.
        is_charged = run.exchange.reported is not None or record.stream
        await self._store.add(
            name,
            None if key is None else key.id,
            run.target.model.id,
            charged_by=record.request_id if is_charged and not run.is_background else None,
        )

    async def before_end(self) -> None:
        """Charge the creator the first time an answer tells what was used."""
        run, owned = self._run, self._owned
        if owned is None or run.exchange.failure is not None:
            return
        if run.operation.method == "DELETE":
            await self._store.remove(owned.name)
            return
        usage = run.exchange.reported
        if not run.operation.polls or usage is None or owned.request_id is not None:
            return
        if await self._store.claim(owned.name, run.record.request_id, usage):
            run.exchange.is_charged = self.has_claimed = True
            run.record.key = creator(run.core.identity.keys, owned.api_key_id)

    async def settle(self) -> None:
        """The request is over, so its ledger row is written. Never raises: what is not settled now
        is at the next start."""
        if not self.has_claimed or self._owned is None:
            return
        try:
            await self._store.settle(self._owned.name, self._run.record.request_id)
        except Exception:
            log.exception("request %s could not be settled", self._run.record.request_id)
