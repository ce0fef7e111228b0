"""Adding models that vendors list and their plugins do not know (A.5).

A run fetches the list of every connected vendor that has one. Unknown models become
rows of the operator's own, marked as synced; synced rows that the vendor does
not list any more go. Rows the operator wrote are never touched.

Nodes and local servers are synced by themselves: when they are created or tested, and when one
answers for the first time.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import UpstreamError
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.snapshot import Account
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.kv import CUSTOM_MODELS
from gateway_core.upstream.redaction import redact, secrets_of

from ..accounts.probes.discovery import can_list, discover
from ..accounts.probes.model_list import Listed
from ..admin_context import AdminContext
from ..endpoint import endpoint
from .own_servers import is_own_server
from .views import Synced, SyncState

PATH = "/api/models/auto-sync"
SCOPE = "auto_sync"
LAST = "last"
SOURCE, SYNCED = "source", "sync"
MOST_MODELS = 500
"""Of one provider."""
PATIENCE = 5.0
"""Seconds that the creation of a node or an account waits for the list."""
log = logging.getLogger(__name__)
OTHER_WORK = (
    *("embed", "rerank", "moderation", "whisper", "transcri", "tts", "speech", "audio"),
    *("image", "dall-e", "diffusion", "video", "music", "realtime"),
)
"""Words in the ids of models that are not for chat; their kind cannot be derived."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, show, "read the sync state", answer=SyncState),
        endpoint(admin, "POST", PATH, run, "sync the models", answer=SyncState),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    stored = await admin.stores.kv.get(SCOPE, LAST)
    return json_answer(stored if stored is not None else SyncState())


async def run(admin: AdminContext, request: Request) -> Response:
    """Request the lists one after the other."""
    await admin.audit(request, "model-list.sync")
    results = []
    for provider, (account, *_) in sorted(admin.snapshot.accounts.items()):
        try:
            synced = await sync_provider(admin, provider)
        except UpstreamError as error:
            text = redact(error.message, secrets_of(account.credential))
            synced = Synced(provider=provider, error=text)
        if synced is not None:
            results.append(synced)
    state = SyncState(last_run_at=iso(admin.core.clock()), results=tuple(results))
    async with admin.writing():
        await admin.stores.kv.put(SCOPE, {LAST: state})
    return json_answer(state)


async def sync_provider(admin: AdminContext, provider: str) -> Synced | None:
    """Sync one provider by its first account; ``None`` for one that has none, or no list.

    Raises UpstreamError where the list does not arrive.
    """
    spec, accounts = admin.spec(provider), admin.snapshot.accounts.get(provider)
    if spec is None or not accounts:
        return None
    if not can_list(spec, admin.wire(spec), accounts[0].credential):
        return None
    return await _sync(admin, spec, accounts[0])


async def sync_own_server(admin: AdminContext, provider: str) -> None:
    """Sync a node or a local server that is new or was found to answer; others are left alone.

    Whoever waits for it has made or tested an account, which succeeds whatever becomes of this.
    """
    spec = admin.spec(provider)
    if spec is None or not is_own_server(spec):
        return
    try:
        async with asyncio.timeout(PATIENCE):
            await sync_provider(admin, provider)
    except (TimeoutError, UpstreamError):
        log.info("the list of models of %s did not arrive", provider)


async def _sync(admin: AdminContext, spec: ProviderSpec, account: Account) -> Synced:
    listed = await discover(admin.core, spec, admin.wire(spec), account) or ()
    was, now = set[str](), set[str]()

    def merge(stored: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        before = stored or []
        own = [row for row in before if row.get(SOURCE) != SYNCED]
        new = _rows(listed, {row["id"] for row in own} | {row.id for row in spec.models})
        was.update(row["id"] for row in before if row.get(SOURCE) == SYNCED)
        now.update(row["id"] for row in new)
        return [*own, *new] if own or new or before else stored

    async with admin.writing():
        await admin.stores.kv.amend(CUSTOM_MODELS, spec.id, merge)
    return Synced(
        provider=spec.id, listed=len(listed), added=len(now - was), removed=len(was - now)
    )


def _rows(listed: Sequence[Listed], known: set[str]) -> list[dict[str, Any]]:
    """Rows for new chat models."""
    rows = []
    for model in listed:
        if model.id in known or any(word in model.id.lower() for word in OTHER_WORK):
            continue
        limits = {"contextWindow": model.context_length, "maxOutput": model.max_output_tokens}
        capabilities = {name: count for name, count in limits.items() if count is not None}
        row: dict[str, Any] = {"id": model.id, "kind": Kind.LLM.value, SOURCE: SYNCED}
        if model.name != model.id:
            row["name"] = model.name
        if capabilities:
            row["capabilities"] = capabilities
        rows.append(row)
    return rows[:MOST_MODELS]
