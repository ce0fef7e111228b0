"""Follows the requests of a gateway; ``gateway_observing`` implements it for plugins."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Observation(Protocol):
    """Makes the runs of requests, so that a gateway without one spends nothing on it."""

    def run_type(self, plain: type[Any], /) -> type[Any]:
        """The class that takes the place of ``RequestRun`` or of a class derived from it."""
        ...

    def record(self, row: Any, /) -> None:
        """A request has its usage record (``UsageRecord``). Never waits and never raises."""
        ...

    def running(self, host: Any, /) -> AbstractAsyncContextManager[None]:
        """Entered when the gateway opens, with the plugin's ``Host``."""
        ...
