"""How much to think and how freely to speak, as each maker's models take it.

One choice touches the others: thinking with a budget forbids most sampling
parameters and a forced tool choice, and its budget must fit below the limit.
"""

from dataclasses import dataclass, field
from typing import Any

from gateway_core import Conversation, Losses, Sampling, Target, Thinking
from gateway_formats.effort import budget_of, effort_of

from .models import Traits

_LEAST_BUDGET = 1024
_USUAL_LIMIT = 8192
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(slots=True)
class Plan:
    """What a request will say beside its messages."""

    inference: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    """``additionalModelRequestFields``."""
    effort: str | None = None
    thinks: bool = False


def plan(
    conversation: Conversation,
    target: Target,
    traits: Traits,
    losses: Losses,
    *,
    forced: bool,
    torn: bool,
) -> Plan:
    """``forced`` says that a tool must be called, ``torn`` that a call is being answered whose
    thinking was lost on the way; neither goes together with thinking."""
    made = Plan()
    sampling = conversation.sampling
    limit = _limit(sampling.max_tokens, target.model.max_output, losses)
    if limit is not None:
        made.inference["maxTokens"] = limit
    if conversation.thinking is not None:
        _think(made, conversation.thinking, traits, losses, free=not (forced or torn))
    if forced and traits.thinks_unasked and "thinking" not in made.fields:
        made.fields["thinking"] = {"type": "disabled"}
    _sample(made, sampling, traits, losses)
    if stop := [text for text in sampling.stop if text]:
        made.inference["stopSequences"] = stop
    _note_others(sampling, losses)
    return made


def _limit(asked: int | None, longest: int | None, losses: Losses) -> int | None:
    if asked is not None and longest is not None and asked > longest:
        losses.add("max_tokens")
        return longest
    return asked


def _think(made: Plan, wish: Thinking, traits: Traits, losses: Losses, *, free: bool) -> None:
    if wish.enabled is None and wish.effort is None and wish.budget is None:
        return
    if wish.enabled is False or wish.effort == "none" or wish.budget == 0:
        # Only models that think unasked have to be told.
        if traits.off == "never":
            losses.add("thinking")
            made.effort = "low"
        elif traits.off != "omit":
            made.fields["thinking"] = {"type": traits.off}
    elif traits.thinks == "no":
        losses.add("thinking")
    elif traits.thinks == "effort":
        made.fields[traits.thinking_field] = _nearest(_effort(wish), "high", losses)
    elif traits.thinks == "nova":
        effort = _nearest(_effort(wish), "high", losses)
        made.fields["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": effort}
        if effort == "high" and made.inference.pop("maxTokens", None) is not None:
            losses.add("max_tokens")  # the vendor refuses a limit beside this effort
        made.thinks = effort == "high"
    elif not free:
        losses.add("thinking")
    elif traits.thinks == "adaptive":
        made.fields["thinking"] = {"type": "adaptive"}
        if wish.effort is not None or (wish.budget or 0) > 0:
            made.effort = _nearest(_effort(wish), "max", losses)
        made.thinks = True
    else:
        _give_budget(made, wish, losses)


def _give_budget(made: Plan, wish: Thinking, losses: Losses) -> None:
    budget = wish.budget if wish.budget is not None and wish.budget > 0 else None
    budget = max(_LEAST_BUDGET, budget or budget_of(_effort(wish)))
    limit = made.inference.get("maxTokens")
    if limit is None:
        made.inference["maxTokens"] = budget + _USUAL_LIMIT
    elif limit <= _LEAST_BUDGET:
        losses.add("thinking")  # the least budget does not fit
        return
    elif budget >= limit:
        budget = max(_LEAST_BUDGET, limit // 2)
    made.fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
    made.thinks = True


def _effort(wish: Thinking) -> str:
    if wish.effort is not None:
        return wish.effort
    return effort_of(wish.budget) if wish.budget is not None else "medium"


def _nearest(effort: str, most: str, losses: Losses) -> str:
    """The word itself, or the nearest one that the model knows."""
    if effort in ("none", "minimal"):
        return "low"
    if effort not in _EFFORTS:
        return "medium"
    if _EFFORTS.index(effort) > _EFFORTS.index(most):
        losses.add("effort")
        return most
    return effort


def _sample(made: Plan, sampling: Sampling, traits: Traits, losses: Losses) -> None:
    free = traits.samples and not made.thinks
    said: dict[str, float] = {}
    if sampling.temperature is not None and free:
        said["temperature"] = min(sampling.temperature, 1.0)
    if sampling.temperature is not None and sampling.temperature != said.get("temperature", 1.0):
        losses.add("temperature")
    if sampling.top_p is not None and free and not (traits.one_sampler and said):
        said["topP"] = sampling.top_p
    elif sampling.top_p is not None and sampling.top_p != 1.0:
        losses.add("top_p")
    made.inference |= said
    if sampling.top_k is not None:
        place = traits.top_k if free else ""
        outer, _, inner = place.partition(".")
        if not place:
            losses.add("top_k")
        elif inner:
            made.fields[outer] = {inner: sampling.top_k}
        else:
            made.fields[outer] = sampling.top_k


def _note_others(sampling: Sampling, losses: Losses) -> None:
    """Record what Converse has no member for; a zero penalty asks for nothing."""
    said = {
        "min_p": sampling.min_p is not None,
        "seed": sampling.seed is not None,
        "presence_penalty": bool(sampling.presence_penalty),
        "frequency_penalty": bool(sampling.frequency_penalty),
        "candidates": (sampling.candidates or 1) > 1,
        "logprobs": bool(sampling.logprobs or sampling.top_logprobs),
    }
    for name, is_said in said.items():
        if is_said:
            losses.add(name)
