"""Combos that coding clients expect, built from the connected models (A.3, C.4)."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.combos import ComboChange
from gateway_core.contracts.kinds import Kind
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.storage.stores.combos import Combo

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from .bodies import PresetQuery
from .checks import check
from .views import Made, Preset, Preview, Skipped

PATH = "/api/combos/presets"
MOST_MODELS = 50
WORDS: Mapping[str, tuple[str, ...]] = {
    "claude": ("opus", "sonnet", "haiku"),
    "cursor": ("claude", "gpt", "gemini"),
}
"""By client: words in models' ids. Each word is a combo ``<client>-<word>`` of those models."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin, "GET", PATH, show, "preview the presets", query=PresetQuery, answer=Preview
        ),
        endpoint(admin, "POST", PATH, create, "create the presets", query=PresetQuery, answer=Made),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(preview(admin.snapshot, read_query(request, PresetQuery).source))


async def create(admin: AdminContext, request: Request) -> Response:
    """Create the missing combos."""
    source = read_query(request, PresetQuery).source
    async with admin.writing():
        plan = preview(admin.snapshot, source)
        created = []
        for preset in plan.to_create:
            draft = Combo(
                id="", name=preset.name, models=preset.models, created_at="", updated_at=""
            )
            check(admin.snapshot, draft)
            change = ComboChange(name=preset.name, models=preset.models)
            await admin.audit_change(request, "combo.create", preset.name, None, change)
            created.append(await admin.own_stores.combos.create(change))
    return json_answer(Made(source=source, created=tuple(created), skipped=plan.to_skip))


def preview(snapshot: ConfigSnapshot, source: str) -> Preview:
    """Return what creating a client's presets would do."""
    specs = snapshot.registry.providers
    connected = [
        (specs[provider].alias or provider, row.id)
        for provider in snapshot.accounts
        if provider in specs
        for row in snapshot.models.get(provider, ())
        if row.kind == Kind.LLM
    ]
    to_create, to_skip = [], []
    for word in WORDS[source]:
        name = f"{source}-{word}"
        models = tuple(f"{prefix}/{id_}" for prefix, id_ in connected if word in id_.lower())
        if name in snapshot.combos:
            to_skip.append(Skipped(name=name, reason="exists"))
        elif not models:
            to_skip.append(Skipped(name=name, reason="no_models"))
        else:
            to_create.append(Preset(name=name, models=models[:MOST_MODELS]))
    return Preview(source=source, to_create=tuple(to_create), to_skip=tuple(to_skip))
