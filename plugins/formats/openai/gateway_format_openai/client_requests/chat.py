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
    first,
    invalid,
    is_empty_list,
    is_list,
    is_text,
    items_of,
    kept,
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
from .references import elsewhere
from .thinking import take_thinking
from .tools import take_choice, take_tools

_SHOWING = "x-gateway-reasoning"
"""A header of the gateway's own: ``off`` for whole answers without their thinking."""


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, naming the member that is wrong."""
    told = call.members
    if told and _COMMONEST.issuperset(told):
        return _read_common(call, dict(told), _take_limits)
    if told and _COMMON.issuperset(told):
        return _read_common(call, dict(told), _take_sampling)
    members = members_of(call)
    instructions, turns = take_messages(members)
    return read_rest(call, members, instructions, turns)


def _read_common(
    call: Call, members: Members, take_sampling: Callable[[Members], Sampling]
) -> Conversation:
    """A request without anything but messages and sampling."""
    instructions, turns = take_messages(members)
    return Conversation(
        instructions=instructions,
        turns=turns,
        sampling=take_sampling(members),
        thinking=_hidden(call, None) if _SHOWING in call.headers else None,
        stream=call.stream,
        stream_usage=False,
        model=take_text(members, "model") or call.model,
        dialect=DIALECT,
        elsewhere=elsewhere(turns),
    )


def read_rest(
    call: Call, members: Members, instructions: tuple[Text, ...], turns: tuple[Turn, ...]
) -> Conversation:
    """Everything in a request but what was said."""
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=take_tools(members),
        tool_choice=take_choice(members),
        parallel_tools=take_flag(members, "parallel_tool_calls"),
        sampling=_take_sampling(members),
        thinking=_hidden(call, take_thinking(members)),
        output=take_output(members),
        user=take_text(members, "user"),
        cache_key=take_text(members, "prompt_cache_key"),
        service_tier=take_text(members, "service_tier"),
        stream=call.stream,
        stream_usage=take_usage_wish(members),
        model=_take_model(members, call.model),
        dialect=DIALECT,
        extra=rest(members),
        elsewhere=elsewhere(turns),
    )


def _take_model(members: Members, default: str) -> str:
    members.pop("stream", None)  # the call already says so
    return take_text(members, "model") or default


def _hidden(call: Call, thinking: Thinking | None) -> Thinking | None:
    """What is asked for, less what the header forbids."""
    if call.headers.get(_SHOWING) != "off" or call.stream:
        return thinking
    return replace(thinking or Thinking(), show=False)


def take_usage_wish(members: Members) -> bool:
    """Whether usage is wanted in the stream; other stream options stay where they are."""
    options = take_object(members, "stream_options")
    if options is None:
        return False
    wished = take_flag(options, "include_usage", "stream_options.")
    kept(members, "stream_options", options)
    return bool(wished)


def _take_limits(members: Members) -> Sampling:
    """The same as :func:`_take_sampling`, of the commonest members."""
    return Sampling(
        max_tokens=take_whole(members, "max_tokens") if "max_tokens" in members else None,
        temperature=take_number(members, "temperature") if "temperature" in members else None,
        top_p=take_number(members, "top_p") if "top_p" in members else None,
    )


def _take_sampling(members: Members) -> Sampling:
    said: dict[str, Any] = {}
    for name in _SAMPLING:
        if name in members:
            taken, field = _SAMPLING[name]
            value = taken(members, name)
            if value is not None:
                said[field] = value
    return Sampling(**said)


def _take_stop(members: Members, name: str) -> tuple[str, ...]:
    raw = take(members, name)
    if raw is None:
        return ()
    if is_text(raw):
        return (text_of(raw, "stop"),)
    if not is_list(raw):
        raise invalid("stop", "must be a string or an array of strings")
    return tuple(_stop_of(item, index) for index, item in enumerate(items_of(raw, "stop")))


def _stop_of(raw: Raw, index: int) -> str:
    return text_of(raw, f"stop[{index}]")


_SAMPLING: Mapping[str, tuple[Callable[[Members, str], object], str]] = {
    "max_tokens": (take_whole, "max_tokens"),
    "max_completion_tokens": (take_whole, "max_tokens"),  # the newer name counts
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
"""How each member is taken, in this order, and what the hub calls it."""

_COMMON = frozenset(("messages", "model", "stream", *_SAMPLING))
"""All that most requests hold."""

_COMMONEST = frozenset(("messages", "model", "stream", "max_tokens", "temperature", "top_p"))
"""All that many hold."""

_LIST, _OBJECT = b"[{"


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """Raises BadRequest when there are no messages."""
    raw = members.get("messages")
    begun = b"" if raw is None else memoryview(raw)
    if len(begun) < 2 or begun[0] != _LIST or begun[1] != _OBJECT:  # As nearly every list begins.
        _check_messages(members)
    return read_routing(path, headers, members)


def _check_messages(members: Mapping[str, Raw]) -> None:
    name = "messages" if "messages" in members else "input"
    raw = members.get(name)
    if raw is None or first(raw) == b"n":
        raise invalid("messages", "is missing")
    if first(raw) not in (b'[["' if name == "input" else b"["):
        raise invalid(name, "must be an array")
    if is_empty_list(raw):
        raise invalid(name, "must not be empty")
