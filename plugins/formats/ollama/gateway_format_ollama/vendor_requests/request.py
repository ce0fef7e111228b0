"""A conversation to a request for the local model server."""

from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Conversation, Losses, Target, Thinking
from gateway_formats.effort import effort_of

from .._arguments import WRAPPER
from .._dialect import DIALECT
from .messages import extend, write_messages

_encode = msgspec.json.encode

# https://github.com/ollama/ollama/blob/main/docs/modelfile.md#valid-parameters-and-values
_OPTIONS = {
    "max_tokens": "num_predict",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
"""The hub's names to the server's."""
_THINK: dict[str, str | bool] = {"none": False, "minimal": "low", "xhigh": "high"}
"""Efforts that the server calls something else."""
_NO_ARGUMENTS = Raw(b'{"type":"object","properties":{}}')
# The server knows functions only, so a custom tool becomes one with a single text.
_FREE_TEXT = Raw(
    _encode({"type": "object", "properties": {WRAPPER: {"type": "string"}}, "required": [WRAPPER]})
)
"""What a tool that takes free text is called with."""


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be expressed."""
    messages = write_messages(conversation, DIALECT, losses)
    if not messages:
        raise BadRequest(f"Nothing in this request can be sent to {target.model.id}")
    body: dict[str, Any] = {
        "model": target.model.id,
        "messages": messages,
        "stream": conversation.stream,
    }
    if tools := _tools(conversation, losses):
        body["tools"] = tools
    sampling = conversation.sampling
    values = ((name, getattr(sampling, member)) for member, name in _OPTIONS.items())
    options = {name: value for name, value in values if value is not None}
    if sampling.stop:
        options["stop"] = sampling.stop
    if options:
        body["options"] = options
    if sampling.logprobs is not None:
        body["logprobs"] = sampling.logprobs
    if sampling.top_logprobs is not None:
        body["top_logprobs"] = sampling.top_logprobs
    # The server refuses a word about thinking to a model that cannot think.
    think = _think(conversation.thinking)
    if target.model.reasoning is False and conversation.dialect != DIALECT:
        if think:
            losses.add("thinking")
    elif think is not None:
        body["think"] = think
    if conversation.output is not None:
        schema = conversation.output.schema
        body["format"] = "json" if schema is None else schema
        if conversation.output.description is not None:
            losses.add("output_description")
    # Record what the conversation holds and this dialect has no member for.
    unsupported = {
        "candidates": (sampling.candidates or 1) > 1,
        "user": conversation.user is not None,
        "cache_key": conversation.cache_key is not None,
        "service_tier": conversation.service_tier is not None,
    }
    for name, is_requested in unsupported.items():
        if is_requested:
            losses.add(name)
    if conversation.dialect == DIALECT:
        extend(body, conversation.extra)
    else:
        losses.add_extra(conversation.extra)
    return _encode(body)


def _tools(conversation: Conversation, losses: Losses) -> list[dict[str, Any]]:
    """The functions; none at all when the client forbids every call."""
    choice = conversation.tool_choice
    # The server has no tool_choice; leaving tools out is the only way to forbid calls.
    if choice is not None and choice.mode == "none":
        return []
    if choice is not None and choice.mode != "auto":
        losses.add("tool_choice")
    if conversation.parallel_tools is False:
        losses.add("parallel_tools")
    own = conversation.dialect == DIALECT
    rows: list[dict[str, Any]] = []
    for tool in conversation.tools:
        if tool.hosted is not None:
            losses.add(f"tool:{tool.hosted}")
            continue
        if tool.custom:
            losses.add("tool:custom")
        if tool.strict:
            losses.add("strict")
        if tool.cache is not None:
            losses.add("cache_control")
        function: dict[str, Any] = {"name": tool.name}
        if tool.description is not None:
            function["description"] = tool.description
        function["parameters"] = _FREE_TEXT if tool.custom else tool.schema or _NO_ARGUMENTS
        row: dict[str, Any] = {"type": "function", "function": function}
        if own:
            extend(row, tool.extra)
        else:
            losses.add_extra(tool.extra, within="tools")
        rows.append(row)
    return rows


def _think(thinking: Thinking | None) -> str | bool | None:
    if thinking is None:
        return None
    if thinking.enabled is False:
        return False
    effort, budget = thinking.effort, thinking.budget
    if effort is None and budget is not None:
        if budget < 0:
            return True
        effort = effort_of(budget)
    return thinking.enabled if effort is None else _THINK.get(effort, effort)
