"""A stream from the vendor's socket to the client's without waking a task.

    chunk arrives ──▶ exchange.feed ──▶ push ──▶ bytes leave

Waking a task for every chunk costs as much as the work on the chunk. So chunks are translated
and sent in the callback that brings them, until one needs more than that: a slow client, a
failure, the end.
"""

from collections.abc import Callable

from ..contracts.asgi import Push
from ..contracts.exchange import Exchange
from ..upstream.transport.answers import Taker
from .attempt import Attempt
from .exchanges import PassThrough


class DirectStream:
    """Sends one stream on. What could not be sent is left in ``attempt.pending``."""

    def __init__(self, attempt: Attempt, push: Push) -> None:
        self._attempt, self._exchange, self._push = attempt, attempt.exchange, push

    @property
    def taker(self) -> Taker:
        """Takes what arrives; false when it takes no more.

        How the answer ended, or why no more is taken, is for the caller to see.
        """
        passing = None if self._exchange.ended else passing_of(self._exchange)
        return self._take if passing is None else passing(self._push, self._take)

    def _take(self, chunk: bytes) -> bool:
        exchange = self._exchange
        output = exchange.feed(chunk)
        if exchange.failure is None and not exchange.ended and (not output or self._push(output)):
            return True
        self._attempt.pending += output
        return not output and exchange.failure is None


def passing_of(exchange: Exchange) -> Callable[[Push, Taker], Taker] | None:
    """The relay's own function for passing chunks on, where there is nothing else to do."""
    relay = exchange.relay if isinstance(exchange, PassThrough) else None
    passing: Callable[[Push, Taker], Taker] | None = getattr(relay, "passing", None)
    return passing
