"""Beginning a pass-through: the few members of a request that must differ for a vendor."""

import msgspec
from msgspec import Raw

from gateway_core import Call, Losses, Relay, Target, Usage
from gateway_formats.relay import HeldRelay

from .._members import encode, is_empty_list, is_list, is_null, is_object, items_of, object_of
from ..client_requests import read_request
from ..vendor_requests import limit_name, write_request
from .watch import ChatRelay, ChatWatch, look_at_whole

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
        # Vendors know only messages, whatever the client called them.
        body = _members(write_request(read_request(call), target, Losses()))
        del members["input"]
        members["messages"] = body["messages"]
    if "tools" in members and is_empty_list(members["tools"]):
        # Vendors refuse an empty list, and a choice without tools.
        for name in _OF_TOOLS:
            members.pop(name, None)
    options = target.provider.options
    if (option := options.get("max_tokens")) is not None:
        limit = limit_name(option, target.model.id)
        for name in _LIMITS:
            if name != limit and name in members:
                members.setdefault(limit, members.pop(name))
    if (role := options.get("system_role")) in ("system", "developer"):
        # This vendor takes only one of the two names for its instructions.
        raw = members.get("messages")
        other = b'"developer"' if role == "system" else b'"system"'
        if raw is not None and is_list(raw) and other in bytes(raw):
            messages: list[Members | Raw] = []
            for item in items_of(raw, "messages"):
                message = object_of(item, "messages") if is_object(item) else {}
                is_other = bytes(message.get("role", b"")) == other
                messages.append({**message, "role": Raw(encode(role))} if is_other else item)
            members["messages"] = Raw(encode(messages))
    if not call.stream:
        hides_thinking = call.headers.get("x-gateway-reasoning") == "off"
        return QuietRelay() if hides_thinking else AnswerRelay()
    # Usage is requested even where the client does not want it, because the gateway records it.
    raw = members.get("stream_options")
    stream_options = object_of(raw, "stream_options") if raw is not None and is_object(raw) else {}
    include_usage = stream_options.get("include_usage")
    wants_usage = include_usage is not None and bytes(include_usage) == b"true"
    if options.get("no_stream_usage"):
        members.pop("stream_options", None)
    elif not wants_usage:
        # https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
        members["stream_options"] = Raw(encode({**stream_options, "include_usage": _TRUE}))
    return ChatRelay(ChatWatch(hides_usage=not wants_usage))


class AnswerRelay(HeldRelay):
    """A whole answer. A content that is an object is the text of the answer."""

    _has_objects = False

    def look(self, body: bytes) -> tuple[Usage | None, int]:
        usage, length, self._has_objects = look_at_whole(body)
        return usage, length

    def close(self) -> bytes:
        body = HeldRelay.close(self)
        return _write_objects_as_text(body) if body and self._has_objects else body


def _write_objects_as_text(body: bytes) -> bytes:
    # https://developers.cloudflare.com/workers-ai/features/json-mode/
    answer = _members(body)
    choices = _list(answer["choices"])
    for choice in choices:
        raw = choice.get("message")
        message = _members(raw) if raw is not None and is_object(raw) else {}
        content = message.get("content")
        if content is not None and is_object(content):
            message["content"] = Raw(encode(bytes(content).decode()))
            choice["message"] = Raw(encode(message))
    answer["choices"] = Raw(encode(choices))
    return encode(answer)


class QuietRelay(AnswerRelay):
    """A whole answer without its thinking, where it holds anything else."""

    def close(self) -> bytes:
        body = super().close()
        return body if self.failure is not None else without_thinking(body)


def without_thinking(body: bytes) -> bytes:
    answer = _members(body)
    choices = _list(answer["choices"])
    for choice in choices:
        raw = choice.get("message")
        message = _members(raw) if raw is not None and is_object(raw) else {}
        content = message.get("content")
        is_empty = content is None or is_null(content) or bytes(content) in (b'""', b"[]")
        if not is_empty and not message.keys().isdisjoint(_THINKING):
            kept = {name: value for name, value in message.items() if name not in _THINKING}
            choice["message"] = Raw(encode(kept))
    answer["choices"] = Raw(encode(choices))
    return encode(answer)
