"""Answers that a vendor has compressed although it was not asked to."""

from collections.abc import Mapping
from typing import cast

from ...contracts.exchange import UpstreamResponse
from ..content_codings import INFLATERS, NEEDS_PACKAGE, BodyDecoder, MalformedCoding
from .failures import broken_off, miscoded, undecodable
from .fields import Fields

PIECE = 64 * 1024
"""Decoded bytes that are given at once."""
GONE = frozenset({b"content-encoding", b"content-length"})
"""Fields that are about the coded body."""


class DecodedAnswer:
    """Decodes an answer's body as it is read."""

    def __init__(self, answer: UpstreamResponse, coding: str) -> None:
        """``answer`` is a carrier's own."""
        fields = cast(Fields, answer.headers).raw
        self.status = answer.status
        self.headers: Mapping[str, str] = Fields([f for f in fields if f[0].lower() not in GONE])
        self._answer = answer
        self._decoder = BodyDecoder(coding)

    async def next(self) -> bytes:
        """The next decoded bytes; ``b""`` at the end. Raises TransportError."""
        try:
            while not (plain := self._decoder.take(PIECE)):
                data = await self._answer.next()
                if not data:
                    if self._decoder.is_whole:
                        return b""
                    raise broken_off()
                self._decoder.feed(data)
        except MalformedCoding as error:
            raise miscoded() from error
        return plain

    async def aclose(self) -> None:
        await self._answer.aclose()


async def decoded(answer: UpstreamResponse) -> UpstreamResponse:
    """The answer without its content coding. Raises TransportError where that needs a package
    which is not installed."""
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding in INFLATERS:
        return DecodedAnswer(answer, coding)
    # The status of a refusal says enough, whatever its body is.
    if coding in NEEDS_PACKAGE and answer.status < 400:
        await answer.aclose()
        raise undecodable(coding, NEEDS_PACKAGE[coding])
    # Some write a character set or a word of their own there, and code nothing.
    return answer
