"""Checking a stream against its format's declared grammar."""

import re

from gateway_core import Grammar


def find_violation(grammar: Grammar, stream: bytes) -> str | None:
    """What is wrong with a whole stream, or ``None`` when it is well formed."""
    words = grammar.words(stream)
    text = "".join(f"{word} " for word in words)
    if re.fullmatch(grammar.pattern, text):
        return None
    return f"not a well-formed stream: {text.strip() or 'nothing'}"
