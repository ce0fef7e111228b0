"""What a vendor's own answers report of a call's use, whichever of the usual shapes they have."""

from collections.abc import Mapping
from typing import Any

from gateway_core import Usage
from gateway_providers.services.usages import MOST, count_of

_HOLDERS = ("response", "message")
"""Members of an event in which the whole answer stands."""
_TERMINAL = frozenset(
    (
        *("message_stop", "error"),
        *("response.completed", "response.incomplete", "response.failed", "response.cancelled"),
    )
)
"""Types of events that end a stream."""
_SPOKEN = ("prompt", "text", "input", "lyrics", "query", "preview_text", "system", "instructions")
"""Members of a body whose text a model reads, where its answers report no tokens."""
_READ = ("input_tokens", "prompt_tokens")
_WRITTEN = ("output_tokens", "completion_tokens")


class Report:
    """What an answer, or the events of one, have reported so far."""

    def __init__(self) -> None:
        self._members: dict[str, Any] = {}

    def add(self, answer: Any) -> None:
        """Read an answer or an event. Later ones replace what they repeat: the messages format
        reports the prompt in its first event and the answer in its last."""
        if not isinstance(answer, Mapping):
            return
        for holder in (answer, *(answer.get(name) for name in _HOLDERS)):
            if isinstance(holder, Mapping):
                for found in (holder.get("usage"), _billed(holder)):
                    if isinstance(found, Mapping):
                        self._members.update((k, v) for k, v in found.items() if v is not None)

    @property
    def usage(self) -> Usage | None:
        """``None`` where nothing was reported."""
        members = self._members
        written = count_of(members, *_WRITTEN)
        read = count_of(members, *_READ) or max(0, count_of(members, "total_tokens") - written)
        # The messages format leaves cached tokens out of its count of the prompt.
        from_cache = count_of(members, "cache_read_input_tokens")
        to_cache = count_of(members, "cache_creation_input_tokens")
        searches = count_of(members, "search_units")
        if not (read or written or from_cache or to_cache or searches):
            return None
        return Usage(
            input_tokens=read + from_cache + to_cache,
            output_tokens=written,
            cached_tokens=from_cache or _detail(members, _READ, "cached_tokens"),
            cache_write_tokens=to_cache,
            reasoning_tokens=_detail(members, _WRITTEN, "reasoning_tokens"),
            units={"queries": float(searches)} if searches else None,
        )


def is_last(event: Any) -> bool:
    """Whether an event ends its stream."""
    return isinstance(event, Mapping) and event.get("type") in _TERMINAL


def grown(event: Any) -> int:
    """How many characters an event adds to the answer."""
    if not isinstance(event, Mapping):
        return 0
    choices = event.get("choices")
    holders = [event, *(choices if isinstance(choices, list) else ())]
    deltas = (each.get("delta") for each in holders if isinstance(each, Mapping))
    return sum(map(_length, deltas))


def estimate(body: Any) -> Usage:
    """Of a call whose answer reports no tokens: the text that was sent, four characters to a
    token."""
    length = sum(_length(body.get(name)) for name in _SPOKEN) if isinstance(body, Mapping) else 0
    return Usage(input_tokens=min(MOST, -(-length // 4)), estimated=True)


def _billed(holder: Mapping[str, Any]) -> Any:
    meta = holder.get("meta")
    return meta.get("billed_units") if isinstance(meta, Mapping) else None


def _detail(members: Mapping[str, Any], names: tuple[str, ...], detail: str) -> int:
    found = (count_of(members.get(f"{name}_details"), detail) for name in names)
    return next(filter(None, found), 0)


def _length(value: Any) -> int:
    """Characters of every text in a value; an address of a picture is no text to read."""
    if isinstance(value, str):
        return 0 if value.startswith("data:") else len(value)
    if isinstance(value, list):
        return sum(map(_length, value))
    if isinstance(value, Mapping):
        return sum(_length(each) for name, each in value.items() if name not in ("type", "role"))
    return 0
