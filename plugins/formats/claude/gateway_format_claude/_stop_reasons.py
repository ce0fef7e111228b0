"""Why an answer ended, both ways.

https://docs.anthropic.com/en/api/handling-stop-reasons
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from gateway_core import AnyPart, Finish, Refusal, ToolCall

from ._dialect import Extra, encode_raw

_TO_HUB: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "refusal": "refusal",
    "compaction": "stop",
}
_FROM_HUB: Mapping[Finish, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
    "error": "refusal",  # the only reason for an answer that is to be thrown away
}

_IMPLIED = frozenset(
    (
        *(reason for reason, finish in _TO_HUB.items() if reason == _FROM_HUB[finish]),
        "stop_sequence",
    )
)
"""The reasons that the hub's words are written as, and that need no keeping."""

NOTHING: Extra = {}

_decode = msgspec.json.Decoder(str).decode


def read_stop_reason(reason: str, *, has_calls: bool) -> tuple[Finish, Extra]:
    """The hub's word, and the vendor's own where the hub's would be written as another."""
    finish = _TO_HUB.get(reason, "stop")
    if reason in _IMPLIED and not (has_calls and finish == "stop"):
        return finish, NOTHING
    return finish, {"stop_reason": encode_raw(reason)}


def write_stop_reason(
    finish: Finish, *, met_stop: bool, parts: Iterable[AnyPart], own: Raw | None = None
) -> str:
    """The wire's reason; ``own`` is what :func:`read_stop_reason` kept, if it kept any."""
    if own is not None:
        try:
            reason = _decode(own)
        except msgspec.MsgspecError:
            reason = ""
        # Other dialects have a member of this name too, so only this one's reasons count.
        if reason in _TO_HUB:
            return reason
    if finish != "stop":
        return _FROM_HUB[finish]
    kinds = {type(part) for part in parts}
    if ToolCall in kinds:
        # Clients run tools only when the reason says so, whatever the vendor called it.
        return "tool_use"
    if Refusal in kinds:
        return "refusal"
    return "stop_sequence" if met_stop else "end_turn"
