"""A client's request, read into a conversation."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Call, Conversation, Intake, Sampling, Text, Thinking, Turn
from gateway_formats.intake import read_routing

from .._members import (
    DIALECT,
    Members,
    invalid,
    is_empty_list,
    is_list,
    is_null,
    is_text,
    items_of,
    keep_rest,
    members_of,
    rest,
    take,
    take_flag,
    take_number,
    take_object,
    take_text,
    take_whole,
    text_of,
)
from .messages import take_messages
from .output import take_output
from .references import find_vendor_references
from .thinking import take_thinking
from .tools import take_choice, take_tools

_SHOWING = "x-gateway-reasoning"
"""A header of the gateway's own: ``off`` for whole answers without their thinking."""


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """Raises BadRequest when there are no messages."""
    name = "messages" if "messages" in members else "input"
    raw = members.get(name)
    if raw is None or is_null(raw):
        raise invalid("messages", "is missing")
    if not is_list(raw) and not (name == "input" and is_text(raw)):
        raise invalid(name, "must be an array")
    if is_empty_list(raw):
        raise invalid(name, "must not be empty")
    return read_routing(path, headers, members)


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, naming the member that is wrong."""
    if call.members and _COMMON.issuperset(call.members):
        # Looking for every other member in vain costs a translated plain answer 10 % of its
        # instructions (benchmarks/short-cuts-openai.md).
        members = dict(call.members)
        instructions, turns = take_messages(members)
        return Conversation(
            instructions=instructions,
            turns=turns,
            sampling=_take_sampling(members),
            thinking=_hide(call, None),
            stream=call.stream,
            stream_usage=False,
            model=take_text(members, "model") or call.model,
            dialect=DIALECT,
            elsewhere=find_vendor_references(turns),
        )
    members = members_of(call)
    instructions, turns = take_messages(members)
    return read_rest(call, members, instructions, turns)


def read_rest(
    call: Call, members: Members, instructions: tuple[Text, ...], turns: tuple[Turn, ...]
) -> Conversation:
    """Everything in a request but its messages."""
    members.pop("stream", None)  # the call already says so
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=take_tools(members),
        tool_choice=take_choice(members),
        parallel_tools=take_flag(members, "parallel_tool_calls"),
        sampling=_take_sampling(members),
        thinking=_hide(call, take_thinking(members)),
        output=take_output(members),
        user=take_text(members, "user"),
        cache_key=take_text(members, "prompt_cache_key"),
        service_tier=take_text(members, "service_tier"),
        stream=call.stream,
        stream_usage=take_usage_option(members),
        model=take_text(members, "model") or call.model,
        dialect=DIALECT,
        extra=rest(members),
        elsewhere=find_vendor_references(turns),
    )


def _hide(call: Call, thinking: Thinking | None) -> Thinking | None:
    """What the request says of thinking, less what the header forbids."""
    if call.headers.get(_SHOWING) != "off" or call.stream:
        return thinking
    return replace(thinking or Thinking(), show=False)


def take_usage_option(members: Members) -> bool:
    """Whether the stream is to report usage; other stream options stay where they are."""
    options = take_object(members, "stream_options")
    if options is None:
        return False
    include_usage = take_flag(options, "include_usage", "stream_options.")
    keep_rest(members, "stream_options", options)
    return bool(include_usage)


def _take_sampling(members: Members) -> Sampling:
    fields: dict[str, Any] = {}
    for name in _SAMPLING:
        if name in members:
            take_member, field = _SAMPLING[name]
            value = take_member(members, name)
            if value is not None:
                fields[field] = value
    return Sampling(**fields)


def _take_stop(members: Members, name: str) -> tuple[str, ...]:
    """A string, or an array of them.

    https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop
    """
    raw = take(members, name)
    if raw is None:
        return ()
    if is_text(raw):
        return (text_of(raw, "stop"),)
    if not is_list(raw):
        raise invalid("stop", "must be a string or an array of strings")
    items = items_of(raw, "stop")
    return tuple(text_of(item, f"stop[{index}]") for index, item in enumerate(items))


_SAMPLING: Mapping[str, tuple[Callable[[Members, str], object], str]] = {
    "max_tokens": (take_whole, "max_tokens"),
    "max_completion_tokens": (take_whole, "max_tokens"),  # the newer name wins
    "temperature": (take_number, "temperature"),
    "top_p": (take_number, "top_p"),
    "top_k": (take_whole, "top_k"),
    "min_p": (take_number, "min_p"),
    "seed": (take_whole, "seed"),
    "stop": (_take_stop, "stop"),
    "presence_penalty": (take_number, "presence_penalty"),
    "frequency_penalty": (take_number, "frequency_penalty"),
    "n": (take_whole, "candidates"),
    "logprobs": (take_flag, "logprobs"),
    "top_logprobs": (take_whole, "top_logprobs"),
}
"""How each member is taken, in this order, and the field of Sampling it becomes."""

_COMMON = frozenset(("messages", "model", "stream", *_SAMPLING))
"""All that most requests hold."""
