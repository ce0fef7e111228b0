"""Telemetry: traces and metrics of requests, for OpenTelemetry and for Prometheus.

Does nothing until it is switched on. See https://opentelemetry.io/docs/specs/semconv/gen-ai/ for
the names, and ``docs/telemetry.md``.
"""

from typing import Annotated

from msgspec import Meta, Struct

from gateway_core import Guarded, Host, Observation, hookimpl

GATEWAY_PROTOCOL = 1


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is measured, and who gets it."""

    metrics: Annotated[
        bool,
        Meta(
            description="Serve measurements for Prometheus at /metrics.",
            extra={"variable": "GATEWAY_METRICS"},
        ),
    ] = False
    otlp_endpoint: Annotated[
        str,
        Meta(
            description="The address of an OpenTelemetry collector that speaks OTLP over HTTP, "
            "such as http://collector:4318; empty sends nothing.",
            extra={"variable": "OTEL_EXPORTER_OTLP_ENDPOINT"},
        ),
    ] = ""
    traces_endpoint: Annotated[
        str,
        Meta(
            description="The whole address for traces, where it is another one.",
            extra={"variable": "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
        ),
    ] = ""
    metrics_endpoint: Annotated[
        str,
        Meta(
            description="The whole address for metrics, where it is another one.",
            extra={"variable": "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"},
        ),
    ] = ""
    content: Annotated[
        bool,
        Meta(
            description="Put what clients send into spans. Everybody who sees the traces can then "
            "read it.",
            extra={"variable": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"},
        ),
    ] = False
    most_names: Annotated[
        int,
        Meta(
            description="How many models and how many keys each process counts by name; all "
            "further ones are counted together.",
            ge=1,
            le=10_000,
        ),
    ] = 200

    def __post_init__(self) -> None:
        for address in (self.otlp_endpoint, self.traces_endpoint, self.metrics_endpoint):
            if address and not address.startswith(("http://", "https://")):
                raise ValueError("the collector's address must begin with http:// or https://")

    def address_for(self, signal: str) -> str:
        """Where ``traces`` or ``metrics`` go; empty for nowhere."""
        own = self.traces_endpoint if signal == "traces" else self.metrics_endpoint
        base = self.otlp_endpoint.rstrip("/")
        return own or (f"{base}/v1/{signal}" if base else "")

    @property
    def is_exporting(self) -> bool:
        return any((self.otlp_endpoint, self.traces_endpoint, self.metrics_endpoint))


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_observation(settings: Settings) -> list[Observation]:
    if not (settings.metrics or settings.is_exporting):
        return []
    # Imported only here: a gateway that sends nothing needs none of the libraries.
    from gateway_observing import observation_of

    from .telemetry import Telemetry

    return [observation_of(Telemetry(settings))]


@hookimpl
def register_routes(host: Host, settings: Settings) -> list[Guarded]:
    from .page import metrics_route

    return [metrics_route(host, is_on=settings.metrics)]
