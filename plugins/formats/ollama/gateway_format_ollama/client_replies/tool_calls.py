"""A tool call as a client of this dialect gets it.

The id is the only place that a client may give back to us, so it carries the
call's signature and, in the first call after it, the thinking that was signed.
"""

from collections.abc import Sequence
from typing import Any

from gateway_core import Reasoning, ToolCall, seal_id

from .._arguments import as_object


def call_row(call: ToolCall, index: int, thoughts: Sequence[Reasoning]) -> dict[str, Any]:
    """``thoughts`` are those before the call and after the one before it."""
    signed = thoughts if is_signed(thoughts) else ()
    origin = call.origin or next((t.origin for t in signed if t.origin), "")
    function = {"index": index, "name": call.name, "arguments": as_object(call.arguments)}
    call_id = seal_id(call.id, origin, call.signature, signed)
    return {"id": call_id, "function": function} if call_id else {"function": function}


def is_signed(thoughts: Sequence[Reasoning]) -> bool:
    """Whether a vendor wants this thinking back unchanged."""
    return any(t.signature is not None or t.sealed is not None for t in thoughts)
