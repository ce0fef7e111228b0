"""A conversation to a request for Cohere's chat."""

from typing import Any

import msgspec

from gateway_core import BadRequest, Conversation, Losses, Sampling, Target, Thinking, Tool
from gateway_formats.effort import budget_of

from .._dialect import DIALECT
from .messages import MessageWriter

# https://docs.cohere.com/reference/chat#request.body.stop_sequences
_MOST_STOPS = 5
_NO_ARGUMENTS = {"type": "object", "properties": {}}

_encode = msgspec.json.encode


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be expressed."""
    writer = MessageWriter(losses, thinks=target.model.reasoning is True)
    messages = writer.write(conversation)
    if not messages:
        raise BadRequest(f"Nothing in this request can be sent to {target.model.id}")
    body: dict[str, Any] = {
        "model": target.model.id,
        "messages": messages,
        "stream": conversation.stream,
    }
    if writer.documents:
        body["documents"] = writer.documents
    body |= _tools(conversation, losses)
    body |= _sampling(conversation.sampling, losses)
    if conversation.output is not None:
        output = conversation.output
        if output.description is not None:
            losses.add("output_description")
        # https://docs.cohere.com/docs/structured-outputs
        schema = {} if output.schema is None else {"json_schema": output.schema}
        body["response_format"] = {"type": "json_object", **schema}
    if conversation.thinking is not None:
        body |= _thinking(conversation.thinking, target, losses)
    options = target.provider.options
    if safety := options.get("safety_mode"):
        body["safety_mode"] = safety
    if citations := options.get("citation_mode"):
        body["citation_options"] = {"mode": citations}
    # Record what the conversation says and Cohere has no member for.
    sampling = conversation.sampling
    unsupported = {
        "min_p": sampling.min_p is not None,
        "candidates": (sampling.candidates or 1) > 1,
        "top_logprobs": bool(sampling.top_logprobs),
        "user": conversation.user is not None,
        "cache_key": conversation.cache_key is not None,
        "service_tier": conversation.service_tier is not None,
    }
    for name, is_requested in unsupported.items():
        if is_requested:
            losses.add(name)
    if conversation.dialect != DIALECT:
        losses.add_extra(conversation.extra)
    else:
        body |= conversation.extra
    return _encode(body)


def _tools(conversation: Conversation, losses: Losses) -> dict[str, Any]:
    """The functions that may be called, and whether one must be."""
    if conversation.parallel_tools is False:
        losses.add("parallel_tools")
    choice = conversation.tool_choice
    named = choice.names if choice is not None and choice.mode == "only" else None
    tools: list[Tool] = []
    for tool in conversation.tools:
        if tool.hosted is not None or tool.custom:
            losses.add(f"tool:{tool.hosted or 'custom'}")
        elif named is None or tool.name in named:
            tools.append(tool)
    if not tools:
        return {}
    rows: list[dict[str, Any]] = []
    for tool in tools:
        if tool.cache is not None:
            losses.add("cache_control")
        losses.add_extra(tool.extra, within="tools")
        function: dict[str, Any] = {"name": tool.name}
        if tool.description is not None:
            function["description"] = tool.description
        function["parameters"] = _NO_ARGUMENTS if tool.schema is None else tool.schema
        rows.append({"type": "function", "function": function})
    members: dict[str, Any] = {"tools": rows}
    strict = [tool.strict is True for tool in tools]
    if all(strict):
        members["strict_tools"] = True
    elif any(strict):
        losses.add("strict")  # Cohere asks it of all tools or of none
    if choice is not None and choice.mode != "auto":
        # REQUIRED and NONE; auto is the absence: https://docs.cohere.com/docs/tool-use-usage-patterns
        members["tool_choice"] = "NONE" if choice.mode == "none" else "REQUIRED"
    return members


def _sampling(sampling: Sampling, losses: Losses) -> dict[str, Any]:
    if len(sampling.stop) > _MOST_STOPS:
        losses.add("stop")
    k = _within(sampling.top_k, 0, 500, "top_k", losses)
    seed = sampling.seed
    # The vendor refuses a seed that is no unsigned 64-bit integer.
    if seed is not None and not 0 <= seed < 1 << 64:
        losses.add("seed")
        seed = None
    members: dict[str, Any] = {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        # The ranges of p, k and the penalties: https://docs.cohere.com/reference/chat
        "p": _within(sampling.top_p, 0.01, 0.99, None, losses),
        "k": k,
        "seed": seed,
        "stop_sequences": sampling.stop[:_MOST_STOPS] or None,
        "frequency_penalty": _within(
            sampling.frequency_penalty, 0.0, 1.0, "frequency_penalty", losses
        ),
        "presence_penalty": _within(
            sampling.presence_penalty, 0.0, 1.0, "presence_penalty", losses
        ),
        "logprobs": sampling.logprobs,
    }
    return {name: value for name, value in members.items() if value is not None}


def _within(
    value: float | None, least: float, most: float, name: str | None, losses: Losses
) -> float | None:
    """A value that Cohere accepts; the nearest one when it would refuse the requested one."""
    if value is None or least <= value <= most:
        return value
    if name is not None:
        losses.add(name)
    return min(max(value, least), most)


def _thinking(thinking: Thinking, target: Target, losses: Losses) -> dict[str, Any]:
    """On, with a budget if one was requested; nothing for a model that cannot think."""
    effort, budget = thinking.effort, thinking.budget
    if thinking.enabled is None and effort is None and budget is None:
        return {}
    is_off = thinking.enabled is False or effort == "none" or budget == 0
    if target.model.reasoning is False:
        if not is_off:
            losses.add("thinking")
        return {}
    if is_off:
        return {"thinking": {"type": "disabled"}}
    tokens = budget if budget is not None else budget_of(effort) if effort is not None else -1
    # https://docs.cohere.com/docs/reasoning
    limit = {"token_budget": tokens} if tokens > 0 else {}
    return {"thinking": {"type": "enabled", **limit}}
