"""Why an answer ended, both ways."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from gateway_core import AnyPart, Finish, Refusal, ToolCall

from ._dialect import Extra, raw

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
    "error": "max_tokens",  # the nearest word for an answer that is not whole
}

_TOLD_BY_HUB = frozenset(
    (
        *(reason for reason, finish in _TO_HUB.items() if reason == _FROM_HUB[finish]),
        "stop_sequence",
    )
)
"""The words that the hub's words are written as."""

NOTHING: Extra = {}

_reason = msgspec.json.Decoder(str).decode


def read_finish(reason: str, *, has_calls: bool) -> tuple[Finish, Extra]:
    """The hub's word, and the vendor's own where the hub's would be written as another."""
    finish = _TO_HUB.get(reason, "stop")
    if reason in _TOLD_BY_HUB and not (has_calls and finish == "stop"):
        return finish, NOTHING
    return finish, {"stop_reason": raw(reason)}


def written_finish(
    finish: Finish, *, met_stop: bool, parts: Iterable[AnyPart], own: Raw | None = None
) -> str:
    """The wire's word; ``own`` is what :func:`read_finish` kept, if it is of this dialect."""
    kept = _own_reason(own)
    if kept is not None:
        return kept
    if finish != "stop":
        return _FROM_HUB[finish]
    kinds = {type(part) for part in parts}
    if ToolCall in kinds:
        # Clients run tools only when this says so, whatever the vendor called it.
        return "tool_use"
    if Refusal in kinds:
        return "refusal"
    return "stop_sequence" if met_stop else "end_turn"


def _own_reason(own: Raw | None) -> str | None:
    """Other dialects have a member of this name too, so only this one's words count."""
    if own is None:
        return None
    try:
        reason = _reason(own)
    except msgspec.MsgspecError:
        return None
    return reason if reason in _TO_HUB else None
