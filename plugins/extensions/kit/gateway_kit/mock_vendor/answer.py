"""One answer before it is spoiled: what is said, in which dialect, whole or streamed."""

from collections.abc import Sequence

from msgspec import Struct

from .content import TEXT, Content
from .frames import Dialect, Frame
from .server import MockResponse

JSON = "application/json"


class MockAnswer(Struct, frozen=True, kw_only=True):
    """An answer of a vendor in good health."""

    dialect: Dialect
    content: Content = TEXT
    model: str = "model-1"
    stream: bool = False

    def frames(self) -> Sequence[Frame]:
        return self.dialect.stream(self.content, self.model)

    def pieces(self) -> list[bytes]:
        if self.stream:
            return [frame.data for frame in self.frames()]
        return [self.dialect.whole(self.content, self.model)]

    def body(self) -> bytes:
        return b"".join(self.pieces())

    def response(self, pieces: Sequence[bytes] | None = None) -> MockResponse:
        """The answer as it is, or made of other pieces."""
        body = self.pieces() if pieces is None else pieces
        if self.stream:
            return MockResponse.stream(*body, content_type=self.dialect.media_type)
        return MockResponse(body)

    def refusal(self, status: int, body: str, **headers: str) -> MockResponse:
        """An error status with the dialect's body; ``_`` in names of headers stands for ``-``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return MockResponse((self.dialect.refusal(body, status),), status, headers=named)
