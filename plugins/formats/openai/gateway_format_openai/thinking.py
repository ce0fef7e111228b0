"""How much the model is to think: the several ways of asking for it, read and written."""

from typing import Any

from gateway_core import Thinking
from gateway_formats.effort import budget_of, effort_of

from .draft import Draft
from .members import (
    Members,
    anything_of,
    is_object,
    object_of,
    take_flag,
    take_text,
    take_whole,
)

_GUESSED = {"minimal": "low", "xhigh": "high", "max": "high"}
"""Words that only some models know are not chosen for a client that gave a number."""
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
    asked = _take_known(
        members, "reasoning", {"effort", "max_tokens", "enabled", "exclude", "summary"}
    )
    switch = _take_known(members, "thinking", {"type", "budget_tokens"})
    enabled = take_flag(members, "enable_thinking")
    budget = take_whole(members, "thinking_budget")
    shown = take_flag(members, "include_reasoning")
    word = effort or _word(asked.get("effort"))
    enabled = _first(enabled, asked.get("enabled"), _is_on(switch.get("type")))
    budget = _first(budget, asked.get("max_tokens"), switch.get("budget_tokens"))
    exclude = asked.get("exclude")
    if word == "none" or budget == 0:
        enabled = False
    thinking = Thinking(
        enabled=enabled if isinstance(enabled, bool) else None,
        effort=word,
        budget=budget if type(budget) is int and word is None else None,
        show=shown if shown is not None else (not exclude if isinstance(exclude, bool) else None),
        summary=_word(asked.get("summary")),
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


def _is_on(word: object) -> bool | None:
    return None if not isinstance(word, str) else word not in _OFF


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def write_thinking(thinking: Thinking | None, draft: Draft) -> dict[str, Any]:
    """The members that ask for it in this vendor's way; a loss where it has none."""
    if thinking is None or thinking == Thinking(show=thinking.show, summary=thinking.summary):
        return _shown(thinking, draft)
    is_off = thinking.enabled is False and thinking.effort in (None, "none")
    if draft.target.model.reasoning is False:
        if not is_off:
            draft.losses.add("thinking")
        return {}
    written = _STYLES.get(draft.switches.reasoning, _write_nothing)(thinking, is_off)
    if not written:
        draft.losses.add("thinking")
    return written


def _shown(thinking: Thinking | None, draft: Draft) -> dict[str, Any]:
    if thinking is None or draft.switches.reasoning != "openrouter":
        return {}
    return {"reasoning": {"exclude": True}} if thinking.show is False else {}


def _write_nothing(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    return {}


def _effort(thinking: Thinking) -> str:
    if thinking.effort is not None:
        return thinking.effort
    guess = effort_of(-1 if thinking.budget is None else thinking.budget)
    return _GUESSED.get(guess, guess)


def _write_effort(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    if is_off and thinking.effort is None:
        return {}  # "none" is refused by models that always think
    return {"reasoning_effort": _effort(thinking)}


def _write_openrouter(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    if thinking.effort is not None:
        asked["effort"] = thinking.effort
    elif thinking.budget is not None and thinking.budget > 0:
        asked["max_tokens"] = thinking.budget
    elif thinking.enabled is not None or thinking.budget is not None:
        asked["enabled"] = not is_off
    if thinking.show is False:
        asked["exclude"] = True
    return {"reasoning": asked}


def _write_switch(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    return {"thinking": {"type": "disabled" if is_off else "enabled"}}


def _write_both(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    written = _write_switch(thinking, is_off)
    if not is_off and (thinking.effort is not None or thinking.budget is not None):
        written["reasoning_effort"] = _effort(thinking)
    return written


def _write_flag(thinking: Thinking, is_off: bool) -> dict[str, Any]:
    written: dict[str, Any] = {"enable_thinking": not is_off}
    budget = thinking.budget
    if budget is None and thinking.effort not in (None, "none"):
        budget = budget_of(thinking.effort or "")
    if budget is not None and budget > 0 and not is_off:
        written["thinking_budget"] = budget
    return written


_STYLES = {
    "effort": _write_effort,
    "openrouter": _write_openrouter,
    "thinking": _write_switch,
    "thinking+effort": _write_both,
    "enable_thinking": _write_flag,
}
