"""Takes what was said out of a recorded body, and leaves its shape.

Nothing is searched for: every letter becomes an ``x`` and every digit a ``1``, other than in words
of the protocol. So a secret need not look like one, and the pieces of a stream still add up to
what a whole answer would say.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

WORDS = frozenset(
    {
        *("type", "role", "object", "finish_reason", "stop_reason", "finishReason", "done_reason"),
        *("status", "tool_choice", "mode", "detail", "effort", "phase"),
    }
)
"""Members whose texts are words of the protocol."""
IDS = frozenset({"id", "tool_call_id", "tool_use_id", "call_id", "item_id", "response_id"})
MODEL = "large"
_WORD = re.compile(r"[A-Za-z]+(?:[_.][A-Za-z]+){0,5}")
_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z_$.]{0,31}")
_LONGEST_WORD = 40


class Unreadable(Exception):
    """A body is neither JSON nor a stream of it."""


class Masker:
    """Masks the bodies of one exchange; an id has the same stand-in in all of them."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def value(self, value: Any, member: str = "") -> Any:
        """A document without what it says."""
        if isinstance(value, str):
            return self._text(value, member)
        if isinstance(value, Mapping):
            return {_name(name): self.value(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self.value(each, member) for each in value]
        return value

    def body(self, recorded: Any) -> Any:
        """A body as the gateway keeps it: a document, or the text of a stream. Raises
        Unreadable."""
        if not isinstance(recorded, str):
            return self.value(recorded)
        return "\n".join(self._line(line) for line in recorded.splitlines()) + "\n"

    def _line(self, line: str) -> str:
        name, colon, rest = line.partition(":")
        if not line.strip():
            return ""
        if colon and name == "event":
            return f"event: {_word(rest.strip())}"
        if colon and name == "data":
            if rest.strip() == "[DONE]":
                return "data: [DONE]"
            return f"data: {self._json(rest)}"
        return "" if line.startswith(":") else self._json(line)

    def _json(self, text: str) -> str:
        try:
            return msgspec.json.encode(self.value(msgspec.json.decode(text))).decode()
        except (msgspec.DecodeError, RecursionError):
            raise Unreadable from None

    def _text(self, text: str, member: str) -> str:
        if member == "model":
            return MODEL
        if member in IDS:
            return self._ids.setdefault(text, f"id_{len(self._ids) + 1}")
        if member in WORDS:
            return _word(text)
        if text[:1] in ("{", "["):
            try:
                return self._json(text)
            except Unreadable:
                pass
        return blank(text)


def blank(text: str) -> str:
    """A text of the same length that says nothing."""
    return "".join(_blank(letter) for letter in text)


def _blank(letter: str) -> str:
    if letter.isdigit() or letter.isnumeric():
        return "1"
    if letter.isalpha():
        return "x"
    return letter


def _word(text: str) -> str:
    is_word = len(text) <= _LONGEST_WORD and _WORD.fullmatch(text) is not None
    return text if is_word else blank(text)


def _name(name: str) -> str:
    return name if _MEMBER.fullmatch(name) else blank(name)
