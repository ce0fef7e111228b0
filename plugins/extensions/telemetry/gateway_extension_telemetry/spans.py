"""Spans: one for each request, and below it one for each request to a vendor."""

from collections.abc import Mapping
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway_core import Call, Target

from . import conventions

if TYPE_CHECKING:
    from .telemetry import Telemetry

_PROPAGATOR = TraceContextTextMapPropagator()
LONGEST_CONTENT = 64 * 1024
"""Bytes of contents in a span; what is longer is left out."""


class EndedAttempt(Struct, frozen=True):
    """A request to a vendor that is over."""

    operation: str
    provider: str
    model: str
    seconds: float
    first_chunk: float | None
    """Seconds until the answer started; ``None`` where there was none."""
    error: str
    """The kind of failure; empty for none."""
    stream: bool


class RequestSpan:
    """Follows one request. Its span is of the kind ``SERVER``."""

    def __init__(self, telemetry: "Telemetry", path: str, headers: Mapping[str, str]) -> None:
        self.telemetry = telemetry
        self.operation = conventions.operation_of(path)
        self.stream = False
        self._begun, self._path = time_ns(), path
        parent = _PROPAGATOR.extract(headers)
        self.span: Span = telemetry.tracer.start_span(
            self.operation, parent, SpanKind.SERVER, start_time=self._begun
        )
        self._attempts: list[AttemptSpan] = []

    def read(self, call: Call) -> None:
        self.stream = call.stream
        if not self.span.is_recording():
            return
        self.span.update_name(f"{self.operation} {call.model}" if call.model else self.operation)
        self.span.set_attribute(conventions.REQUEST_MODEL, call.model)
        self.span.set_attribute(conventions.STREAM, call.stream)
        for member, (name, kind) in conventions.SAMPLING.items():
            value = _number(call.members.get(member))
            if value is not None:
                self.span.set_attribute(name, kind(value))
        if self.telemetry.settings.content and "messages" in call.members:
            content = input_messages(call.members["messages"])
            if len(content) <= LONGEST_CONTENT:
                self.span.set_attribute(conventions.INPUT_MESSAGES, content)

    def attempt(self, target: Target, url: str) -> "AttemptSpan":
        attempt = AttemptSpan(self, target, url)
        self._attempts.append(attempt)
        return attempt

    def end(self, row: Mapping[str, Any]) -> None:
        """The request has its record."""
        error = error_of(row)
        # Where a cache has answered in its place, the vendor of the last one was never asked.
        for attempt in self._attempts[: row["attempts"]]:
            attempt.end("" if attempt.has_answered and row["status"] == "ok" else error)
        if not self.span.is_recording():
            return
        seen = {
            conventions.OPERATION: self.operation,
            conventions.ROUTE: self._path,
            conventions.PROVIDER: conventions.provider_name(row["provider"] or "model-gateway"),
            conventions.RESPONSE_MODEL: row["model_sent"] or "",
            conventions.HTTP_STATUS: row["http_status"] or 0,
            conventions.INPUT_TOKENS: row["input_tokens"],
            conventions.OUTPUT_TOKENS: row["output_tokens"],
            conventions.CACHE_READ_TOKENS: row["cached_tokens"],
            conventions.CACHE_CREATION_TOKENS: row["cache_write_tokens"],
            conventions.REASONING_TOKENS: row["reasoning_tokens"],
            "model_gateway.request.id": row["request_id"],
            "model_gateway.key.id": row["api_key_id"] or "",
            "model_gateway.connection.id": row["connection_id"] or "",
            "model_gateway.combo": row["combo_name"] or "",
            "model_gateway.attempts": row["attempts"],
        }
        self.span.set_attributes({name: value for name, value in seen.items() if value != ""})
        if row["ttft_ms"] is not None:
            self.span.set_attribute(conventions.FIRST_CHUNK, row["ttft_ms"] / 1000)
        fail(self.span, error)
        self.span.end()


class AttemptSpan:
    """Follows one request to a vendor. Its span is of the kind ``CLIENT``."""

    trace_context: tuple[str, str]

    def __init__(self, request: RequestSpan, target: Target, url: str) -> None:
        self._request, self._target = request, target
        self.has_answered = self._is_over = False
        self._begun = monotonic()
        self._first_chunk: float | None = None
        context = set_span_in_context(request.span)
        name = f"{request.operation} {target.model.id}"
        self.span = request.telemetry.tracer.start_span(name, context, SpanKind.CLIENT)
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, set_span_in_context(self.span))
        self.trace_context = carrier.get("traceparent", ""), carrier.get("tracestate", "")
        if self.span.is_recording():
            address = urlsplit(url)
            port = address.port or (443 if address.scheme == "https" else 80)
            self.span.set_attributes(
                {
                    conventions.OPERATION: request.operation,
                    conventions.PROVIDER: conventions.provider_name(target.provider.id),
                    conventions.REQUEST_MODEL: target.model.id,
                    conventions.STREAM: request.stream,
                    conventions.SERVER_ADDRESS: address.hostname or "",
                    conventions.SERVER_PORT: port,
                }
            )

    def answered(self, account: str) -> None:
        self.has_answered, self._first_chunk = True, monotonic() - self._begun
        self.span.set_attribute("model_gateway.connection.id", account)
        self.span.set_attribute(conventions.FIRST_CHUNK, self._first_chunk)

    def failed(self, account: str, error: BaseException) -> None:
        self.span.set_attribute("model_gateway.connection.id", account)
        self.end(str(getattr(error, "status", "")) or type(error).__name__)

    def end(self, error: str) -> None:
        """``error`` is the kind of failure; empty for none. Does nothing the second time."""
        if self._is_over:
            return
        self._is_over = True
        fail(self.span, error)
        self.span.end()
        request, target = self._request, self._target
        ended = EndedAttempt(
            request.operation,
            target.provider.id,
            target.model.id,
            monotonic() - self._begun,
            self._first_chunk,
            error,
            request.stream,
        )
        for meter in request.telemetry.meters:
            meter.attempt(ended)


def error_of(row: Mapping[str, Any]) -> str:
    """The kind of failure that a usage record tells of; empty for none."""
    if row["status"] == "ok":
        return ""
    return str(row["error_code"] or row["status"])


def fail(span: Span, error: str) -> None:
    if error:
        span.set_attribute(conventions.ERROR_TYPE, error)
        span.set_status(Status(StatusCode.ERROR))


def input_messages(raw: msgspec.Raw) -> str:
    """The texts of a conversation in the conventions' form; other parts are there by their type.

    https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
    """
    shown = []
    turns = msgspec.json.decode(raw)
    for turn in turns if isinstance(turns, list) else ():
        if not isinstance(turn, dict):
            continue
        content = turn.get("content")
        pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        parts = [
            {"type": "text", "content": piece["text"]}
            if isinstance(piece.get("text"), str)
            else {"type": str(piece.get("type", "other"))}
            for piece in pieces
            if isinstance(piece, dict)
        ]
        shown.append({"role": str(turn.get("role", "")), "parts": parts})
    return msgspec.json.encode(shown).decode()


def _number(raw: msgspec.Raw | None) -> float | None:
    """A member's value, where it is a number."""
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=float)
    except msgspec.DecodeError:
        return None
