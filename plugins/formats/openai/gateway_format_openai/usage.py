"""Token counts as vendors of this dialect report them, and as its clients expect them."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Usage

from .members import UNREADABLE

_MOST = 1_000_000_000


class _Details(Struct):
    cached_tokens: Any = None
    cache_write_tokens: Any = None
    reasoning_tokens: Any = None


class _Counts(Struct):
    """The names different vendors use; values are checked one by one."""

    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_tokens: Any = None
    input_tokens: Any = None
    output_tokens: Any = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    prompt_token_details: _Details | None = None
    completion_token_details: _Details | None = None
    prompt_cache_hit_tokens: Any = None
    cached_tokens: Any = None
    num_cached_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    reasoning_tokens: Any = None


_counts = msgspec.json.Decoder(_Counts)
_NONE = _Details()


def read_usage(raw: Raw | None) -> Usage | None:
    """``None`` when nothing, or nothing that makes sense, was reported."""
    if raw is None:
        return None
    try:
        counts = _counts.decode(raw)
    except UNREADABLE:
        return None
    prompt = _first(counts.prompt_tokens, counts.input_tokens)
    completion = _first(counts.completion_tokens, counts.output_tokens)
    if not prompt and not completion:
        return None
    reasoning = _reasoning(counts)
    if reasoning and _count(counts.total_tokens) == prompt + completion + reasoning:
        completion += reasoning  # some vendors count thinking beside the completion
    cached, written = _cached(counts), _written(counts)
    if cached + written > prompt:
        prompt += cached + written  # some vendors count cached tokens beside the prompt
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=min(reasoning, completion),
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= _MOST else 0


def _first(*values: object) -> int:
    return next((count for value in values if (count := _count(value))), 0)


def _reasoning(counts: _Counts) -> int:
    details = counts.completion_tokens_details or counts.completion_token_details or _NONE
    return _first(details.reasoning_tokens, counts.reasoning_tokens)


def _cached(counts: _Counts) -> int:
    details = counts.prompt_tokens_details or counts.prompt_token_details or _NONE
    return _first(
        details.cached_tokens,
        counts.prompt_cache_hit_tokens,
        counts.cached_tokens,
        counts.num_cached_tokens,
        counts.cache_read_input_tokens,
    )


def _written(counts: _Counts) -> int:
    details = counts.prompt_tokens_details or _NONE
    return _first(details.cache_write_tokens, counts.cache_creation_input_tokens)


def write_usage(usage: Usage) -> dict[str, Any]:
    prompt: dict[str, int] = {"cached_tokens": usage.cached_tokens}
    if usage.cache_write_tokens:
        prompt["cache_write_tokens"] = usage.cache_write_tokens
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
