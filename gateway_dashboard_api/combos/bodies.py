"""The bodies and queries of requests about combos."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from gateway_administration.stores.combos import ComboChange

from .checks import check_facts


class ComboBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """``null`` clears a member; what is left out stays, or is empty in a new combo."""

    name: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    models: tuple[str, ...] | UnsetType | None = UNSET
    members: tuple[dict[str, Any], ...] | UnsetType | None = UNSET
    capabilities: dict[str, Any] | UnsetType | None = UNSET
    allowed_connection_ids: tuple[str, ...] | UnsetType | None = UNSET


def read_change(body: ComboBody) -> ComboChange:
    check_facts(body.members or ())
    name: str | UnsetType = UNSET
    if body.name is not UNSET:
        name = (body.name or "").strip()
    ids = body.allowed_connection_ids
    return ComboChange(
        name=name,
        kind=(body.kind or None) if body.kind is not UNSET else UNSET,
        models=tuple(body.models or ()) if body.models is not UNSET else UNSET,
        members=body.members,
        capabilities=body.capabilities,
        allowed_connection_ids=tuple(dict.fromkeys(ids or ())) if ids is not UNSET else UNSET,
    )


class PresetQuery(Struct, frozen=True, kw_only=True):
    source: Literal["cursor", "claude"]
