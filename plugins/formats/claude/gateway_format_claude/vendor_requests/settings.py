"""How much to think and how freely to sample, as a model behind this wire takes it.

One setting touches the others: thinking forbids most sampling parameters and a forced tool
choice, and its budget must fit below ``max_tokens``.
https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
"""

from dataclasses import dataclass

from gateway_core import Conversation, Losses, Sampling, Thinking
from gateway_formats.effort import budget_of, effort_of

from .models import Traits

USUAL_MAX_TOKENS = 8192
_LEAST_BUDGET = 1024
_TIERS = {"auto": "auto", "default": "standard_only", "standard_only": "standard_only"}


@dataclass(slots=True)
class ThinkingPlan:
    """What the request says of thinking."""

    max_tokens: int
    thinking: dict[str, object] | None = None
    effort: str | None = None

    @property
    def has_budget(self) -> bool:
        return self.thinking is not None and self.thinking["type"] == "enabled"

    @property
    def is_on(self) -> bool:
        return self.thinking is not None and self.thinking["type"] in ("enabled", "adaptive")


def limit_tokens(requested: int | None, longest: int | None, losses: Losses) -> int:
    """``max_tokens``, which this wire requires: as requested, as far as the model goes."""
    if requested is None:
        return longest or USUAL_MAX_TOKENS
    if longest is not None and requested > longest:
        losses.add("max_tokens")
        return longest
    return requested


def plan_thinking(
    thinking: Thinking | None,
    traits: Traits,
    losses: Losses,
    *,
    requested: int | None,
    longest: int | None,
    native: bool,
) -> ThinkingPlan:
    """Thinking within the token limit: ``requested`` by the client, ``longest`` of the model."""
    plan = ThinkingPlan(limit_tokens(requested, longest, losses))
    if thinking is None:
        return plan
    amounts = (thinking.enabled, thinking.effort, thinking.budget)
    if amounts == (None, None, None) and not traits.thinks:
        return plan  # only about seeing the thinking, of which there is none
    if thinking.enabled is False or thinking.effort == "none" or thinking.budget == 0:
        _turn_off(plan, traits, losses)
    elif traits.style == "none":
        losses.add("thinking")
    elif native and thinking.enabled is None:
        plan.effort = thinking.effort
    elif traits.style == "adaptive" and not (traits.budgets and (thinking.budget or 0) > 0):
        plan.thinking = {"type": "adaptive"}
        plan.effort = _choose_effort(thinking, traits, losses)
    else:
        _set_budget(plan, thinking, losses, is_open=requested is None and longest is None)
    if thinking.summary in ("concise", "detailed"):
        losses.add("summary")  # there is one kind of summary on this wire
    # Other vendors of this wire may not know ``display``, so only the format's own is sent it.
    knows_display = native or traits.own
    # A client of this format that says nothing of it gets what the model does by itself.
    is_given = thinking.show is False or (thinking.show and not (native and not thinking.summary))
    if plan.is_on and plan.thinking is not None and is_given and knows_display:
        plan.thinking["display"] = "summarized" if thinking.show else "omitted"
    return plan


def _turn_off(plan: ThinkingPlan, traits: Traits, losses: Losses) -> None:
    if traits.off == "never":
        losses.add("thinking")
        # The least that a model which always thinks takes.
        plan.effort = "low"
    elif traits.off != "omit":
        plan.thinking = {"type": traits.off}


def _choose_effort(thinking: Thinking, traits: Traits, losses: Losses) -> str | None:
    """Return the effort that the model knows and that is nearest to the requested amount."""
    effort = thinking.effort
    if effort is None and thinking.budget is not None and thinking.budget >= 0:
        effort = effort_of(thinking.budget)
    if effort is None or effort in traits.efforts:
        return effort
    if effort in ("none", "minimal"):
        return "low"
    losses.add("effort")
    return "high"  # the nearest below it that every model with efforts knows


def _set_budget(plan: ThinkingPlan, thinking: Thinking, losses: Losses, *, is_open: bool) -> None:
    """Set a budget of tokens; ``is_open``: nobody limits the answer, so the limit may grow.

    The vendor refuses budgets below 1024, and such that are not below ``max_tokens``.
    """
    budget = thinking.budget
    if budget is None or budget < 0:
        budget = budget_of(thinking.effort or "medium")
    budget = max(_LEAST_BUDGET, budget)
    if budget >= plan.max_tokens and is_open:
        plan.max_tokens = budget + USUAL_MAX_TOKENS
    if plan.max_tokens <= _LEAST_BUDGET:
        losses.add("thinking")
        return
    if budget >= plan.max_tokens:
        budget = max(_LEAST_BUDGET, plan.max_tokens // 2)
    plan.thinking = {"type": "enabled", "budget_tokens": budget}


def write_sampling(
    sampling: Sampling, plan: ThinkingPlan | None, traits: Traits, losses: Losses
) -> dict[str, object]:
    """The sampling members; without a plan the request says nothing of thinking."""
    thinks = traits.thinks if plan is None or plan.thinking is None else plan.is_on
    is_free = traits.sampling and not thinks
    members: dict[str, object] = {}
    temperature, top_p, top_k = sampling.temperature, sampling.top_p, sampling.top_k
    if temperature is not None and (is_free or temperature == 1) and traits.sampling:
        # Other vendors go up to 2, this one to 1.
        members["temperature"] = min(temperature, 1.0)
    if temperature is not None and temperature != members.get("temperature", 1):
        losses.add("temperature")
    if top_p is not None and top_p != 1:
        # Thinking models still take a top_p between 0.95 and 1.
        if is_free or (traits.sampling and top_p >= 0.95):
            members["top_p"] = top_p
        else:
            losses.add("top_p")
    if top_k is not None:
        if is_free:
            members["top_k"] = top_k
        else:
            losses.add("top_k")
    if traits.one_sampler and "temperature" in members and "top_p" in members:
        # The one that was moved from its default stays, temperature before top_p.
        if members["temperature"] == 1:
            del members["temperature"]
        else:
            losses.add("top_p")
            del members["top_p"]
    if sampling.stop:
        stop = [text for text in sampling.stop if text.strip()]
        if len(stop) < len(sampling.stop):
            losses.add("stop")  # the vendor refuses white space alone
        if stop:
            members["stop_sequences"] = stop
    if sampling.min_p is not None:
        losses.add("min_p")
    if sampling.seed is not None:
        losses.add("seed")
    if sampling.presence_penalty:
        losses.add("presence_penalty")
    if sampling.frequency_penalty:
        losses.add("frequency_penalty")
    if sampling.candidates is not None and sampling.candidates > 1:
        losses.add("candidates")
    if sampling.logprobs or sampling.top_logprobs:
        losses.add("logprobs")
    return members


def write_labels(conversation: Conversation, losses: Losses) -> dict[str, object]:
    """Who asks, and in which service tier."""
    labels: dict[str, object] = {}
    if conversation.user is not None:
        labels["metadata"] = {"user_id": conversation.user}
    if conversation.service_tier is not None:
        tier = _TIERS.get(conversation.service_tier)
        if tier is None:
            losses.add("service_tier")
        else:
            labels["service_tier"] = tier
    if conversation.cache_key is not None:
        losses.add("cache_key")  # the vendor caches by breakpoints, not by key
    return labels
