"""How much the model is to think, in the way that the vendor asks for it."""

from typing import Any

from gateway_core import Thinking
from gateway_formats.effort import budget_of, effort_of

from .draft import Draft

_GUESSED = {"minimal": "low", "xhigh": "high", "max": "high"}
"""Words that only some models know are not chosen for a client that gave a number."""


def write_thinking(thinking: Thinking, draft: Draft) -> dict[str, Any]:
    """The members that ask for it in this vendor's way; a loss where it has none."""
    style = draft.switches.reasoning
    if thinking == Thinking(show=thinking.show, summary=thinking.summary):
        hides = style == "openrouter" and thinking.show is False
        return {"reasoning": {"exclude": True}} if hides else {}
    is_off = thinking.enabled is False and thinking.effort in (None, "none")
    if draft.target.model.reasoning is False:
        if not is_off:
            draft.losses.add("thinking")
        return {}
    members: dict[str, Any] = {}
    match style:
        case "effort":
            # "none" is refused by models that always think.
            if not is_off or thinking.effort is not None:
                members["reasoning_effort"] = _effort(thinking)
        case "openrouter":
            # One of effort, max_tokens and enabled:
            # https://openrouter.ai/docs/use-cases/reasoning-tokens
            reasoning: dict[str, Any] = {}
            if thinking.effort is not None:
                reasoning["effort"] = thinking.effort
            elif thinking.budget is not None and thinking.budget > 0:
                reasoning["max_tokens"] = thinking.budget
            elif thinking.enabled is not None or thinking.budget is not None:
                reasoning["enabled"] = not is_off
            if thinking.show is False:
                reasoning["exclude"] = True
            members["reasoning"] = reasoning
        case "thinking" | "thinking+effort":
            members["thinking"] = {"type": "disabled" if is_off else "enabled"}
            has_amount = thinking.effort is not None or thinking.budget is not None
            if style == "thinking+effort" and not is_off and has_amount:
                members["reasoning_effort"] = _effort(thinking)
        case "enable_thinking":
            members["enable_thinking"] = not is_off
            budget = thinking.budget
            if budget is None and thinking.effort not in (None, "none"):
                budget = budget_of(thinking.effort or "")
            if budget is not None and budget > 0 and not is_off:
                members["thinking_budget"] = budget
    if not members:
        draft.losses.add("thinking")
    return members


def _effort(thinking: Thinking) -> str:
    if thinking.effort is not None:
        return thinking.effort
    guess = effort_of(-1 if thinking.budget is None else thinking.budget)
    return _GUESSED.get(guess, guess)
