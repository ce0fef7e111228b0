"""What a request is offered by the connection it came on, and what by the application."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from ..contracts.asgi import DirectWriter, RepeatedHead


class Express(Protocol):
    """A request that the application serves without a task."""

    def leave(self) -> None:
        """The client has gone."""
        ...

    def go_on(self) -> None:
        """A task is to do the rest."""
        ...


AtOnce = Callable[[RepeatedHead, bytes, DirectWriter], Express | None]
"""What our own application offers beside itself: to begin with a request whose head came before."""


class Asker(Protocol):
    """The connection a request came on."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Have a task do the work of answering."""
        ...

    def on_response_complete(self) -> None:
        """The answer is out."""
        ...


class Nobody:
    """In the place of the connection, once a request is over."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        work.close()

    def on_response_complete(self) -> None:
        pass
