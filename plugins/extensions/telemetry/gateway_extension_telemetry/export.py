"""Sends spans and metrics to a collector, by the SDK and its variables ``OTEL_*``."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from . import conventions
from .spans import EndedAttempt, error_of

SCOPE = "gateway_extension_telemetry"


@asynccontextmanager
async def exporting(
    traces: str, metrics: str, version: str
) -> AsyncIterator[tuple[Tracer, "Instruments"]]:
    """Export to these addresses until the block is left; what is left is sent then."""
    resource = resource_of(version)
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    if traces:
        tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=traces)))
    exporters = [OTLPMetricExporter(endpoint=metrics)] if metrics else []
    readers = [PeriodicExportingMetricReader(exporter) for exporter in exporters]
    metering = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    try:
        yield (
            tracing.get_tracer(SCOPE, version),
            Instruments(metering.get_meter(SCOPE, version)),
        )
    finally:
        # They wait for the collector, and end threads.
        await asyncio.gather(
            asyncio.to_thread(tracing.shutdown), asyncio.to_thread(metering.shutdown)
        )


def resource_of(version: str) -> Resource:
    """What sends: this process. ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` win."""
    own = {
        SERVICE_NAME: "model-gateway",
        SERVICE_VERSION: version,
        SERVICE_INSTANCE_ID: str(uuid4()),
    }
    configured = Resource.create()
    if str(configured.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return configured.merge(Resource(own))
    return Resource(own).merge(configured)


class Instruments:
    """The conventions' instruments. The gateway is a server to its clients, and a client itself."""

    def __init__(self, meter: Meter) -> None:
        def histogram(name: str, unit: str, buckets: tuple[float, ...]) -> Any:
            return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=buckets)

        seconds = conventions.DURATIONS
        self._attempts = histogram(conventions.CLIENT_DURATION, "s", seconds)
        self._first_chunks = histogram(conventions.CLIENT_FIRST_CHUNK, "s", seconds)
        self._requests = histogram(conventions.SERVER_DURATION, "s", seconds)
        self._first_tokens = histogram(conventions.SERVER_FIRST_TOKEN, "s", seconds)
        self._tokens = histogram(conventions.TOKEN_USAGE, "{token}", conventions.TOKENS)

    def attempt(self, ended: EndedAttempt) -> None:
        seen = _attributes(ended.operation, ended.provider, ended.model, ended.error)
        self._attempts.record(ended.seconds, seen)
        if ended.stream and ended.first_chunk is not None:
            self._first_chunks.record(ended.first_chunk, seen)

    def request(self, operation: str, row: Mapping[str, Any]) -> None:
        seen = _attributes(operation, row["provider"], row["model_sent"], error_of(row))
        self._requests.record(row["duration_ms"] / 1000, seen)
        if row["provider"] is None:
            return
        if row["ttft_ms"] is not None:
            self._first_tokens.record(row["ttft_ms"] / 1000, seen)
        for kind in ("input", "output"):
            if used := row[f"{kind}_tokens"]:
                self._tokens.record(used, {**seen, conventions.TOKEN_TYPE: kind})


def _attributes(
    operation: str, provider: str | None, model: str | None, error: str
) -> dict[str, str]:
    seen = {
        conventions.OPERATION: operation,
        conventions.PROVIDER: conventions.provider_name(provider or "model-gateway"),
        # Only what a vendor was asked for: a name that a client makes up makes no series.
        conventions.REQUEST_MODEL: model or "",
        conventions.ERROR_TYPE: error,
    }
    return {name: value for name, value in seen.items() if value}
