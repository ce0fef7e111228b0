"""What the cache makes of one request: a hit, a vendor's answer to be kept, or nothing."""

from collections.abc import Callable, Mapping

import msgspec

from gateway_core import Usage
from gateway_filters.shelf import Shelf
from gateway_filters.sources import Question

from .flights import Flight
from .kept import WHOLE, Kept, finishes_of
from .settings import Settings
from .similar import Compared, remember
from .wish import HEADER


class Passed:
    """A vendor's answer that is none of the cache's business."""

    body: bytes | None = None
    headers: Mapping[str, str] = {HEADER: "bypass"}

    def feed(self, chunk: bytes) -> None: ...

    def close(self, *, is_whole: bool) -> None: ...

    async def deliver(self, usage: Usage | None) -> None: ...

    def leave(self) -> None: ...


BYPASSED = Passed()


class Hit(Passed):
    """A kept answer."""

    def __init__(self, body: bytes, age: float) -> None:
        self.body = body
        # RFC 9111, section 5.1: whole seconds.
        self.headers = {HEADER: "hit", "age": str(int(age))}


class Followed(Passed):
    """A vendor's answer, which is kept once it has been delivered whole."""

    headers: Mapping[str, str] = {HEADER: "miss"}

    def __init__(
        self,
        question: Question,
        name: str,
        settings: Settings,
        shelf: Shelf,
        now: Callable[[], float],
        compared: Compared | None = None,
        flight: Flight | None = None,
    ) -> None:
        self._question, self._name, self._settings = question, name, settings
        self._shelf, self._now, self._compared, self._flight = shelf, now, compared, flight
        self._chunks: list[bytes] = []
        self._left = settings.max_answer_kilobytes * 1024
        self._text: str | None = None
        """The whole answer, if it is to be kept."""
        self._is_closed = False

    def feed(self, chunk: bytes) -> None:
        self._left -= len(chunk)
        if self._left >= 0:
            self._chunks.append(chunk)
            return
        self._chunks.clear()
        self._end(None, is_alone=True)

    def close(self, *, is_whole: bool) -> None:
        if self._is_closed:
            return
        if not is_whole:
            self._end(None, is_alone=False)
            return
        body = b"".join(self._chunks)
        finishes = finishes_of(self._question, body)
        try:
            text = body.decode() if finishes else None
        except UnicodeDecodeError:
            text = None
        if text is not None and finishes <= WHOLE:
            self._text = text
        # Whoever waits gets every answer that is not broken, also one that is not kept.
        self._end(None if text is None else body, is_alone=text is None)

    async def deliver(self, usage: Usage | None) -> None:
        try:
            if self._text is not None:
                await self._keep(self._text, usage or Usage())
        finally:
            self.leave()

    def leave(self) -> None:
        if self._flight is not None:
            self._flight.leave()

    async def _keep(self, text: str, usage: Usage) -> None:
        settings = self._settings
        kept = Kept(text, self._now(), usage.input_tokens, usage.output_tokens)
        content = msgspec.json.encode(kept).decode()
        most = settings.max_megabytes * 1024 * 1024
        await self._shelf.keep(self._name, content, seconds=settings.ttl_seconds, most=most)
        if self._compared is not None:
            await remember(self._shelf, settings, self._compared, self._name)

    def _end(self, body: bytes | None, *, is_alone: bool) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._chunks.clear()
            if self._flight is not None:
                self._flight.land(body, is_alone=is_alone)
