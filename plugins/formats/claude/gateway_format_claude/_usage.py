"""Token counts, both ways.

This wire counts cache reads and writes beside ``input_tokens``; the hub counts
them inside. The counts of ``message_start`` and of each ``message_delta`` are
totals, so a later one replaces an earlier one.
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

    def take(self, of: Raw) -> bool:
        """Note a report; false while nothing was counted. Raises MsgspecError for rubbish."""
        if is_null(of):
            return False
        return self.add(_decode(of))

    def add(self, said: Counts) -> bool:
        """The same with counts that have been read."""
        if not self.reported:
            self.reported = _is_count(said.input_tokens) or _is_count(said.output_tokens)
        self._input = _newer(said.input_tokens, self._input)
        self._output = _newer(said.output_tokens, self._output)
        if said.cache_read_input_tokens:
            self._read = _newer(said.cache_read_input_tokens, self._read)
        if said.cache_creation_input_tokens:
            self._written = _newer(said.cache_creation_input_tokens, self._written)
        details = said.output_tokens_details
        if isinstance(details, dict):
            self._reasoning = _newer(details.get("thinking_tokens"), self._reasoning)
        return self.reported

    def usage(self) -> Usage | None:
        if not self.reported:
            return None
        return Usage(
            input_tokens=self._input + self._read + self._written,
            output_tokens=self._output,
            cached_tokens=self._read,
            cache_write_tokens=self._written,
            reasoning_tokens=min(self._reasoning, self._output),
        )


def usage_of(said: Counts) -> Usage | None:
    """What the counts of a whole answer amount to; ``None`` when nothing was counted."""
    asked, answered = said.input_tokens, said.output_tokens
    if type(asked) is int and type(answered) is int:
        cached = said.cache_read_input_tokens or said.cache_creation_input_tokens
        makes_sense = 0 <= asked <= _HIGHEST and 0 <= answered <= _HIGHEST
        if makes_sense and not (cached or said.output_tokens_details):
            return Usage(input_tokens=asked, output_tokens=answered)
    meter = Meter()
    meter.add(said)
    return meter.usage()


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _HIGHEST


def _newer(value: object, before: int) -> int:
    """A later total; a zero does not take back what was counted before."""
    return value if type(value) is int and 0 < value <= _HIGHEST else before


def written_usage(usage: Usage | None) -> dict[str, object]:
    """The counts as this wire says them; zeros when they are not known."""
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
