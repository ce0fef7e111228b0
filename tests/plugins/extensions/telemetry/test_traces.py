"""Spans and metrics of a served gateway, as a collector gets them over OTLP."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import msgspec
import pytest
from answer_filters import SettableFilter, filter_plugin
from fake_vendor import MockResponse, ReceivedRequest
from gateway_extension_telemetry import conventions
from gateway_extension_telemetry.spans import input_messages
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from otlp_receiver import Receiver, attributes, receiving
from own_stores import own_stores
from served_gateway import keyless_provider, serve_gateway
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, STREAMED, WHOLE

from gateway_administration.stores.combos import ComboChange
from gateway_core.pipeline.context import Collaborators

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SECRET = "what-nobody-may-read"


def answer(request: ReceivedRequest) -> MockResponse:
    if b"fail" in request.body:
        return MockResponse((b"{}",), status=500)
    if b'"stream":true' in request.body:
        return MockResponse.stream(STREAMED["openai"])
    return MockResponse((WHOLE["openai"],))


class Trace:
    """What one client's requests left at the collector."""

    def __init__(self, receiver: Receiver, served: Mapping[str, list[ReceivedRequest]]) -> None:
        self.receiver, self.served = receiver, served

    def spans(self, trace: str) -> list[Span]:
        return [each for each in self.receiver.spans if each.trace_id.hex() == trace]


def trace_id(number: int) -> str:
    return f"{number:032x}"


def ask(client: httpx2.Client, number: int, text: str = "hi", **more: object) -> None:
    body = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": text}], **more}
    parent = {"traceparent": f"00-{trace_id(number)}-{PARENT}-01", "tracestate": "a=1"}
    client.post("/v1/chat/completions", json=body, headers=parent)


async def add_pair(core: Collaborators) -> None:
    """A combo whose first vendor fails."""
    change = ComboChange(name="pair", models=("v-broken/m-0", "v-openai/m-1"))
    await own_stores(core).combos.create(change)
    await core.refresh()


PLAIN, REPEATED, STREAM, FAILING, UNKNOWN = range(1, 6)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    """One gateway, one request of each sort, and what the collector had at the end."""
    with receiving() as receiver:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        folder = tmp_path_factory.mktemp("traced")
        with serve_gateway(folder, {"openai": answer}, variables=variables) as here:
            with httpx2.Client(base_url=here.url, timeout=30) as client:
                ask(client, PLAIN, SECRET, temperature=0.5, max_tokens=7)
                ask(client, REPEATED)
                ask(client, STREAM, stream=True)
                ask(client, FAILING, "fail")
                ask(client, UNKNOWN, model="nobody/made-this-up")
            received = here.vendors["openai"].received
        yield Trace(receiver, {"openai": received})


@pytest.mark.parametrize("number", [PLAIN, REPEATED, STREAM], ids=["plain", "repeated", "stream"])
def test_a_request_is_a_span_below_the_clients_and_its_attempt_one_below(
    sent: Trace, number: int
) -> None:
    attempt, request = sent.spans(trace_id(number))

    assert (request.kind, attempt.kind) == (Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT)
    assert request.parent_span_id.hex() == PARENT
    assert attempt.parent_span_id == request.span_id
    assert request.name == "chat v-openai/m-1"
    assert attempt.name == "chat m-1"
    seen = attributes(request.attributes)
    assert seen["gen_ai.operation.name"] == "chat"
    assert seen["gen_ai.provider.name"] == "v-openai"
    assert seen["gen_ai.request.stream"] is (number == STREAM)
    assert seen["gen_ai.usage.input_tokens"] == INPUT_TOKENS
    assert seen["gen_ai.usage.output_tokens"] == OUTPUT_TOKENS
    assert seen["gen_ai.response.time_to_first_chunk"] >= 0
    assert seen["http.response.status_code"] == 200
    inner = attributes(attempt.attributes)
    assert inner["server.address"] == "127.0.0.1"
    assert inner["gen_ai.request.model"] == "m-1"


def test_the_vendor_gets_the_attempts_own_context(sent: Trace) -> None:
    by_trace = {each.headers["traceparent"][3:35]: each.headers for each in sent.served["openai"]}

    for number in (PLAIN, REPEATED, STREAM):
        attempt, _ = sent.spans(trace_id(number))
        headers = by_trace[trace_id(number)]
        assert headers["traceparent"] == f"00-{trace_id(number)}-{attempt.span_id.hex()}-01"
        assert headers["tracestate"] == "a=1"


def test_what_the_client_asks_for_is_in_the_conventions_attributes(sent: Trace) -> None:
    _, request = sent.spans(trace_id(PLAIN))
    seen = attributes(request.attributes)

    assert seen["gen_ai.request.temperature"] == 0.5
    assert seen["gen_ai.request.max_tokens"] == 7


