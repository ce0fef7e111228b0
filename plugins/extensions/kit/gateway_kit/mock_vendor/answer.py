"""One answer before it is spoiled: what is said, in which dialect, whole or streamed."""

from collections.abc import Sequence

from msgspec import Struct

from .content import TEXT, Content
from .frames import Dialect, Frame
from .server import Said

JSON = "application/json"


class Scene(Struct, frozen=True, kw_only=True):
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

    def said(self, pieces: Sequence[bytes] | None = None) -> Said:
        """The answer as it is, or made of other pieces."""
        told = self.pieces() if pieces is None else pieces
        if self.stream:
            return Said.stream(*told, content_type=self.dialect.media_type)
        return Said(told)

    def refusal(self, status: int, told: str, **headers: str) -> Said:
        """An error status with the dialect's body; ``_`` in names of headers stands for ``-``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Said((self.dialect.refusal(told, status),), status, headers=named)
