"""``generationConfig``, as the vendor takes it."""

from gateway_core import Conversation, Sampling, Thinking
from gateway_formats.effort import budget_of, effort_of

from .._media import Json
from .._members import within
from ..client_requests.settings import CONFIG
from .models import Nature
from .target import Aim
from .tools import write_schema

_MOST_STOPS = 5
_LEVELS = {"none": "minimal", "minimal": "minimal", "low": "low", "medium": "medium"}
"""Thinking levels of the third generation; every greater effort is ``high``."""


def write_settings(conversation: Conversation, aim: Aim) -> Json:
    """The members of ``generationConfig``."""
    config = _sampling(conversation.sampling, aim)
    config |= _output(conversation, aim)
    thinking = _thinking(conversation.thinking, aim)
    if aim.own:
        left = within(CONFIG, conversation.extra)
        thinking |= within("thinkingConfig", left)
        config |= {name: value for name, value in left.items() if "." not in name}
    return {**config, "thinkingConfig": thinking} if thinking else config


def _sampling(asked: Sampling, aim: Aim) -> Json:
    longest = asked.max_tokens
    if asked == Sampling(max_tokens=longest):  # as it mostly is
        return {} if longest is None else {"maxOutputTokens": longest}
    if asked.min_p is not None:
        aim.losses.add("min_p")
    if len(asked.stop) > _MOST_STOPS and not aim.own:
        aim.losses.add("stop")
    stop = asked.stop if aim.own else asked.stop[:_MOST_STOPS]
    made: Json = {
        "maxOutputTokens": asked.max_tokens,
        "temperature": asked.temperature,
        "topP": asked.top_p,
        "topK": asked.top_k,
        "seed": asked.seed,
        "stopSequences": stop or None,
        "presencePenalty": asked.presence_penalty,
        "frequencyPenalty": asked.frequency_penalty,
        "candidateCount": asked.candidates,
        "responseLogprobs": asked.logprobs,
        "logprobs": asked.top_logprobs if aim.own or asked.logprobs else None,
    }
    return {name: value for name, value in made.items() if value is not None}


def _output(conversation: Conversation, aim: Aim) -> Json:
    output = conversation.output
    if output is None:
        return {}
    functions = any(tool.hosted is None for tool in conversation.tools)
    if functions and aim.nature.before(3) and not aim.own:
        # The older models refuse a form for the answer beside functions.
        aim.losses.add("output_json" if output.schema is None else "output_schema")
        return {}
    made: Json = {"responseMimeType": "application/json"}
    return made if output.schema is None else {**made, **write_schema(output.schema, aim)}


def _thinking(asked: Thinking | None, aim: Aim) -> Json:
    if asked is None:
        return {}
    if asked.summary in ("concise", "detailed"):
        aim.losses.add("summary")
    if not aim.nature.thinks and not aim.own:
        if asked.enabled or asked.budget or asked.effort not in (None, "none"):
            aim.losses.add("thinking")
        return {}
    show = True if asked.show is None and asked.summary is not None else asked.show
    made = _measure(asked, aim)
    if show and not aim.own and made.get("thinkingBudget") == 0:
        show = None  # the vendor refuses to show what it was told not to think
    return made if show is None else {**made, "includeThoughts": show}


def _measure(asked: Thinking, aim: Aim) -> Json:
    """How much to think, in the measure that the model's generation knows."""
    effort, budget = asked.effort, asked.budget
    if effort is None and budget is None:
        if asked.enabled is False:
            effort = "none"
        elif asked.enabled and not aim.nature.since(3):
            budget = -1
    if budget is not None and aim.own:
        return {"thinkingBudget": budget}
    if effort is None and budget is None:
        return {}
    if aim.nature.since(3):
        if budget == -1:
            return {}
        return _level(effort if effort is not None else effort_of(budget or 0), aim)
    if aim.nature.generation is None and aim.own:
        return {"thinkingLevel": effort}
    return _budget(budget_of(effort) if effort is not None else budget or 0, aim)


def _level(effort: str, aim: Aim) -> Json:
    if effort == "none":
        aim.losses.add("thinking")  # these models cannot be kept from thinking
    level = _LEVELS.get(effort, "high")
    if aim.nature.pro and level == "minimal":
        level = "low"
    if aim.nature.pro and level == "medium" and aim.nature.generation == (3, 0):
        level = "high"
    return {"thinkingLevel": level}


def _budget(budget: int, aim: Aim) -> Json:
    least, most = _range(aim.nature)
    if budget < 0:
        return {"thinkingBudget": -1}
    if budget == 0:
        if aim.nature.pro:
            aim.losses.add("thinking")
            return {"thinkingBudget": least}
        return {"thinkingBudget": 0}
    return {"thinkingBudget": min(max(budget, least), most)}


def _range(nature: Nature) -> tuple[int, int]:
    """The budgets the 2.5 models take. https://ai.google.dev/gemini-api/docs/thinking"""
    if nature.pro:
        return 128, 32768
    return (512 if nature.lite else 1), 24576
