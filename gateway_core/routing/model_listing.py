"""Catalog rows: what may be called, described for programs that choose.

Unknown values are left out, never null or zero.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ..contracts.kinds import Kind, read_kind
from ..contracts.model import Model
from ..contracts.provider import ProviderSpec
from .model_resolver import FAMILIES, family_members
from .snapshot import ConfigSnapshot

Row = dict[str, Any]

COMBO = "combo"
MOST_TOKENS = 16_777_216
"""A larger context is taken for a mistake."""
DAWN = "1970-01-01T00:00:00Z"
DECORATED = "claude-"
LARGE = 1_048_576
_WEB = (Kind.SEARCH, Kind.FETCH)
KINDS = frozenset({"web", *(kind.value for kind in Kind if kind not in (Kind.LLM, *_WEB))})
"""The words that filter the catalog; ``web`` is both search and fetch."""


def listed_kinds(snapshot: ConfigSnapshot) -> frozenset[str]:
    """The words that filter the catalog: also those of chat, of the two that ``web`` stands for
    and of plugins, because rows show them."""
    formats = snapshot.registry.formats.values()
    brought = {endpoint.kind for wire in formats for endpoint in wire.endpoints}
    return KINDS | {Kind.LLM, *_WEB} | brought


def named_kind(snapshot: ConfigSnapshot, word: str) -> str | None:
    """The kind that a word names, in any spelling (``imageToText``); ``None`` if it names none."""
    kind = read_kind(word)
    return kind if word and kind in listed_kinds(snapshot) else None


def rows(snapshot: ConfigSnapshot, created: int) -> list[Row]:
    """Every callable row: combos first, then virtual families, then models by provider."""
    combos = [combo_row(combo.name, created, combo.kind) for combo in snapshot.combos.values()]
    if snapshot.settings.expose_combo_only:
        return combos
    families = [
        combo_row(f"auto/{family}", created)
        for family in FAMILIES
        if next(family_members(snapshot, family), None) is not None
    ]
    models = [
        model_row(snapshot.registry.providers[provider], row, created)
        for provider in snapshot.accounts
        if provider in snapshot.registry.providers
        for row in snapshot.models.get(provider, ())
    ]
    return [*combos, *families, *models]


def usual(models: Iterable[Row]) -> list[Row]:
    """Without decision models, which are listed only by their kind."""
    return [row for row in models if row.get("kind") != Kind.DECISION]


def of_kind(models: Iterable[Row], kind: str) -> list[Row]:
    kinds = _WEB if kind == "web" else (kind,)
    return [row for row in models if row.get("kind", Kind.LLM) in kinds]


def combo_row(name: str, created: int, kind: str | None = None) -> Row:
    """One combo, saved or virtual."""
    row: Row = {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": COMBO,
        "name": name,
    }
    # It is stored as the operator has spelled it.
    return row | ({"kind": str(read_kind(kind))} if kind else {})


def model_row(spec: ProviderSpec, model: Model, created: int) -> Row:
    """One model as completions-style clients read it."""
    context = _tokens(model.context or spec.default_context)
    output = _tokens(model.max_output)
    return present(
        id=f"{spec.alias or spec.id}/{model.id}",
        object="model",
        created=created,
        owned_by=spec.id,
        name=model.name or model.id,
        display_name=model.name or model.id,
        kind=None if model.kind == Kind.LLM else str(model.kind),
        provider_name=spec.name,
        provider_alias=spec.alias or spec.id,
        gateway_provider=spec.id,
        capabilities=present(
            contextWindow=context,
            maxOutput=output,
            vision=model.vision,
            tools=model.tools,
            reasoning=model.reasoning,
        )
        or None,
        input_modalities=["text", "image"] if model.vision else None,
        reasoning=model.reasoning,
        supports_tools=model.tools,
        context_length=context,
        max_model_len=context,
        max_output_tokens=output,
        max_completion_tokens=output,
        limits=present(max_input_tokens=context, max_output_tokens=output) or None,
    )


def _tokens(count: int | None) -> int | None:
    return count if count and count <= MOST_TOKENS else None


def messages_list(models: Iterable[Row]) -> Row:
    """The envelope of the messages-style list."""
    data = [messages_row(row) for row in models]
    return {
        "data": data,
        "has_more": False,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
    }


def messages_row(row: Mapping[str, Any]) -> Row:
    able = row.get("capabilities") or {}
    shown = {
        name: {"supported": able[ours]}
        for name, ours in (("image_input", "vision"), ("thinking", "reasoning"))
        if ours in able
    }
    context = row.get("context_length")
    name = row["id"] if row["id"].startswith(DECORATED) else DECORATED + row["id"]
    return {
        "type": "model",
        "id": f"{name}[1m]" if context is not None and context >= LARGE else name,
        "display_name": row.get("display_name") or row["id"],
        "created_at": DAWN,
        "max_input_tokens": context,
        "max_tokens": row.get("max_output_tokens"),
        "capabilities": shown or None,
    }


def cli_list(models: Iterable[Row]) -> Row:
    """The envelope of the code-assistant command line's list."""
    return {"models": [cli_row(row) for row in models]}


def cli_row(row: Mapping[str, Any]) -> Row:
    extra = present(context_window=row.get("context_length"))
    return {
        **row,
        "slug": row["id"],
        "display_name": row.get("display_name") or row["id"],
        "supported_in_api": True,
        "tool_mode": "auto",
        "multi_agent_version": None,
        **extra,
    }


def generative_list(snapshot: ConfigSnapshot, models: Iterable[Row]) -> Row:
    """The generative-content list. Models of a format with ``plain_models`` appear plain too."""
    formats = snapshot.registry.formats
    shown: list[Row] = []
    for row in models:
        spec = snapshot.registry.providers.get(row.get("gateway_provider", ""))
        bare = row["id"].partition("/")[2]
        if spec is not None and formats[spec.format].plain_models:
            shown.append(generative_row(bare, row))
        shown.append(generative_row(row["id"], row))
    return {"models": shown}


def generative_row(name: str, row: Mapping[str, Any]) -> Row:
    return {
        "name": f"models/{name}",
        "displayName": row.get("display_name") or row["id"],
        "inputTokenLimit": 128000,
        "outputTokenLimit": 8192,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent"],
    }


def local_server_list(models: Iterable[Row]) -> Row:
    """The tag list that clients of a local model server request."""
    return {
        "models": [
            {
                "name": row["id"],
                "model": row["id"],
                "modified_at": DAWN,
                "size": 0,
                "digest": "",
                "details": {"family": row["owned_by"]},
            }
            for row in models
        ]
    }


def present(**members: Any) -> Row:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
