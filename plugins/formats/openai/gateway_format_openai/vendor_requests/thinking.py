"""How much the model is to think, in the way that the vendor asks for it."""

from typing import Any

from gateway_core import Thinking
from gateway_formats.effort import budget_of, effort_of

from .draft import Draft

_GUESSED = {"minimal": "low", "xhigh": "high", "max": "high"}
"""Words that only some models know are not chosen for a client that gave a number."""


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
