"""What vendors report of a call's use, in the members that are usual for it."""

from collections.abc import Mapping
from typing import Any

from gateway_core import Usage

from .lazy_answer import LazyAnswer

MOST = 1_000_000_000
"""A larger count is no count."""
READ = (LazyAnswer, dict)
"""What an answer is decoded to. A check for any mapping would take several times as long."""
_INPUT = ("prompt_tokens", "input_tokens", "total_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")


def read_usage(answer: Any, units: Mapping[str, float] | None = None) -> Usage | None:
    """Tokens and seconds that a completions-style answer reports, with ``units`` beside them;
    ``None`` where nothing is known."""
    return usage_of(answer.get("usage") if isinstance(answer, READ) else None, units)


def usage_of(reported: Any, units: Mapping[str, float] | None = None) -> Usage | None:
    """The same for the member of the answer that reports it."""
    if not isinstance(reported, dict):
        reported = {}
    counts = dict(units or {})
    if reported.get("type") == "duration":
        seconds = reported.get("seconds")
        if isinstance(seconds, int | float) and 0 <= seconds <= MOST:
            counts["seconds"] = float(seconds)
    output = count_of(reported, *_OUTPUT)
    # Of a total, only what is not the answer belongs to the question.
    question = count_of(reported, *_INPUT[:2]) or max(0, count_of(reported, _INPUT[2]) - output)
    details = reported.get("prompt_tokens_details")
    cached = count_of(details, "cached_tokens") if details else 0
    if not (question or output or counts):
        return None
    return Usage(
        input_tokens=question,
        output_tokens=output,
        cached_tokens=cached,
        units=counts or None,
    )


def count_of(members: object, *names: str) -> int:
    """The first of these members that is a count; 0 where there is none."""
    if isinstance(members, dict):
        for name in names:
            value = members.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST:
                return value
    return 0
