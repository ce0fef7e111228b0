"""The quick way of a stream: from the vendor's socket to the client's without waking anybody.

    bytes come ──▶ exchange.feed ──▶ push ──▶ bytes go

A task that waits for every piece costs as much as what is done with the piece.
So pieces are translated and sent in the moment they come, until one needs
more than that: a slow client, a failure, the end.
"""

from collections.abc import Callable

from ..contracts.asgi import Push
from ..contracts.exchange import Exchange, UpstreamResponse
from ..upstream.transport import UpstreamAnswer
from ..upstream.transport.answers import Taker
from .client_response import ClientResponse
from .exchanges import PassThrough


class DirectStream:
    """Carries one stream. What it could not send is still to be sent: ``kept``."""

    def __init__(self, exchange: Exchange, push: Push) -> None:
        self._exchange = exchange
        self._push = push
        self._kept = b""

    @property
    def taker(self) -> Taker:
        """Takes what comes; false when it takes no more."""
        passing = None if self._exchange.ended else _passing_of(self._exchange)
        return self._take if passing is None else passing(self._push, self._take)

    def kept(self) -> bytes:
        """What could not be sent at once, maybe nothing.

        How the answer ended, or why the exchange wants no more, is for the caller to see.
        """
        kept, self._kept = self._kept, b""
        return kept

    def _take(self, chunk: bytes) -> bool:
        exchange = self._exchange
        given = exchange.feed(chunk)
        is_plain = exchange.failure is None and not exchange.ended
        if is_plain and (not given or self._push(given)):
            return True
        self._kept = given
        return not given and exchange.failure is None


async def flow(exchange: Exchange, response: UpstreamResponse, client: ClientResponse) -> bytes:
    """Let a stream flow, where both ends have the quick way; gives what is still to be sent."""
    push = client.quick()
    if push is None or not isinstance(response, UpstreamAnswer):
        return b""
    flowing = DirectStream(exchange, push)
    await response.flow(flowing.taker)
    return flowing.kept()


def _passing_of(exchange: Exchange) -> Callable[[Push, Taker], Taker] | None:
    """What passes chunks on at a glance, where there is no more to do than that."""
    relay = exchange.relay if isinstance(exchange, PassThrough) else None
    passing: Callable[[Push, Taker], Taker] | None = getattr(relay, "passing", None)
    return passing
