"""Checking a stream against its format's declared grammar."""

import re
from functools import lru_cache

from gateway_core import Grammar


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_violation(grammar: Grammar, stream: bytes) -> str | None:
    """What is wrong with a whole stream, or ``None`` when it is well formed."""
    words = grammar.words(stream)
    said = "".join(f"{word} " for word in words)
    if _compiled(grammar.pattern).fullmatch(said):
        return None
    return f"not a well-formed stream: {said.strip() or 'nothing'}"
