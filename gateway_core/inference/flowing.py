"""The quick way of a stream: from the vendor's socket to the client's without waking anybody.

    bytes come ──▶ exchange.feed ──▶ push ──▶ bytes go

A task that waits for every piece costs as much as what is done with the piece.
So pieces are translated and sent in the moment they come, until one needs
more than that: a slow client, a failure, the end.
"""

from ..contracts.exchange import Exchange, UpstreamResponse
from .client import Client
from .transport import Answer


class Flow:
    """Carries one stream. What ``run`` gives back is still to be sent."""

    def __init__(self, exchange: Exchange, response: Answer, client: Client) -> None:
        self._exchange = exchange
        self._response = response
        self._client = client
        self._kept = b""

    async def run(self) -> bytes:
        """Let it flow; gives what could not be sent at once, maybe nothing.

        How the answer ended, or why the exchange wants no more, is for the caller to see.
        """
        await self._response.flow(self._take)
        kept, self._kept = self._kept, b""
        return kept

    def _take(self, chunk: bytes) -> bool:
        exchange = self._exchange
        given = exchange.feed(chunk)
        is_plain = exchange.failure is None and not exchange.ended
        if is_plain and (not given or self._client.push(given)):
            return True
        self._kept = given
        return not given and exchange.failure is None


def flow_of(exchange: Exchange, response: UpstreamResponse, client: Client) -> Flow | None:
    """The quick way, where both ends have one."""
    if client.can_push and isinstance(response, Answer):
        return Flow(exchange, response, client)
    return None
