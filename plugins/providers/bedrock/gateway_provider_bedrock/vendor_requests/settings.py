"""How much to think and how freely to speak, as each maker's models take it.

One choice touches the others: thinking with a budget forbids most sampling
parameters and a forced tool choice, and its budget must fit below the limit.
"""

from dataclasses import dataclass, field
from typing import Any

from gateway_core import Conversation, Losses, Sampling, Target, Thinking
from gateway_formats.effort import budget_of, effort_of

from .models import Traits

# https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
_LEAST_BUDGET = 1024
_USUAL_LIMIT = 8192
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(slots=True)
class Settings:
    """What a request will say beside its messages."""

    inference: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    """``additionalModelRequestFields``."""
    effort: str | None = None
    thinks: bool = False


def build_settings(
    conversation: Conversation,
    target: Target,
    traits: Traits,
    losses: Losses,
    *,
    forced: bool,
    thinking_lost: bool,
) -> Settings:
    """Neither ``forced`` nor ``thinking_lost`` goes together with thinking.

    ``forced`` means that a tool must be called, ``thinking_lost`` that a call without its
    thinking is being answered.
    """
    settings = Settings()
    sampling = conversation.sampling
    limit, longest = sampling.max_tokens, target.model.max_output
    if limit is not None:
        if longest is not None and limit > longest:
            losses.add("max_tokens")
            limit = longest
        settings.inference["maxTokens"] = limit
    if conversation.thinking is not None:
        _think(settings, conversation.thinking, traits, losses, free=not (forced or thinking_lost))
    if forced and traits.thinks_unasked and "thinking" not in settings.fields:
        settings.fields["thinking"] = {"type": "disabled"}
    _sample(settings, sampling, traits, losses)
    if stop := [text for text in sampling.stop if text]:
        settings.inference["stopSequences"] = stop
    # Record what Converse has no member for; a zero penalty asks for nothing.
    unsupported = {
        "min_p": sampling.min_p is not None,
        "seed": sampling.seed is not None,
        "presence_penalty": bool(sampling.presence_penalty),
        "frequency_penalty": bool(sampling.frequency_penalty),
        "candidates": (sampling.candidates or 1) > 1,
        "logprobs": bool(sampling.logprobs or sampling.top_logprobs),
    }
    for name, is_requested in unsupported.items():
        if is_requested:
            losses.add(name)
    return settings


def _think(
    settings: Settings, thinking: Thinking, traits: Traits, losses: Losses, *, free: bool
) -> None:
    if thinking.enabled is None and thinking.effort is None and thinking.budget is None:
        return
    if thinking.enabled is False or thinking.effort == "none" or thinking.budget == 0:
        # Only models that think by default need the member.
        if traits.off == "never":
            losses.add("thinking")
            settings.effort = "low"
        elif traits.off != "omit":
            settings.fields["thinking"] = {"type": traits.off}
    elif traits.thinks == "no":
        losses.add("thinking")
    elif traits.thinks == "effort":
        settings.fields[traits.thinking_field] = _nearest(_effort(thinking), "high", losses)
    elif traits.thinks == "nova":
        effort = _nearest(_effort(thinking), "high", losses)
        settings.fields["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": effort}
        if effort == "high" and settings.inference.pop("maxTokens", None) is not None:
            losses.add("max_tokens")  # the vendor refuses a limit beside this effort
        settings.thinks = effort == "high"
    elif not free:
        losses.add("thinking")
    elif traits.thinks == "adaptive":
        settings.fields["thinking"] = {"type": "adaptive"}
        if thinking.effort is not None or (thinking.budget or 0) > 0:
            settings.effort = _nearest(_effort(thinking), "max", losses)
        settings.thinks = True
    else:
        budget = thinking.budget if thinking.budget is not None and thinking.budget > 0 else None
        budget = max(_LEAST_BUDGET, budget or budget_of(_effort(thinking)))
        limit = settings.inference.get("maxTokens")
        if limit is None:
            settings.inference["maxTokens"] = budget + _USUAL_LIMIT
        elif limit <= _LEAST_BUDGET:
            losses.add("thinking")  # the least budget does not fit
            return
        # The budget must be less than maxTokens, which includes it.
        elif budget >= limit:
            budget = max(_LEAST_BUDGET, limit // 2)
        settings.fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
        settings.thinks = True


def _effort(thinking: Thinking) -> str:
    if thinking.effort is not None:
        return thinking.effort
    return effort_of(thinking.budget) if thinking.budget is not None else "medium"


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


def _sample(settings: Settings, sampling: Sampling, traits: Traits, losses: Losses) -> None:
    free = traits.samples and not settings.thinks
    inference: dict[str, float] = {}
    if sampling.temperature is not None and free:
        # Temperature goes up to 1:
        # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html
        inference["temperature"] = min(sampling.temperature, 1.0)
    if sampling.temperature is not None and sampling.temperature != inference.get(
        "temperature", 1.0
    ):
        losses.add("temperature")
    if sampling.top_p is not None and free and not (traits.one_sampler and inference):
        inference["topP"] = sampling.top_p
    elif sampling.top_p is not None and sampling.top_p != 1.0:
        losses.add("top_p")
    settings.inference |= inference
    if sampling.top_k is not None:
        place = traits.top_k if free else ""
        outer, _, inner = place.partition(".")
        if not place:
            losses.add("top_k")
        elif inner:
            settings.fields[outer] = {inner: sampling.top_k}
        else:
            settings.fields[outer] = sampling.top_k
