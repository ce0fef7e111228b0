"""Carrying out a plan, one call after the other, with a record of what was done."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from .plan import Change, Plan
from .world import CallRefused, World


class Made(Struct, frozen=True, kw_only=True):
    """What came of a plan."""

    done: tuple[Change, ...]
    failed: Change | None = None
    reason: str = ""
    left: tuple[Change, ...] = ()
    """What was not begun because of the failure."""
    keys: Mapping[str, str] = {}
    """The texts of new gateway keys, by name."""


def apply(world: World, plan: Plan, report: Callable[[Change], None]) -> Made:
    """Make every change, and stop at the first that the gateway refuses.

    ``report`` gets each change once it is made. Running the same file again goes on from there.
    """
    done: list[Change] = []
    keys: dict[str, str] = {}
    for place, change in enumerate(plan.changes):
        try:
            answer = _carry_out(world, change)
        except CallRefused as error:
            left = plan.changes[place + 1 :]
            return Made(done=tuple(done), failed=change, reason=str(error), left=left, keys=keys)
        if change.section.name == "keys" and isinstance(answer.get("key"), str):
            keys[change.name[0]] = answer["key"]
        done.append(change)
        report(change)
    return Made(done=tuple(done), keys=keys)


def _carry_out(world: World, change: Change) -> Mapping[str, Any]:
    if change.action == "create":
        return change.section.create(world, change.name, change.fields)
    # Every other change is of something that is stored.
    assert change.stored is not None
    if change.action == "update":
        change.section.update(world, change.stored, change.fields)
    else:
        change.section.delete(world, change.stored)
    return {}
