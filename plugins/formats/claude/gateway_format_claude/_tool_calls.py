"""What both directions know of a ``tool_use`` block.

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
"""

from msgspec import Raw

from gateway_core import Losses, ToolCall

from ._dialect import Extra, Unreadable, decode_members, encode_raw

NO_ARGUMENTS = encode_raw({})


def write_input(call: ToolCall, losses: Losses) -> Raw:
    """A call's arguments, JSON text in the hub, as the object that ``input`` has to be.

    Text that is not an object is wrapped in one, as ``input``.
    """
    if call.custom:
        losses.add("tool:custom")
        return encode_raw({"input": call.arguments})
    text = call.arguments.strip()
    if not text:
        return NO_ARGUMENTS
    encoded = text.encode("utf-8", "replace")
    try:
        decode_members(encoded)
    except Unreadable:
        losses.add("arguments")
        return encode_raw({"input": call.arguments.encode("utf-8", "replace").decode()})
    return Raw(encoded)


def drop_usual_caller(extra: Extra) -> Extra:
    """The members of a call without a ``caller`` that says the model makes the call directly."""
    # Other callers are the vendor's code execution:
    # https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
    caller = extra.get("caller")
    if caller is None or bytes(caller).replace(b" ", b"") != b'{"type":"direct"}':
        return extra
    return {name: value for name, value in extra.items() if name != "caller"}
