"""Token counts as vendors of this dialect report them, and as its clients expect them."""

from typing import Any

from gateway_core import Usage

_MOST = 1_000_000_000

_PLAIN = {"prompt_tokens", "completion_tokens", "total_tokens"}
"""All that most vendors report."""

_CACHED = (
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "num_cached_tokens",
    "cache_read_input_tokens",
)
"""Where vendors report cached tokens when not among the details."""

_OF_PROMPT = ("prompt_tokens_details", "prompt_token_details")

_OF_COMPLETION = ("completion_tokens_details", "completion_token_details")


def read_usage(value: object) -> Usage | None:
    """``None`` when nothing, or nothing that makes sense, was reported."""
    if not isinstance(value, dict):
        return None
    prompt = _count(value.get("prompt_tokens")) or _count(value.get("input_tokens"))
    completion = _count(value.get("completion_tokens")) or _count(value.get("output_tokens"))
    if not prompt and not completion:
        return None
    if value.keys() <= _PLAIN:
        return Usage(input_tokens=prompt, output_tokens=completion)
    reasoning = _first(_details(value, _OF_COMPLETION), "reasoning_tokens")
    reasoning = reasoning or _first(value, "reasoning_tokens")
    if reasoning and _first(value, "total_tokens") == prompt + completion + reasoning:
        completion += reasoning  # some vendors count thinking beside the completion
    details = _details(value, _OF_PROMPT)
    cached = _first(details, "cached_tokens") or _first(value, *_CACHED)
    cache_writes = _first(details, "cache_write_tokens") or _first(
        value, "cache_creation_input_tokens"
    )
    if cached + cache_writes > prompt:
        prompt += cached + cache_writes  # some vendors count cached tokens beside the prompt
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cached_tokens=cached,
        cache_write_tokens=cache_writes,
        reasoning_tokens=min(reasoning, completion),
    )


def usage_in(usage: object, x_groq: object) -> Usage | None:
    """The usage of a chunk. Groq reports that of a stream in a member of its own."""
    report = read_usage(usage)
    if report is None and isinstance(x_groq, dict):
        report = read_usage(x_groq.get("usage"))
    return report


def _details(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    for name in names:
        details = value.get(name)
        if isinstance(details, dict):
            return details
    return {}


def _first(members: dict[str, Any], *names: str) -> int:
    for name in names:
        count = _count(members.get(name))
        if count:
            return count
    return 0


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value <= _MOST else 0


# https://platform.openai.com/docs/api-reference/chat/object#chat-object-usage
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
