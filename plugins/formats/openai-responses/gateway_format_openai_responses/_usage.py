"""Token counts, both ways."""

import msgspec
from msgspec import Raw

from gateway_core import Usage

from ._dialect import BROKEN

_MOST = 1_000_000_000
"""No count is larger; what says so is not a count."""

_any = msgspec.json.Decoder()


def read_usage(raw: Raw) -> Usage | None:
    """The counts; ``None`` when there are none, or all are zero."""
    try:
        counts = _any.decode(raw)
    except BROKEN:
        return None
    if not isinstance(counts, dict):
        return None
    into, out = counts.get("input_tokens_details"), counts.get("output_tokens_details")
    usage = Usage(
        input_tokens=_count(counts, "input_tokens"),
        output_tokens=_count(counts, "output_tokens"),
        # The vendor counts cached tokens inside input_tokens, and reasoning inside output_tokens:
        # https://platform.openai.com/docs/api-reference/responses/object#responses-object-usage
        cached_tokens=_count(into, "cached_tokens"),
        cache_write_tokens=_count(into, "cache_write_tokens"),
        reasoning_tokens=_count(out, "reasoning_tokens"),
    )
    return None if usage == Usage() else usage


def _count(counts: object, name: str) -> int:
    value = counts.get(name) if isinstance(counts, dict) else None
    # bool is a subclass of int in Python.
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= _MOST else 0


def write_usage(usage: Usage | None) -> bytes:
    if usage is None:
        return b"null"
    return (
        b'{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},'
        b'"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}'
    ) % (
        usage.input_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.input_tokens + usage.output_tokens,
    )
