"""How much to think and how freely to speak, as a model behind this wire takes it.

One choice touches the others: thinking forbids most sampling parameters and a
forced tool choice, and its budget must fit below ``max_tokens``.
"""

from dataclasses import dataclass

from gateway_core import Losses, Sampling, Thinking, Tool, ToolChoice
from gateway_formats.effort import budget_of, effort_of

from .models import Traits

USUAL_MAX_TOKENS = 8192
_LEAST_BUDGET = 1024


@dataclass(slots=True)
class Plan:
    """What the request will say of thinking."""

    max_tokens: int
    thinking: dict[str, object] | None = None
    effort: str | None = None

    @property
    def has_budget(self) -> bool:
        return self.thinking is not None and self.thinking["type"] == "enabled"

    @property
    def on(self) -> bool:
        return self.thinking is not None and self.thinking["type"] in ("enabled", "adaptive")


def plan_thinking(
    wish: Thinking | None,
    traits: Traits,
    losses: Losses,
    *,
    asked: int | None,
    longest: int | None,
    native: bool,
) -> Plan:
    """Thinking within the token limit: ``asked`` by the client, ``longest`` of the model."""
    plan = Plan(limit_of(asked, longest, losses))
    if wish is None or (_only_shows(wish) and not traits.thinks):
        return plan
    if wish.enabled is False or wish.effort == "none" or wish.budget == 0:
        _turn_off(plan, traits, losses)
    elif traits.style == "none":
        losses.add("thinking")
    elif native and wish.enabled is None:
        plan.effort = wish.effort
    elif traits.style == "adaptive" and not (traits.budgets and (wish.budget or 0) > 0):
        _adapt(plan, wish, traits, losses)
    else:
        _give_budget(plan, wish, losses, asked=asked, longest=longest)
    _show(plan, wish, native or traits.own, losses)
    return plan


def _show(plan: Plan, wish: Thinking, known: bool, losses: Losses) -> None:
    """Say whether the thinking is to be seen, where the vendor is known to understand."""
    if wish.summary in ("concise", "detailed"):
        losses.add("summary")  # there is one way of summing up on this wire
    if plan.on and plan.thinking is not None and wish.show is not None and known:
        plan.thinking["display"] = "summarized" if wish.show else "omitted"


def _only_shows(wish: Thinking) -> bool:
    """Whether it is only about seeing the thinking, which does not ask for any."""
    return wish.enabled is None and wish.effort is None and wish.budget is None


def limit_of(asked: int | None, longest: int | None, losses: Losses) -> int:
    """The longest answer: what is asked for, as far as the model goes."""
    if asked is None:
        return longest or USUAL_MAX_TOKENS
    if longest is not None and asked > longest:
        losses.add("max_tokens")
        return longest
    return asked


def _turn_off(plan: Plan, traits: Traits, losses: Losses) -> None:
    if traits.off == "never":
        losses.add("thinking")
        plan.effort = "low"
    elif traits.off != "omit":
        plan.thinking = {"type": traits.off}


def _adapt(plan: Plan, wish: Thinking, traits: Traits, losses: Losses) -> None:
    plan.thinking = {"type": "adaptive"}
    if wish.effort is not None:
        plan.effort = _nearest(wish.effort, traits, losses)
    elif wish.budget is not None and wish.budget >= 0:
        plan.effort = _nearest(effort_of(wish.budget), traits, losses)


def _nearest(effort: str, traits: Traits, losses: Losses) -> str:
    """The word itself, or the one below it that this model knows."""
    if effort in traits.efforts:
        return effort
    if effort in ("none", "minimal"):
        return "low"
    losses.add("effort")
    return "high"


