"""How much the model is to think, in the several ways that clients ask for it."""

from typing import Any

from gateway_core import Thinking

from .._members import Members, anything_of, is_object, object_of, take_flag, take_text, take_whole

_OFF = ("none", "disabled")

_WAYS = frozenset(
    (
        *("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget"),
        "include_reasoning",
    )
)
"""The members that may say something of it."""


def take_thinking(members: Members) -> Thinking | None:
    if _WAYS.isdisjoint(members):
        return None
    effort = take_text(members, "reasoning_effort")
    reasoning = _take_known(
        members, "reasoning", {"effort", "max_tokens", "enabled", "exclude", "summary"}
    )
    switch = _take_known(members, "thinking", {"type", "budget_tokens"})
    enabled = take_flag(members, "enable_thinking")
    budget = take_whole(members, "thinking_budget")
    shown = take_flag(members, "include_reasoning")
    word = effort or _word(reasoning.get("effort"))
    kind = switch.get("type")
    is_on = kind not in _OFF if isinstance(kind, str) else None
    enabled = _first(enabled, reasoning.get("enabled"), is_on)
    budget = _first(budget, reasoning.get("max_tokens"), switch.get("budget_tokens"))
    exclude = reasoning.get("exclude")
    # An effort of none and a budget of 0 both mean no thinking.
    if word == "none" or budget == 0:
        enabled = False
    if shown is None and isinstance(exclude, bool):
        shown = not exclude
    # Clients of this format expect to see the thinking that they ask for.
    if shown is None and enabled is not False and (enabled or word or budget):
        shown = True
    thinking = Thinking(
        enabled=enabled if isinstance(enabled, bool) else None,
        effort=word,
        budget=budget if type(budget) is int and word is None else None,
        show=shown,
        summary=_word(reasoning.get("summary")),
    )
    return None if thinking == Thinking() else thinking


def _take_known(members: Members, name: str, known: set[str]) -> dict[str, Any]:
    """What an object says. It stays among the extra members when it says more than we know."""
    raw = members.get(name)
    if raw is None or not is_object(raw):
        return {}
    value: dict[str, Any] = anything_of(raw) or {}
    if known.issuperset(object_of(raw, name)):
        del members[name]
    return value


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
