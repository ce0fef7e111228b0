"""The lines of results: one document in one line, whatever a vendor has sent."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gateway_batches.output_lines import (
    CANCELLED,
    OutputLine,
    answer_line,
    error_line,
    in_one_line,
    read_line,
    result_of,
    write_line,
)
from gateway_batches.whole_response import WholeResponse
from gateway_core.metering.request_record import RequestRecord

JSON = {"content-type": "application/json"}


def answer(body: bytes, headers: dict[str, str] = JSON, status: int = 200) -> WholeResponse:
    return WholeResponse(status, headers, body, RequestRecord("req_1", "/v1/x", "openai", 0.0))


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53)), st.booleans())
def test_a_document_in_one_line_means_the_same(document: dict[str, Any], is_pretty: bool) -> None:
    text = msgspec.json.encode(document)
    if is_pretty:
        text = msgspec.json.format(text, indent=1).replace(b"\n", b"\r\n")

    line = in_one_line(text)

    assert msgspec.json.decode(line) == document
    assert len(line.decode().splitlines()) == 1


@given(st.binary(max_size=60), st.sampled_from([JSON, {"content-type": "text/event-stream"}, {}]))
def test_any_body_becomes_one_line(body: bytes, headers: dict[str, str]) -> None:
    line = write_line(answer_line("batchreq_1", "a\n\u2028", answer(body, headers)))

    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    found = msgspec.json.decode(line)
    assert found["custom_id"] == "a\n\u2028"
    assert found["response"]["status_code"] == 200
    if headers is not JSON:
        assert found["response"]["body"] == body.decode("utf-8", "replace")


def test_numbers_stay_as_they_were_written() -> None:
    line = answer_line("i", "c", answer(b'{"a": 1.0, "b": 1e-7, "c": 12345678901234567890123}'))

    assert b'{"a": 1.0, "b": 1e-7, "c": 12345678901234567890123}' in write_line(line)


def kind_of(line: OutputLine) -> str:
    kind: str = result_of(read_line(write_line(line)))["type"]
    return kind


def test_results_of_messages_are_made_of_the_same_lines() -> None:
    assert kind_of(answer_line("i", "c", answer(b"{}"))) == "succeeded"
    assert kind_of(answer_line("i", "c", answer(b"{}", status=429))) == "errored"
    assert kind_of(error_line("i", "c", CANCELLED, "gone")) == "canceled"
    assert kind_of(error_line("i", "c", "api_error", "gone")) == "errored"
