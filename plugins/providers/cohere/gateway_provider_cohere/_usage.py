"""Cohere's counts as ours.

``tokens`` counts all that the model read and wrote, ``billed_units`` only what
is charged: not the vendor's own preamble, for one. Cached tokens are a part of
the former, so the former is what we report, and the latter only in its absence.
Tokens of images are counted beside those of text.
"""

from typing import Any

from gateway_core import Usage

from ._shapes import UsageRow

_MOST = 1_000_000_000
"""A count above this is a mistake."""


def usage_of(row: UsageRow | None) -> Usage | None:
    """Nothing when neither side of the call was counted."""
    if row is None:
        return None
    for counts in filter(None, (row.tokens, row.billed_units)):
        if _count(counts.input_tokens) or _count(counts.output_tokens):
            break
    else:
        return None
    prompt, written = _count(counts.input_tokens), _count(counts.output_tokens)
    read = prompt + (_count(counts.image_tokens) if counts is row.tokens else 0)
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=min(_count(row.cached_tokens), read),
        reasoning_tokens=min(_count(counts.reasoning_tokens), written),
    )


def _count(number: Any) -> int:
    """A valid count, else 0. Cohere declares its counts as fractions: ``5.0`` is 5."""
    # The reference declares the counts as numbers, not integers.
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return number if type(number) is int and 0 <= number <= _MOST else 0
