"""An answer as its reader sees it, filled piece by piece by the connection it comes on."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Protocol

from ...contracts.errors import TransportError
from ...contracts.exchange import UpstreamResponse
from ..body_buffer import BodyBuffer, joined
from .failures import abandoned, body_too_large
from .fields import NONE
from .limits import BODY_BYTES

Taker = Callable[[bytes], bool]
"""Takes body bytes; returns False to stop."""


class Waiter(Protocol):
    """Waits for an answer: a future, or an object that acts at once."""

    def done(self) -> bool:
        """Whether it waits no more."""
        ...

    def set_result(self, result: None, /) -> None:
        """Something has come, or nothing more will."""
        ...

    def set_exception(self, error: BaseException, /) -> None:
        """A taker failed."""
        ...


class AnswerSource(Protocol):
    """The connection an answer comes on."""

    held: bool
    """No more is read for now, because too much waits to be taken."""

    def more(self, answer: "UpstreamAnswer") -> Awaitable[None]:
        """Wait until the answer is woken."""
        ...

    def resume(self) -> None:
        """There is room again."""
        ...

    def drop(self, answer: "UpstreamAnswer") -> None:
        """Nobody wants the rest."""
        ...


class UpstreamAnswer:
    """One answer; outlives its connection when all of it has come.

    ``status`` is zero until the head has come. ``source`` is ``None`` as soon
    as nothing more can come.
    """

    def __init__(self, source: AnswerSource) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = NONE
        self.source: AnswerSource | None = source
        self.failure: TransportError | None = None
        self.chunks: list[bytes] = []
        """What has come and was not taken; the reader's own until the end."""
        self.buffered = 0
        """Bytes that brought what is in ``chunks``, framing included."""
        self.waiter: Waiter | None = None
        """Set while somebody waits for the head or for more of the body."""
        self.taker: Taker | None = None
        """Set while what comes is given on as it comes."""

    is_coded = False
    """The body has a content coding: it is read by way of ``decoded``."""

    async def next(self) -> bytes:
        """All body bytes that have come since the last call; ``b""`` at the end.

        Raises TransportError when the body was cut short.
        """
        while not self.chunks:
            if self.source is None:
                if self.failure is not None:
                    raise self.failure
                return b""
            await self.source.more(self)
        return self.take()

    async def flow(self, taker: Taker) -> None:
        """Pass body bytes to ``taker`` as they come, without waking the task that waits here.

        Ends when ``taker`` returns False, or with the answer: the last bytes, and
        how it ended, are then left for ``next``. Raises what ``taker`` raises.
        """
        while self.source is not None:
            if self.chunks:
                if not taker(self.take()):
                    return
                continue
            self.taker = partial(self._offer, taker)
            try:
                await self.source.more(self)
            finally:
                self.taker = None
            return

    def _offer(self, taker: Taker, data: bytes) -> bool:
        """Pass on a piece of the body; false when nobody waits for it any more."""
        # A cancelled waiter is done before its task has run; its taker gets nothing more.
        return self.waiter is not None and not self.waiter.done() and taker(data)

    async def aclose(self) -> None:
        """Drop the connection, unless the whole answer has come."""
        if self.source is not None:
            self.source.drop(self)
        elif self.chunks:
            self.failure = abandoned()
        self.chunks.clear()

    def wake(self, error: BaseException | None = None) -> None:
        """Wake the task that reads this answer: something has come, or ``error`` happened."""
        self.taker = None
        waiter = self.waiter
        if waiter is not None:
            self.waiter = None
            # Cancelled in this turn of the loop: setting a result would raise InvalidStateError.
            if waiter.done():
                return
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)

    def end(self, failure: TransportError | None = None) -> None:
        """Nothing more will come."""
        self.source = None
        self.failure = failure
        # The list belongs to the reader of the connection, which fills it for the next answer.
        lent, self.chunks = self.chunks, self.chunks.copy()
        lent.clear()
        self.wake()

    def take(self) -> bytes:
        """What has come, maybe nothing, without waiting for it or telling of a failure."""
        chunks = self.chunks
        data = chunks[0] if len(chunks) == 1 else joined(chunks)
        chunks.clear()
        self.buffered = 0
        source = self.source
        # Reading was paused because too much was buffered; now there is room again.
        if source is not None and source.held:
            source.resume()
        return data


def is_over(response: UpstreamResponse) -> bool:
    """Whether all of a body has been taken, as far as that is known without asking for more."""
    return (
        isinstance(response, UpstreamAnswer)
        and response.source is None
        and response.failure is None
        and not response.chunks
    )


def arrived(response: UpstreamResponse) -> bytes | None:
    """The whole body, where all of it has come already; else ``None``, and nothing is taken."""
    if not isinstance(response, UpstreamAnswer) or response.source is not None or response.failure:
        return None
    return response.take()


async def read_all(response: UpstreamResponse, limit: int = BODY_BYTES) -> bytes:
    """The whole body, at most ``limit`` bytes. Raises TransportError; closes nothing."""
    first = await response.next()
    if not first:
        return first
    length = response.headers.get("content-length", "")
    announced = int(length) if length.isdecimal() else 0
    # The length is the vendor's claim: it reserves nothing above the limit.
    buffer = BodyBuffer(announced if announced <= limit else 0)
    buffer.add(first)
    while buffer.size <= limit:
        chunk = await response.next()
        if not chunk:
            return buffer.whole()
        buffer.add(chunk)
    raise body_too_large(limit)
