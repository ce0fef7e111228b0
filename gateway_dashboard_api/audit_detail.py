"""What a change does, for the audit trail: old and new values by member, without secrets."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core.storage.stores.secret_members import is_secret
from gateway_core.upstream.redaction import MASK, hidden

LONGEST = 500
"""Characters of a text."""
DEEPEST = 16
"""Levels of a value that are kept; clients may store deeper ones."""
DEEPER = "…"
Row = Struct | Mapping[str, Any]


def changes_of(before: Row | None, after: Row | None) -> dict[str, dict[str, Any]]:
    """The members that get another value, as ``{"policy.rpmLimit": {"old": 5, "new": 9}}``.

    ``before`` is what is stored, ``None`` for something new. ``after`` are the members that are
    set, ``None`` where everything goes.
    """
    old = _members(before)
    new = dict.fromkeys(old) if after is None else _members(after)
    return dict(_differences("", old, new))


def name_of(before: Row | None, after: Row | None) -> str | None:
    """What the row was called, or will be."""
    name = _members(before).get("name") or _members(after).get("name")
    return name if isinstance(name, str) else None


def _members(row: Row | None) -> dict[str, Any]:
    # Members of a change that are not set are left out of the result.
    return {} if row is None else dict(msgspec.to_builtins(row))


def _differences(
    place: str, old: Mapping[str, Any], new: Mapping[str, Any], depth: int = 0
) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth == DEEPEST:
        yield place.rstrip("."), {"old": DEEPER, "new": DEEPER}
        return
    for name, value in new.items():
        was = old.get(name)
        if isinstance(value, Mapping) and isinstance(was, Mapping | None):
            yield from _differences(f"{place}{name}.", was or {}, value, depth + 1)
        elif was != value:
            yield f"{place}{name}", {"old": _masked(name, was), "new": _masked(name, value)}


def _masked(name: str, value: Any, depth: int = 0) -> Any:
    """A value as it may be kept: a secret only shows that there is one."""
    if isinstance(value, Mapping | list) and depth == DEEPEST:
        return DEEPER
    if isinstance(value, Mapping):
        return {inner: _masked(inner, each, depth + 1) for inner, each in value.items()}
    if isinstance(value, list):
        return [_masked(name, each, depth + 1) for each in value]
    if isinstance(value, str) and value:
        return MASK if is_secret(name) else hidden(value)[:LONGEST]
    return value
