"""Beginning a pass-through: the few members of a request that must differ for a vendor."""

import msgspec
from msgspec import Raw

from gateway_core import Call, Losses, Relay, Target
from gateway_formats.relay import WholeRelay

from .._members import encode, first, is_empty_list, is_list, is_object, items_of, object_of
from ..client_requests import read_request
from ..vendor_requests import limit_name, write_request
from .watch import ChatRelay, ChatWatch, read_whole

Members = dict[str, Raw]

_LIMITS = ("max_tokens", "max_completion_tokens")

_OF_TOOLS = ("tools", "tool_choice", "parallel_tool_calls")

_TRUE = Raw(b"true")

_THINKING = ("reasoning_content", "reasoning", "reasoning_details")

_members = msgspec.json.Decoder(Members).decode

_list = msgspec.json.Decoder(list[Members]).decode


def begin_relay(call: Call, target: Target, members: Members) -> Relay:
    """Change ``members`` where this vendor insists, and watch its answer."""
    if "messages" not in members and "input" in members:
        _spell_out(call, target, members)
    if "tools" in members and is_empty_list(members["tools"]):  # vendors refuse such a list
        for name in _OF_TOOLS:
            members.pop(name, None)
    if target.provider.options:
        _rename_limit(target, members)
        _rename_role(target, members)
    if not call.stream:
        quiet = call.headers.get("x-gateway-reasoning") == "off"
        return QuietRelay() if quiet else WholeRelay(read_whole)
    return ChatRelay(ChatWatch(hides_usage=not _ask_usage(target, members)))


def _spell_out(call: Call, target: Target, members: Members) -> None:
    """Vendors know only ``messages``, whatever the client called them."""
    written = _members(write_request(read_request(call), target, Losses()))
    del members["input"]
    members["messages"] = written["messages"]


def _rename_limit(target: Target, members: Members) -> None:
    said = target.provider.options.get("max_tokens")
    if said is None:
        return
    wanted = limit_name(said, target.model.id)
    for other in _LIMITS:
        if other != wanted and other in members:
            members.setdefault(wanted, members.pop(other))


def _rename_role(target: Target, members: Members) -> None:
    """For a vendor that is known to take only one of the two names for its instructions."""
    wanted = target.provider.options.get("system_role")
    raw = members.get("messages")
    if raw is None or wanted not in ("system", "developer") or not is_list(raw):
        return
    other = b'"developer"' if wanted == "system" else b'"system"'
    if other not in bytes(raw):
        return
    messages = items_of(raw, "messages")
    members["messages"] = Raw(encode([_renamed(item, other, str(wanted)) for item in messages]))


def _renamed(raw: Raw, other: bytes, wanted: str) -> Raw:
    if not is_object(raw):
        return raw
    message = object_of(raw, "messages")
    role = message.get("role")
    if role is None or bytes(role) != other:
        return raw
    message["role"] = Raw(encode(wanted))
    return Raw(encode(message))


def _ask_usage(target: Target, members: Members) -> bool:
    """Have usage reported, so that it can be booked; true when the client wants it too."""
    raw = members.get("stream_options")
    options = object_of(raw, "stream_options") if raw is not None and is_object(raw) else {}
    wished = options.get("include_usage")
    wants = wished is not None and bytes(wished) == b"true"
    if target.provider.options.get("no_stream_usage"):
        members.pop("stream_options", None)
    elif not wants:
        members["stream_options"] = Raw(encode({**options, "include_usage": _TRUE}))
    return wants


class QuietRelay(WholeRelay):
    """A whole answer without its thinking, where it says anything else."""

    def __init__(self) -> None:
        super().__init__(read_whole)

    def close(self) -> bytes:
        body = super().close()
        return body if self.failure is not None else without_thinking(body)


def without_thinking(body: bytes) -> bytes:
    answer = _members(body)
    choices = _list(answer["choices"])
    for choice in choices:
        raw = choice.get("message")
        message = _members(raw) if raw is not None and is_object(raw) else {}
        if _speaks(message) and not message.keys().isdisjoint(_THINKING):
            left = {name: value for name, value in message.items() if name not in _THINKING}
            choice["message"] = Raw(encode(left))
    answer["choices"] = Raw(encode(choices))
    return encode(answer)


def _speaks(message: Members) -> bool:
    content = message.get("content")
    return content is not None and first(content) != b"n" and bytes(content) not in (b'""', b"[]")
