"""Token counts, both ways.

This wire counts cache reads and writes beside ``input_tokens``; the hub counts them inside. The
counts of ``message_start`` and of each ``message_delta`` are totals, so a later one replaces an
earlier one.
https://docs.anthropic.com/en/api/messages-streaming
"""

from typing import TypeGuard

import msgspec
from msgspec import Raw, Struct

from gateway_core import Usage

from ._dialect import is_null

_HIGHEST = 1_000_000_000


class Counts(Struct, gc=False):
    """The wire's own counts, not yet checked."""

    input_tokens: object = None
    output_tokens: object = None
    cache_read_input_tokens: object = None
    cache_creation_input_tokens: object = None
    output_tokens_details: object = None


_decode = msgspec.json.Decoder(Counts).decode


class Meter:
    """Gathers the counts of one answer."""

    __slots__ = ("_input", "_output", "_read", "_reasoning", "_written", "reported")

    def __init__(self) -> None:
        self._input = self._output = self._read = self._written = self._reasoning = 0
        self.reported = False

    def read(self, raw: Raw) -> bool:
        """Add a report; false while nothing was counted. Raises MsgspecError if it is invalid."""
        return False if is_null(raw) else self.add(_decode(raw))

    def add(self, counts: Counts) -> bool:
        """The same for counts that are decoded."""
        if not self.reported:
            self.reported = _is_count(counts.input_tokens) or _is_count(counts.output_tokens)
        self._input = _later(counts.input_tokens, self._input)
        self._output = _later(counts.output_tokens, self._output)
        self._read = _later(counts.cache_read_input_tokens, self._read)
        self._written = _later(counts.cache_creation_input_tokens, self._written)
        details = counts.output_tokens_details
        if isinstance(details, dict):
            self._reasoning = _later(details.get("thinking_tokens"), self._reasoning)
        return self.reported

    def usage(self) -> Usage | None:
        if not self.reported:
            return None
        return Usage(
            input_tokens=self._input + self._read + self._written,
            output_tokens=self._output,
            cached_tokens=self._read,
            cache_write_tokens=self._written,
            # Thinking is counted inside output_tokens, so it cannot be more.
            reasoning_tokens=min(self._reasoning, self._output),
        )


def read_usage(counts: Counts) -> Usage | None:
    """The usage of a whole answer; ``None`` when nothing was counted."""
    meter = Meter()
    meter.add(counts)
    return meter.usage()


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _HIGHEST


def _later(value: object, before: int) -> int:
    """A later total; a zero does not take back what was counted before."""
    return value if type(value) is int and 0 < value <= _HIGHEST else before


def write_usage(usage: Usage | None) -> dict[str, object]:
    """The counts as this wire has them; zeros when they are not known."""
    known = usage or Usage()
    fresh = known.input_tokens - known.cached_tokens - known.cache_write_tokens
    counts: dict[str, object] = {
        "input_tokens": max(0, fresh),
        "cache_creation_input_tokens": known.cache_write_tokens,
        "cache_read_input_tokens": known.cached_tokens,
        "output_tokens": known.output_tokens,
    }
    if known.reasoning_tokens:
        counts["output_tokens_details"] = {"thinking_tokens": known.reasoning_tokens}
    return counts
