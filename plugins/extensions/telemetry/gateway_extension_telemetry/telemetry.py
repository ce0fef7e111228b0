"""The observer: what is seen of requests goes to spans, to instruments and to the page."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from opentelemetry.trace import NoOpTracer, Tracer

from gateway_core import Host

from .conventions import operation_of
from .spans import EndedAttempt, RequestSpan

if TYPE_CHECKING:
    from . import Settings


class Meter(Protocol):
    """Counts what has ended."""

    def attempt(self, ended: EndedAttempt) -> None: ...

    def request(self, operation: str, row: Mapping[str, Any]) -> None: ...


class Telemetry:
    """One gateway's; ``running`` connects it."""

    def __init__(self, settings: "Settings") -> None:
        self.settings = settings
        self.tracer: Tracer = NoOpTracer()
        self.meters: Sequence[Meter] = ()

    @asynccontextmanager
    async def running(self, host: Host) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            meters: list[Meter] = []
            if self.settings.metrics:
                from .counts import Counts
                from .shared_values import SharedValues

                values = stack.enter_context(SharedValues(host.folder))
                meters.append(Counts(values, self.settings.most_names))
            if self.settings.is_exporting:
                from .export import exporting

                exported = exporting(
                    self.settings.address_for("traces"),
                    self.settings.address_for("metrics"),
                    host.version,
                )
                self.tracer, instruments = await stack.enter_async_context(exported)
                meters.append(instruments)
            self.meters = tuple(meters)
            yield
            self.meters = ()

    def begin(self, path: str, headers: Mapping[str, str]) -> RequestSpan:
        return RequestSpan(self, path, headers)

    def record(self, row: Mapping[str, Any], watch: RequestSpan | None) -> None:
        operation = operation_of(row["endpoint"]) if watch is None else watch.operation
        if watch is not None:
            watch.end(row)
        for meter in self.meters:
            meter.request(operation, row)
