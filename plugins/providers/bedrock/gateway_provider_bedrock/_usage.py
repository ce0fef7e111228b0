"""Converse's counts as ours: what was read from a cache or written to one is counted apart."""

from typing import Any

from gateway_core import Usage

from ._shapes import UsageRow

_MOST = 1_000_000_000
"""A count above this is a mistake."""


def usage_of(row: UsageRow | None) -> Usage | None:
    """Nothing when neither side of the call was counted."""
    if row is None:
        return None
    # inputTokens leaves out what was read from or written to a cache:
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
    cached, cache_written = _count(row.cacheReadInputTokens), _count(row.cacheWriteInputTokens)
    read, written = _count(row.inputTokens) + cached + cache_written, _count(row.outputTokens)
    if not read and not written:
        return None
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=cached,
        cache_write_tokens=cache_written,
    )


def _count(number: Any) -> int:
    # type() and not isinstance(): bool is a subclass of int.
    return number if type(number) is int and 0 <= number <= _MOST else 0
