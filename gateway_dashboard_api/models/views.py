"""How models are shown."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType


class ModelRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """``alias`` is the short name the operator gave it; ``fullModel`` is what to ask for."""

    provider: str
    model: str
    name: str
    full_model: str
    alias: str | None
    kind: str


class ModelRows(Struct, frozen=True):
    models: tuple[ModelRow, ...]


class Aliases(Struct, frozen=True):
    """What each alias means."""

    aliases: Mapping[str, str]


class Named(Struct, frozen=True, kw_only=True):
    success: bool = True
    model: str
    alias: str


class CustomModel(Struct, frozen=True, kw_only=True, rename="camel"):
    provider_alias: str
    provider: str
    id: str
    type: str
    name: str
    capabilities: dict[str, Any] | None


class CustomModels(Struct, frozen=True):
    models: tuple[CustomModel, ...]


class Added(Struct, frozen=True, kw_only=True):
    """``added`` is false for a model that was there already."""

    success: bool = True
    added: bool


class DisabledIds(Struct, frozen=True, kw_only=True):
    """``ids`` of one provider, else everybody's."""

    ids: list[str] | UnsetType = UNSET
    disabled: dict[str, list[str]] | UnsetType = UNSET


class EnabledIds(Struct, frozen=True, kw_only=True):
    """``ids`` of one provider, else everybody's."""

    ids: list[str] | UnsetType = UNSET
    enabled: dict[str, list[str]] | UnsetType = UNSET


class Shown(Struct, frozen=True, kw_only=True):
    success: bool = True
    ids: list[str]


class TestOutcome(Struct, frozen=True, kw_only=True, rename="camel"):
    """``status`` is the vendor's, or the gateway's own word for what went wrong."""

    ok: bool
    latency_ms: int
    error: str | None
    status: int


class RestRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """``cooldown`` has an ``until``; ``unavailable`` is to be asked again at the next call."""

    provider: str
    model: str
    status: Literal["cooldown", "unavailable"]
    until: str | UnsetType = UNSET
    connection_id: str
    connection_name: str | None
    last_error: str


class Resting(Struct, frozen=True, kw_only=True, rename="camel"):
    models: tuple[RestRow, ...]
    unavailable_count: int


class Cleared(Struct, frozen=True):
    ok: bool = True


class Candidate(Struct, frozen=True, kw_only=True):
    id: str
    """``provider/model``, as a call may name it."""
    name: str
    provider: str


class Served(Struct, frozen=True, kw_only=True):
    """``effective`` are the models that are tried, in order."""

    path: str
    effective: tuple[str, ...]


class Route(Struct, frozen=True, kw_only=True):
    """``id`` is the kind; an empty ``saved`` takes every candidate as it comes."""

    id: str
    label: str
    saved: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    effective: tuple[str, ...]
    endpoints: tuple[Served, ...]


class RouteList(Struct, frozen=True, kw_only=True):
    routes: tuple[Route, ...]


class RouteAnswer(Struct, frozen=True, kw_only=True):
    route: Route


class Synced(Struct, frozen=True, kw_only=True):
    """What a run found at one provider."""

    provider: str
    listed: int = 0
    added: int = 0
    removed: int = 0
    error: str | None = None


class SyncState(Struct, frozen=True, kw_only=True, rename="camel"):
    """Of the last run. It runs when it is asked to, not by itself."""

    enabled: bool = False
    last_run_at: str | None = None
    results: tuple[Synced, ...] = ()