def test_a_failed_request_and_its_attempt_are_errors(sent: Trace) -> None:
    *attempts, request = sent.spans(trace_id(FAILING))

    assert attempts
    for span in (*attempts, request):
        assert span.status.code == 2
        assert attributes(span.attributes)["error.type"]
    assert attributes(attempts[0].attributes)["error.type"] == "500"


def test_a_refused_request_has_a_span_and_no_attempt(sent: Trace) -> None:
    (request,) = sent.spans(trace_id(UNKNOWN))

    assert request.status.code == 2


def test_contents_are_in_no_span_unless_that_is_switched_on(sent: Trace) -> None:
    exported = b"".join(each.SerializeToString() for each in sent.receiver.spans)

    assert SECRET.encode() not in exported


def test_every_genai_attribute_is_one_of_the_conventions(sent: Trace) -> None:
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI")}
    used = {each.key for span in sent.receiver.spans for each in span.attributes}

    assert {name for name in used if name.startswith("gen_ai.")} <= known


def test_the_resource_names_the_service_and_the_process(sent: Trace) -> None:
    resource = sent.receiver.resource

    assert resource["service.name"] == "model-gateway"
    assert resource["service.instance.id"]


def test_metrics_follow_the_conventions_and_name_no_model_that_a_client_made_up(
    sent: Trace,
) -> None:
    metrics = sent.receiver.metrics

    requests = metrics["gen_ai.server.request.duration"].histogram.data_points
    assert sum(point.count for point in requests) == 5
    assert metrics["gen_ai.server.request.duration"].unit == "s"
    attempts = metrics["gen_ai.client.operation.duration"].histogram.data_points
    assert sum(point.count for point in attempts) >= 4
    assert list(requests[0].explicit_bounds) == list(conventions.DURATIONS)
    tokens = metrics["gen_ai.client.token.usage"].histogram.data_points
    sums = {attributes(point.attributes)["gen_ai.token.type"]: point.sum for point in tokens}
    assert sums == {"input": 3 * INPUT_TOKENS, "output": 3 * OUTPUT_TOKENS}
    assert metrics["gen_ai.server.time_to_first_token"].histogram.data_points
    assert metrics["gen_ai.client.operation.time_to_first_chunk"].histogram.data_points
    assert "made-this-up" not in str(metrics)


def test_contents_are_in_the_span_once_that_is_switched_on(tmp_path: Any) -> None:
    with receiving() as receiver:
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        }
        with (
            serve_gateway(tmp_path, {"openai": answer}, variables=variables) as here,
            httpx2.Client(base_url=here.url, timeout=30) as client,
        ):
            ask(client, PLAIN, "hello")
        request = receiver.spans[-1]

    content = attributes(request.attributes)["gen_ai.input.messages"]
    assert isinstance(content, str)
    assert msgspec.json.decode(content) == [
        {"role": "user", "parts": [{"type": "text", "content": "hello"}]}
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_filters_of_answers_hide_no_attempt(tmp_path: Any, stream: bool) -> None:
    held = SettableFilter()
    held.mode, held.word = "hides", "nothing of it"
    broken = MockResponse((b"{}",), status=500)
    with receiving() as receiver:
        with serve_gateway(
            tmp_path,
            {"openai": answer, "broken": lambda received: broken},
            specs=lambda vendors: [
                keyless_provider("openai", vendors["broken"], id="v-broken"),
                keyless_provider("openai", vendors["openai"]),
            ],
            plugins={"settable": filter_plugin(held)},
            variables={"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url},
        ) as here:
            here.do(add_pair(here.gateway.core))
            with httpx2.Client(base_url=here.url, timeout=30) as client:
                ask(client, PLAIN, model="pair", stream=stream)
            received = here.vendors["openai"].received
        first, second, request = Trace(receiver, {}).spans(trace_id(PLAIN))

    assert [each.name for each in (first, second, request)] == [
        *("chat m-0", "chat m-1", "chat pair"),
    ]
    assert {each.parent_span_id for each in (first, second)} == {request.span_id}
    assert attributes(first.attributes)["error.type"] == "500"
    assert "error.type" not in attributes(second.attributes)
    assert attributes(second.attributes)["gen_ai.response.time_to_first_chunk"] >= 0
    assert received[-1].headers["traceparent"][36:52] == second.span_id.hex()
    points = receiver.metrics["gen_ai.client.operation.duration"].histogram.data_points
    assert sum(point.count for point in points) == 2


def test_contents_that_are_no_text_are_shown_by_their_type() -> None:
    turns = [{"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "a"}]}, 1]

    shown = msgspec.json.decode(input_messages(msgspec.Raw(msgspec.json.encode(turns))))

    parts = [{"type": "image_url"}, {"type": "text", "content": "a"}]
    assert shown == [{"role": "user", "parts": parts}]
