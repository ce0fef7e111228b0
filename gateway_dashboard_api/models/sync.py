"""Adding models that vendors list and their plugins do not know (A.5).

A run fetches the list of every connected vendor that has one. Unknown models become
rows of the operator's own, marked as synced; synced rows that the vendor does
not list any more go. Rows the operator wrote are never touched.
"""

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
from .views import Synced, SyncState

PATH = "/api/models/auto-sync"
SCOPE = "auto_sync"
LAST = "last"
SOURCE, SYNCED = "source", "sync"
MOST_MODELS = 500
"""Of one provider."""
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
        spec = admin.spec(provider)
        if spec is not None and can_list(spec, admin.wire(spec), account.credential):
            results.append(await _sync(admin, spec, account))
    state = SyncState(last_run_at=iso(admin.core.clock()), results=tuple(results))
    async with admin.writing():
        await admin.stores.kv.put(SCOPE, {LAST: state})
    return json_answer(state)


async def _sync(admin: AdminContext, spec: ProviderSpec, account: Account) -> Synced:
    provider = spec.id
    try:
        listed = await discover(admin.core, spec, admin.wire(spec), account) or ()
    except UpstreamError as error:
        text = redact(error.message, secrets_of(account.credential))
        return Synced(provider=provider, error=text)
    async with admin.writing():
        before: list[dict[str, Any]] = await admin.stores.kv.get(CUSTOM_MODELS, provider) or []
        own = [row for row in before if row.get(SOURCE) != SYNCED]
        known = {row["id"] for row in own} | {row.id for row in spec.models}
        new = _rows(listed, known)
        if new != before[len(own) :] or own != before[: len(own)]:
            await admin.stores.kv.put(CUSTOM_MODELS, {provider: [*own, *new]})
    was = {row["id"] for row in before if row.get(SOURCE) == SYNCED}
    now = {row["id"] for row in new}
    return Synced(
        provider=provider, listed=len(listed), added=len(now - was), removed=len(was - now)
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
