"""A vendor's answer on its way past a source, and a source's own in the shape of a vendor's."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from gateway_core import Exchange, UpstreamError, Usage
from gateway_core.contracts.exchange import UpstreamResponse
from gateway_core.pipeline.request_run import RequestRun

from .sources import SourcedAnswer

log = logging.getLogger(__name__)


class GivenResponse:
    """A source's answer in the shape of a vendor's response."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, body: bytes) -> None:
        self._left = body

    async def next(self) -> bytes:
        chunk, self._left = self._left, b""
        return chunk

    async def aclose(self) -> None: ...


class FollowedResponse:
    """A vendor's response that a source sees too."""

    def __init__(
        self,
        response: UpstreamResponse,
        given: SourcedAnswer,
        run: RequestRun,
        left: Callable[[], Awaitable[None]],
    ) -> None:
        """``left`` is called when the client needs nothing more."""
        self.status, self.headers = response.status, response.headers
        self._response, self._given, self._run, self._left = response, given, run, left

    async def next(self) -> bytes:
        try:
            chunk = await self._response.next()
        except Exception:  # A client that goes after the last event has still had it all.
            close_quietly(self._given, is_whole=False)
            raise
        if chunk:
            _feed_quietly(self._given, chunk)
        else:
            close_quietly(self._given, is_whole=200 <= self.status < 300)
        return chunk

    async def aclose(self) -> None:
        try:
            # A stream that came all at once is closed before it is delivered, and again afterwards.
            if self._run.is_answering:
                await self._left()
        finally:
            close_quietly(self._given, is_whole=False)
            if self._run.is_answering:
                self._given.leave()
            await self._response.aclose()


class FreeExchange:
    """The exchange of an answer that came from no vendor: nothing was used."""

    usage = Usage()
    characters = 0

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.request, self.media_type = exchange.request, exchange.media_type
        self.upstream_format, self.losses = exchange.upstream_format, exchange.losses
        self.feed, self.close, self.fail = exchange.feed, exchange.close, exchange.fail
        self.refusal = exchange.refusal

    @property
    def started(self) -> bool:
        return self._exchange.started

    @property
    def ended(self) -> bool:
        return self._exchange.ended

    @property
    def failure(self) -> UpstreamError | None:
        return self._exchange.failure


def _feed_quietly(given: SourcedAnswer, chunk: bytes) -> None:
    try:
        given.feed(chunk)
    except Exception:
        log.exception("%s failed to take an answer", type(given).__name__)
        close_quietly(given, is_whole=False)


def close_quietly(given: SourcedAnswer | None, *, is_whole: bool) -> None:
    if given is None:
        return
    try:
        given.close(is_whole=is_whole)
    except Exception:
        log.exception("%s failed at the end of an answer", type(given).__name__)
