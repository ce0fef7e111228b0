"""Errors of vendors read, and errors for clients written."""

from typing import Any

import msgspec
import pytest
from google.genai import errors as genai_errors

from gateway_core import BadRequest, ClientSide, GatewayError, UpstreamError, VendorSide, WireFormat
from gateway_core.contracts.errors import LimitExceeded, UnknownModel


def written(client: ClientSide, error: GatewayError) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(client.write_error(error, "req-1"))
    return body["error"]


@pytest.mark.parametrize(
    ("error", "status", "word"),
    [
        (BadRequest("no"), 400, "INVALID_ARGUMENT"),
        (UnknownModel("no"), 404, "NOT_FOUND"),
        (LimitExceeded("no"), 429, "RESOURCE_EXHAUSTED"),
        (GatewayError("no"), 500, "INTERNAL"),
        (UpstreamError("no", status=503), 503, "UNAVAILABLE"),
        (UpstreamError("no", status=504), 504, "DEADLINE_EXCEEDED"),
        (UpstreamError("no", status=418), 418, "INVALID_ARGUMENT"),
        (UpstreamError("no", status=529), 529, "INTERNAL"),
        (UpstreamError("no", status=400, kind="FAILED_PRECONDITION"), 400, "FAILED_PRECONDITION"),
        (UpstreamError("no", status=400, kind="invalid_request_error"), 400, "INVALID_ARGUMENT"),
    ],
)
def test_an_error_has_code_message_and_status(
    client: ClientSide, error: GatewayError, status: int, word: str
) -> None:
    reported = written(client, error)

    assert (reported["code"], reported["message"], reported["status"]) == (status, "no", word)
    assert reported["request_id"] == "req-1"
    assert reported["details"][0]["reason"] == (error.code or "").upper()


def test_an_error_names_the_vendor_s_request_when_it_differs(client: ClientSide) -> None:
    assert written(client, UpstreamError("no", request_id="up-1"))["upstream_request_id"] == "up-1"
    assert "upstream_request_id" not in written(client, UpstreamError("no", request_id="req-1"))
    assert "upstream_request_id" not in written(client, UpstreamError("no", request_id="a b"))


def test_an_error_tells_when_to_come_back(client: ClientSide) -> None:
    reported = written(client, LimitExceeded("no", retry_after=2.5))

    assert reported["details"][-1] == {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "2.5s",
    }


def test_the_vendor_s_library_understands_the_error(client: ClientSide) -> None:
    body = msgspec.json.decode(client.write_error(LimitExceeded("Slow down"), "req-1"))

    error = genai_errors.APIError(429, body)

    assert (error.code, error.status, error.message) == (429, "RESOURCE_EXHAUSTED", "Slow down")


def test_an_error_can_be_the_only_frame_of_a_stream(client: ClientSide, gemini: WireFormat) -> None:
    framed = gemini.late_error(client.write_error(BadRequest("a\u2028b"), "r"))

    assert framed.startswith(b'data: {"error":')
    assert framed.endswith(b"\r\n\r\n")
    assert b"\xe2\x80\xa8" not in framed
    assert gemini.grammar is not None
    assert gemini.grammar.words(framed) == ["error"]


def google(**error: Any) -> bytes:
    return msgspec.json.encode({"error": error})


INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"}
DELAY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}


def test_a_vendor_s_error_is_read_with_its_details(vendor: VendorSide) -> None:
    body = google(
        code=429, message="Quota.\nMore.", status="RESOURCE_EXHAUSTED", details=[INFO, DELAY]
    )

    error = vendor.read_error(429, {"x-request-id": "up-1"}, body)

    assert (error.message, error.status) == ("Quota.", 429)
    assert (error.kind, error.code) == ("RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED")
    assert (error.retry_after, error.request_id) == (34.4, "up-1")


def test_a_stream_that_fails_at_its_start_gives_a_list(vendor: VendorSide) -> None:
    body = b"[" + google(code=404, message="Not found", status="NOT_FOUND") + b"]"

    error = vendor.read_error(404, {}, body)

    assert (error.message, error.kind, error.code) == ("Not found", "NOT_FOUND", "NOT_FOUND")


def test_a_bad_key_is_the_operator_s_and_not_a_bad_request(vendor: VendorSide) -> None:
    info = {**INFO, "reason": "API_KEY_INVALID"}
    body = google(code=400, message="API key not valid.", status="INVALID_ARGUMENT", details=[info])

    assert vendor.read_error(400, {}, body).status == 401


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500"}, b"{}", 1.5),
        ({"retry-after": "7"}, b"{}", 7.0),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            b"{}",
            30.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, b"{}", None),
        ({"retry-after": "soon"}, b"{}", None),
        ({"retry-after": "nan"}, b"{}", None),
        ({}, google(message="Please retry in 48.9s."), 48.9),
        ({}, google(details=[{**DELAY, "retryDelay": "x"}]), None),
        ({}, google(details="none"), None),
        ({}, b"{}", None),
    ],
)
def test_when_to_come_back_is_read_from_wherever_it_stands(
    vendor: VendorSide, headers: Any, body: bytes, seconds: float | None
) -> None:
    assert vendor.read_error(429, headers, body).retry_after == seconds


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The upstream answered with status 503"),
        (b"<html>busy</html>", "The upstream answered with status 503"),
        (b"try later", "try later"),
        (b'{"error": "busy"}', "busy"),
        (b'{"message": "busy"}', "busy"),
        (b'{"error": {"message": 5}}', "The upstream answered with status 503"),
        (b'{"error": [1]}', "The upstream answered with status 503"),
        (b"[]", "The upstream answered with status 503"),
        (b"[" * 5000, "The upstream answered with status 503"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (google(message="x" * 600), "x" * 500),
    ],
)
def test_any_body_at_all_is_an_error(vendor: VendorSide, body: bytes, message: str) -> None:
    error = vendor.read_error(503, {}, body)

    assert error.message == message
    assert error.status == 503


@pytest.mark.parametrize(
    ("body", "headers", "found"),
    [
        ({"error": {"request_id": "a"}}, {"request-id": "b"}, "a"),
        ({"error": {"upstream_request_id": "z", "request_id": "a"}}, {}, "z"),
        ({"error": {}, "request_id": "c"}, {}, "c"),
        ({"error": {"request_id": "not valid"}}, {"x-correlation-id": "d"}, "d"),
        ({}, {}, None),
    ],
)
def test_the_vendor_s_request_id_is_found(
    vendor: VendorSide, body: Any, headers: Any, found: str | None
) -> None:
    assert vendor.read_error(500, headers, msgspec.json.encode(body)).request_id == found
