"""A JSON text that is read where it stands, so that a few of its bytes can be replaced and every
other byte stays (RFC 8259)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import BadRequest

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_SPACE = re.compile(rb"[ \t\n\r]*")
# Possessive, so that a long string costs no memory for ways back.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]+")
_NESTING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_OPENING = (b"[", b"{")
_anything = msgspec.json.Decoder().decode
_text = msgspec.json.Decoder(str).decode


class Span(Struct, frozen=True):
    """Where a value is: the offset of its first byte, and the one behind its last."""

    begin: int
    end: int


class Edit(Struct, frozen=True):
    """New bytes in the place of others; of none where ``begin`` is ``end``."""

    begin: int
    end: int
    content: bytes


class AmbiguousField(BadRequest):
    """A member occurs twice, so that two readers could take different ones."""

    def __init__(self) -> None:
        super().__init__("Ambiguous native model field")


class JsonText:
    """A JSON object as it was sent."""

    def __init__(self, content: bytes) -> None:
        """Raises BadRequest for anything but a JSON object."""
        try:
            # What follows relies on the whole text being well-formed.
            value = _anything(content)
        except UNREADABLE:
            raise BadRequest("Invalid JSON body") from None
        if not isinstance(value, dict):
            raise BadRequest("Invalid JSON body")
        self.content = content
        self.value: Mapping[str, Any] = value
        self.root = Span(_skip(content, 0), len(content))

    def read(self, span: Span) -> Any:
        """The value there."""
        return _anything(self.content[span.begin : span.end])

    def members(self, span: Span) -> Mapping[str, Span]:
        """The members of the object there; none where there is no object. Raises AmbiguousField
        where one occurs twice."""
        content, found = self.content, dict[str, Span]()
        if content[span.begin : span.begin + 1] != b"{":
            return found
        at = _skip(content, span.begin + 1)
        while content[at : at + 1] != b"}":
            key_end = _end(content, at)
            name = _text(content[at:key_end])
            if name in found:
                raise AmbiguousField
            begin = _skip(content, _skip(content, key_end) + 1)
            found[name] = Span(begin, _end(content, begin))
            at = _next(content, found[name].end)
        return found

    def elements(self, span: Span) -> Iterator[Span]:
        """The elements of the list there; none where there is no list."""
        content = self.content
        if content[span.begin : span.begin + 1] != b"[":
            return
        at = _skip(content, span.begin + 1)
        while content[at : at + 1] != b"]":
            element = Span(at, _end(content, at))
            yield element
            at = _next(content, element.end)

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The text with these edits, which do not overlap."""
        pieces, at = list[bytes](), 0
        for edit in sorted(edits, key=lambda each: each.begin):
            pieces += (self.content[at : edit.begin], edit.content)
            at = edit.end
        return b"".join((*pieces, self.content[at:]))


def _skip(content: bytes, at: int) -> int:
    """Behind white space."""
    space = _SPACE.match(content, at)
    return at if space is None else space.end()


def _next(content: bytes, at: int) -> int:
    """From the end of a value to the next one, or to the end of what holds them."""
    at = _skip(content, at)
    return _skip(content, at + 1) if content[at : at + 1] == b"," else at


def _end(content: bytes, at: int) -> int:
    """Behind the value that begins there."""
    if content[at : at + 1] not in _OPENING:
        pattern = _STRING if content[at : at + 1] == b'"' else _SCALAR
        value = pattern.match(content, at)
        assert value is not None, "the text was decoded before"
        return value.end()
    depth = 0
    for token in _NESTING.finditer(content, at):
        depth += (token[0] in _OPENING) - (token[0] in (b"]", b"}"))
        if depth == 0:
            return token.end()
    raise AssertionError("the text was decoded before")
