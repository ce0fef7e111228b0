"""Follows requests while they run, and changes nothing of them: telemetry.

Every function is called where the request is served, so none of them may wait.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from gateway_core import Call, Host, Target


class AttemptWatch(Protocol):
    """Follows one request to a vendor."""

    trace_context: tuple[str, str]
    """What it is sent as ``traceparent`` and ``tracestate`` (W3C Trace Context); empty for none."""

    def answered(self, account: str) -> None:
        """The answer has started. ``account`` is the id of the connection."""
        ...

    def failed(self, account: str, error: BaseException) -> None:
        """There is no answer; another attempt may follow."""
        ...


class RequestWatch(Protocol):
    """Follows one request. It may be dropped before anything is sent, and begun anew."""

    def read(self, call: Call) -> None:
        """The request was read; called again where an interceptor has changed it."""
        ...

    def attempt(self, target: Target, url: str) -> AttemptWatch:
        """A request to a vendor is about to leave; several may be under way at once."""
        ...


class Observer(Protocol):
    """Follows every request. One that has raised five times is left out."""

    def begin(self, path: str, headers: Mapping[str, str]) -> RequestWatch:
        """A request has arrived: its route, and its headers without credentials."""
        ...

    def record(self, row: Mapping[str, Any], watch: Any) -> None:
        """A request has its usage record.

        ``watch`` is what ``begin`` gave; ``None`` for sockets and for work without a client.
        """
        ...

    def running(self, host: Host) -> AbstractAsyncContextManager[None]:
        """Entered when the gateway opens, before a request begins."""
        ...
