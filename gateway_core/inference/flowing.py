"""The quick way of a stream: from the vendor's socket to the client's without waking anybody.

    bytes come ──▶ exchange.feed ──▶ push ──▶ bytes go

A task that waits for every piece costs as much as what is done with the piece.
So pieces are translated and sent in the moment they come, until one needs
more than that: a slow client, a failure, the end.
"""

from collections.abc import Callable

from ..contracts.exchange import Exchange, UpstreamResponse
from .client import Client, Push
from .exchanges import Verbatim
from .transport import Answer


class Flow:
    """Carries one stream. What ``run`` gives back is still to be sent."""

    def __init__(self, exchange: Exchange, response: Answer, push: Push) -> None:
        self._exchange = exchange
        self._response = response
        self._push = push
        self._skim = _skim_of(exchange)
        self._kept = b""

    async def run(self) -> bytes:
        """Let it flow; gives what could not be sent at once, maybe nothing.

        How the answer ended, or why the exchange wants no more, is for the caller to see.
        """
        skims = self._skim is not None and not self._exchange.ended
        await self._response.flow(self._pass if skims else self._take)
        kept, self._kept = self._kept, b""
        return kept

    def _pass(self, chunk: bytes) -> bool:
        """Send a chunk as it is, if a glance shows that it may be."""
        if self._skim is None or not self._skim(chunk):
            return self._take(chunk)
        if self._push(chunk):
            return True
        self._kept = chunk
        return False

    def _take(self, chunk: bytes) -> bool:
        exchange = self._exchange
        given = exchange.feed(chunk)
        is_plain = exchange.failure is None and not exchange.ended
        if is_plain and (not given or self._push(given)):
            return True
        self._kept = given
        return not given and exchange.failure is None


def flow_of(exchange: Exchange, response: UpstreamResponse, client: Client) -> Flow | None:
    """The quick way, where both ends have one."""
    push = client.quick()
    if push is not None and isinstance(response, Answer):
        return Flow(exchange, response, push)
    return None


def _skim_of(exchange: Exchange) -> Callable[[bytes], bool] | None:
    """What glances at a chunk, where there is no more to do than that."""
    relay = exchange.relay if isinstance(exchange, Verbatim) else None
    skim: Callable[[bytes], bool] | None = getattr(relay, "skim", None)
    return skim
