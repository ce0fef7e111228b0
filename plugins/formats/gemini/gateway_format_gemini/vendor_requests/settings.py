"""Writes ``generationConfig``.

https://ai.google.dev/api/generate-content#v1beta.GenerationConfig
"""

from gateway_core import Conversation, Sampling, Thinking
from gateway_formats.effort import budget_of, effort_of

from .._dialect import GENERATION_CONFIG
from .._media import Json
from .._members import take_prefix
from .goal import Goal
from .tools import write_schema

_MOST_STOPS = 5
_LEVELS = {"none": "minimal", "minimal": "minimal", "low": "low", "medium": "medium"}
"""Thinking levels of the third generation; every greater effort is ``high``."""


def write_settings(conversation: Conversation, goal: Goal) -> Json:
    """The members of ``generationConfig``."""
    config = _write_sampling(conversation.sampling, goal)
    output = conversation.output
    if output is not None:
        has_functions = any(tool.hosted is None for tool in conversation.tools)
        if has_functions and goal.traits.before(3) and not goal.own:
            # The older models refuse a form for the answer beside functions.
            goal.losses.add("output_json" if output.schema is None else "output_schema")
        else:
            config["responseMimeType"] = "application/json"
            if output.schema is not None:
                config |= write_schema(output.schema, goal)
                if output.description is not None:
                    goal.losses.add("output_description")
    thinking = _write_thinking(conversation.thinking, goal)
    if goal.own:
        rest = take_prefix(GENERATION_CONFIG, conversation.extra)
        thinking |= take_prefix("thinkingConfig", rest)
        config |= {name: value for name, value in rest.items() if "." not in name}
    return {**config, "thinkingConfig": thinking} if thinking else config


def _write_sampling(sampling: Sampling, goal: Goal) -> Json:
    if sampling.min_p is not None:
        goal.losses.add("min_p")
    if len(sampling.stop) > _MOST_STOPS and not goal.own:
        goal.losses.add("stop")
    stop = sampling.stop if goal.own else sampling.stop[:_MOST_STOPS]
    config: Json = {
        "maxOutputTokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
        "topK": sampling.top_k,
        "seed": sampling.seed,
        "stopSequences": stop or None,
        "presencePenalty": sampling.presence_penalty,
        "frequencyPenalty": sampling.frequency_penalty,
        "candidateCount": sampling.candidates,
        "responseLogprobs": sampling.logprobs,
        # The vendor refuses the number without the switch.
        "logprobs": sampling.top_logprobs if goal.own or sampling.logprobs else None,
    }
    return {name: value for name, value in config.items() if value is not None}


def _write_thinking(thinking: Thinking | None, goal: Goal) -> Json:
    """https://ai.google.dev/gemini-api/docs/thinking"""
    if thinking is None:
        return {}
    if thinking.summary in ("concise", "detailed"):
        goal.losses.add("summary")
    if not goal.traits.thinks and not goal.own:
        if thinking.enabled or thinking.budget or thinking.effort not in (None, "none"):
            goal.losses.add("thinking")
        return {}
    show = thinking.show
    if show is None and thinking.summary is not None:
        show = True
    config = _write_amount(thinking, goal)
    if show and not goal.own and config.get("thinkingBudget") == 0:
        show = None  # the vendor refuses to show thinking that is turned off
    return config if show is None else {**config, "includeThoughts": show}


def _write_amount(thinking: Thinking, goal: Goal) -> Json:
    """How much to think, in the measure that the model's generation knows."""
    effort, budget = thinking.effort, thinking.budget
    if effort is None and budget is None:
        if thinking.enabled is False:
            effort = "none"
        elif thinking.enabled and not goal.traits.since(3):
            budget = -1  # the model decides
    if budget is not None and goal.own:
        return {"thinkingBudget": budget}
    if effort is None and budget is None:
        return {}
    # Models of the third generation take a level, older ones a number of tokens.
    if goal.traits.since(3):
        if budget == -1:
            return {}
        effort = effort if effort is not None else effort_of(budget or 0)
        if effort == "none":
            goal.losses.add("thinking")  # these models cannot be kept from thinking
        level = _LEVELS.get(effort, "high")
        if goal.traits.pro and level == "minimal":
            level = "low"
        if goal.traits.pro and level == "medium" and goal.traits.generation == (3, 0):
            level = "high"  # 3 Pro has no medium
        return {"thinkingLevel": level}
    if goal.traits.generation is None and goal.own:
        return {"thinkingLevel": effort}
    budget = budget_of(effort) if effort is not None else budget or 0
    # The ranges of the 2.5 models: https://ai.google.dev/gemini-api/docs/thinking
    least, most = (128, 32768) if goal.traits.pro else (512 if goal.traits.lite else 1, 24576)
    if budget < 0:
        return {"thinkingBudget": -1}
    if budget == 0 and not goal.traits.pro:
        return {"thinkingBudget": 0}
    if budget == 0:
        goal.losses.add("thinking")  # 2.5 Pro cannot be kept from thinking
    return {"thinkingBudget": min(max(budget, least), most)}
