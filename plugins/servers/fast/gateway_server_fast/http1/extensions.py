"""What connections, requests and the gateway's own application offer each other beyond ASGI."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from gateway_core import DirectWriter, RepeatedHead


class DirectRequest(Protocol):
    """A request that the application serves without a task."""

    def on_client_gone(self) -> None:
        """The client has disconnected."""
        ...

    def hand_over(self) -> None:
        """Continue in a task."""
        ...


BeginDirectly = Callable[[RepeatedHead, bytes, DirectWriter], DirectRequest | None]
"""An attribute of the application: starts to serve a request whose head came before, at once."""


class RequestOwner(Protocol):
    """The connection that a request came on."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the application in a task."""
        ...

    def on_response_complete(self) -> None:
        """The response is complete."""
        ...


class NoOwner:
    """Stands in for the connection once a request is over."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        work.close()

    def on_response_complete(self) -> None:
        pass