def _give_budget(
    plan: Plan, wish: Thinking, losses: Losses, *, asked: int | None, longest: int | None
) -> None:
    budget = max(_LEAST_BUDGET, _budget(wish))
    if budget >= plan.max_tokens and asked is None and longest is None:
        plan.max_tokens = budget + USUAL_MAX_TOKENS
    if plan.max_tokens <= _LEAST_BUDGET:
        losses.add("thinking")  # the vendor's least budget does not fit
        return
    if budget >= plan.max_tokens:
        budget = max(_LEAST_BUDGET, plan.max_tokens // 2)
    plan.thinking = {"type": "enabled", "budget_tokens": budget}


def _budget(wish: Thinking) -> int:
    if wish.budget is not None and wish.budget >= 0:
        return wish.budget
    return budget_of(wish.effort or "medium")


def choose_tool(
    choice: ToolChoice | None,
    parallel: bool | None,
    tools: tuple[Tool, ...],
    plan: Plan,
    traits: Traits,
    losses: Losses,
) -> dict[str, object] | None:
    """The ``tool_choice`` member; a thinking budget and a forced call exclude each other."""
    forced = choice is not None and choice.mode in ("required", "only")
    if not tools:
        if forced:
            losses.add("tool_choice")
        return None
    if forced and (not traits.forced_tools or plan.has_budget):
        losses.add("tool_choice")
        choice = ToolChoice("auto")
    return _choice(choice, parallel)


def _choice(choice: ToolChoice | None, parallel: bool | None) -> dict[str, object] | None:
    if choice is None and parallel is not False:
        return None
    said: dict[str, object] = {"type": "auto"}
    if choice is not None and choice.mode == "none":
        return {"type": "none"}
    if choice is not None and choice.mode == "required":
        said = {"type": "any"}
    elif choice is not None and choice.mode == "only":
        one = len(choice.names) == 1
        said = {"type": "tool", "name": choice.names[0]} if one else {"type": "any"}
    if parallel is False:
        said["disable_parallel_tool_use"] = True
    return said


def says_more(said: Sampling) -> bool:
    """Whether a sampling says anything but how long the answer may be."""
    if said.temperature is not None or said.top_p is not None or said.top_k is not None:
        return True
    if said.stop or said.seed is not None or said.min_p is not None:
        return True
    if said.presence_penalty is not None or said.frequency_penalty is not None:
        return True
    if said.candidates is not None or said.logprobs is not None:
        return True
    return said.top_logprobs is not None


def write_sampling(
    sampling: Sampling, plan: Plan | None, traits: Traits, losses: Losses
) -> dict[str, object]:
    """Its members; no plan says nothing of thinking."""
    thinking = traits.thinks if plan is None or plan.thinking is None else plan.on
    said = _samplers(sampling, thinking, traits, losses)
    if sampling.stop:
        stop = [text for text in sampling.stop if text.strip()]
        if len(stop) < len(sampling.stop):
            losses.add("stop")  # the vendor refuses white space alone
        if stop:
            said["stop_sequences"] = stop
    _note_others(sampling, losses)
    return said


def _samplers(
    sampling: Sampling, thinking: bool, traits: Traits, losses: Losses
) -> dict[str, object]:
    free = traits.sampling and not thinking
    said: dict[str, object] = {}
    temperature, top_p, top_k = sampling.temperature, sampling.top_p, sampling.top_k
    if temperature is not None and (free or temperature == 1) and traits.sampling:
        said["temperature"] = min(temperature, 1.0)
    if temperature is not None and temperature != said.get("temperature", 1):
        losses.add("temperature")
    if top_p is not None and top_p != 1:
        if free or (traits.sampling and top_p >= 0.95):
            said["top_p"] = top_p
        else:
            losses.add("top_p")
    if top_k is not None:
        if free:
            said["top_k"] = top_k
        else:
            losses.add("top_k")
    return _one_of_two(said, losses) if traits.one_sampler else said


def _one_of_two(said: dict[str, object], losses: Losses) -> dict[str, object]:
    """Temperature or top_p: the one that was moved from its default, else temperature."""
    if "temperature" not in said or "top_p" not in said:
        return said
    if said["temperature"] != 1:
        losses.add("top_p")
        return {name: value for name, value in said.items() if name != "top_p"}
    return {name: value for name, value in said.items() if name != "temperature"}


def _note_others(sampling: Sampling, losses: Losses) -> None:
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
