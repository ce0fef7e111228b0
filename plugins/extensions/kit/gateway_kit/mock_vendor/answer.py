"""One correct answer of the mock vendor: content, dialect, whole or streamed."""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from .content import TEXT, Content
from .frames import Dialect, Frame
from .server import MockResponse

JSON = "application/json"
ESCAPED = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)", re.DOTALL)
"""An escape of a JSON string: RFC 8259, section 7. Two stand for one character beyond 16 bits."""


def unescape(data: bytes) -> bytes:
    """Write characters beyond ASCII as UTF-8, as vendors do: pieces of a stream may cut them."""

    def replace(found: re.Match[bytes]) -> bytes:
        escape: bytes = found[0]
        if not escape.startswith(b"\\u"):
            return escape
        try:
            character = str(msgspec.json.decode(b'"' + escape + b'"'))
        except msgspec.DecodeError:  # Half of a pair.
            return escape
        return escape if character.isascii() else character.encode()

    return ESCAPED.sub(replace, data)


class MockAnswer(Struct, frozen=True, kw_only=True):
    """An answer of a vendor in good health."""

    dialect: Dialect
    content: Content = TEXT
    model: str = "model-1"
    stream: bool = False

    def frames(self) -> Sequence[Frame]:
        frames = self.dialect.stream(self.content, self.model)
        if self.dialect.framing == "binary":  # Its messages have a length and a checksum.
            return frames
        return [Frame(frame.role, unescape(frame.data)) for frame in frames]

    def pieces(self) -> list[bytes]:
        if self.stream:
            return [frame.data for frame in self.frames()]
        return [unescape(self.dialect.whole(self.content, self.model))]

    def body(self) -> bytes:
        return b"".join(self.pieces())

    def response(self, pieces: Sequence[bytes] | None = None) -> MockResponse:
        """The answer as it is, or made of other pieces."""
        body = self.pieces() if pieces is None else pieces
        if self.stream:
            return MockResponse.stream(*body, content_type=self.dialect.media_type)
        return MockResponse(body)

    def refusal(self, status: int, body: str, **headers: str) -> MockResponse:
        """An error status with the dialect's body; ``_`` in names of headers means ``-``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return MockResponse((self.dialect.refusal(body, status),), status, headers=named)
