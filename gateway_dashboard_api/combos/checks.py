"""Checks that a combo can be called: its members resolve, and it contains no cycle."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gateway_core.contracts.errors import BadRequest, GatewayError
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.plan import DEEPEST, HEAVIEST
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.storage.stores.combos import Combo

from ..models.kinds import kind_of

LONGEST_NAME = 128
MOST_MODELS = 500
MOST_OPENED = 1000
FACTS = ("model", "weight", "connectionId")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def check(snapshot: ConfigSnapshot, combo: Combo, before: Combo | None = None) -> None:
    """Raises BadRequest, worded for the operator.

    Members that were there ``before`` may stay, even when they mean nothing at the moment.
    """
    check_name(combo.name)
    kind = kind_of(snapshot, combo.kind)
    check_shape(combo)
    others = {each.name: each for each in snapshot.combos.values() if each.id != combo.id}
    if combo.name in others:
        raise BadRequest(f"A combo named {combo.name} already exists")
    known = msgspec.structs.replace(snapshot, combos={**others, combo.name: combo})
    check_circles(known)
    unchanged = before.models if before is not None and before.kind == combo.kind else ()
    for name in combo.models:
        if name not in unchanged:
            check_member(known, name, kind)


def check_name(name: str) -> None:
    if not name:
        raise BadRequest("Name is required")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise BadRequest(
            "Invalid combo name: letters, digits, dots, hyphens and underscores are possible"
        )


def check_shape(combo: Combo) -> None:
    """Check what can be checked without the configuration: sizes, weights and pinned accounts."""
    if len(combo.models) > MOST_MODELS:
        raise BadRequest(f"A combo has at most {MOST_MODELS} models")
    for fact in combo.members or ():
        name, weight, pinned = fact.get("model"), fact.get("weight"), fact.get("connectionId")
        if name not in combo.models:
            raise BadRequest(f"Invalid member: {_shown(name)} is not one of the combo's models")
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if weight is not None and not (is_number and 0 <= weight <= HEAVIEST):
            raise BadRequest(
                f"Invalid member: the weight of {_shown(name)} must be from 0 to {HEAVIEST}"
            )
        if pinned is not None and not isinstance(pinned, str):
            raise BadRequest(f"Invalid member: the connectionId of {_shown(name)} must be a text")


def check_facts(facts: Sequence[Mapping[str, Any]]) -> None:
    """Refuse unknown members: a mistyped pin would permit every account. Raises BadRequest."""
    unknown = next((name for fact in facts for name in fact if name not in FACTS), None)
    if unknown is not None:
        names = ", ".join(FACTS)
        raise BadRequest(f"Invalid member: unknown {_shown(unknown)}, possible are {names}")


def check_member(snapshot: ConfigSnapshot, name: str, kind: str) -> None:
    """A member must resolve to a model or another combo."""
    if not name.strip():
        raise BadRequest("Invalid member: a model's name is empty")
    try:
        resolve(snapshot, name, kind)
    except GatewayError as error:
        raise BadRequest(f"Invalid member {_shown(name)}: {error.message}") from None


def check_circles(snapshot: ConfigSnapshot) -> None:
    """Refuse cycles, and nesting that is too deep or too wide."""
    for combo in snapshot.combos.values():
        _follow(snapshot, combo, ())


def _follow(snapshot: ConfigSnapshot, combo: Combo, path: tuple[str, ...]) -> int:
    """Return how many combos a call of this one expands."""
    if combo.name in path:
        circle = " → ".join((*path[path.index(combo.name) :], combo.name))
        raise BadRequest(f"A combo cannot contain itself: {circle}")
    if len(path) >= DEEPEST:
        raise BadRequest(f"Combos may stand within one another {DEEPEST} deep at most")
    opened = 1
    for name in combo.models:
        inner = snapshot.combos.get(name) or snapshot.combos.get(snapshot.aliases.get(name, ""))
        if inner is not None:
            opened += _follow(snapshot, inner, (*path, combo.name))
        if opened > MOST_OPENED:
            raise BadRequest(f"The combo {combo.name} leads to too many others")
    return opened


def _shown(name: object) -> str:
    return f'"{str(name)[:128]}"'
