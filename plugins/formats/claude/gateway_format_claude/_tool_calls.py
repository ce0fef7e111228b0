"""A tool call's arguments: JSON text in the hub, a JSON object on this wire."""

from msgspec import Raw

from gateway_core import Losses, ToolCall

from ._dialect import Unreadable, members_of, raw

NO_ARGUMENTS = raw({})


def as_object(call: ToolCall, losses: Losses) -> Raw:
    """The arguments as an object; text that is none is wrapped in one, as ``input``."""
    if call.custom:
        losses.add("tool:custom")
        return raw({"input": call.arguments})
    text = call.arguments.strip()
    if not text:
        return NO_ARGUMENTS
    encoded = text.encode("utf-8", "replace")
    try:
        members_of(encoded)
    except Unreadable:
        losses.add("arguments")
        return raw({"input": call.arguments.encode("utf-8", "replace").decode()})
    return Raw(encoded)
