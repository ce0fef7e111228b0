"""Errors that a vendor sends, and errors that a client gets."""

import json
from typing import Any

import pytest
from corpus import Item, answer, items, named

from gateway_core import (
    BadRequest,
    ClientSide,
    GatewayError,
    TransportError,
    UpstreamError,
    VendorSide,
)

Json = dict[str, Any]
ERRORS = [item for item in items("openai_responses") if item["response_status"] >= 400]


def reported(client: ClientSide, error: GatewayError, request_id: str = "req-1") -> Json:
    return dict(json.loads(client.write_error(error, request_id))["error"])


@pytest.mark.parametrize("item", ERRORS, ids=named)
def test_recorded_errors_are_read(item: Item, vendor: VendorSide) -> None:
    expected = json.loads(answer(item))["error"]

    error = vendor.read_error(item["response_status"], {}, answer(item))

    assert error.status == item["response_status"]
    assert error.message == expected["message"]
    assert error.kind == expected["type"]
    assert error.code == (expected["code"] or "bad_gateway")


def test_an_own_error_is_told_with_its_type_and_code(client: ClientSide) -> None:
    assert reported(client, BadRequest("no good")) == {
        "message": "no good",
        "type": "invalid_request_error",
        "param": None,
        "code": "bad_request",
        "request_id": "req-1",
    }


def test_a_vendors_error_keeps_the_vendors_words(client: ClientSide) -> None:
    error = UpstreamError(
        "quota", status=429, kind="insufficient_quota", code="insufficient_quota", request_id="up-1"
    )

    written = reported(client, error)

    assert (written["type"], written["code"]) == ("insufficient_quota", "insufficient_quota")
    assert (written["request_id"], written["upstream_request_id"]) == ("req-1", "up-1")


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", "bad_request"),
        (401, "authentication_error", "invalid_api_key"),
        (402, "billing_error", "payment_required"),
        (403, "permission_error", "insufficient_quota"),
        (404, "invalid_request_error", "model_not_found"),
        (418, "invalid_request_error", ""),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", "internal_server_error"),
        (502, "server_error", "bad_gateway"),
        (503, "server_error", "service_unavailable"),
        (529, "server_error", ""),
    ],
)
def test_a_vendors_error_without_words_gets_them_by_status(
    client: ClientSide, status: int, kind: str, code: str
) -> None:
    written = reported(client, UpstreamError("x", status=status))

    assert (written["type"], written["code"]) == (kind, code)


def test_a_vendor_that_cannot_be_reached(client: ClientSide) -> None:
    written = reported(client, TransportError("x", status=504))

    assert (written["type"], written["code"]) == ("server_error", "gateway_timeout")


def test_the_same_id_is_not_told_twice(client: ClientSide) -> None:
    assert "upstream_request_id" not in reported(client, UpstreamError("x", request_id="req-1"))


def test_an_error_whose_status_was_a_vendors_is_typed_by_it(client: ClientSide) -> None:
    error = GatewayError("all resting", code="rate_limit_exceeded")
    error.status = 429

    written = reported(client, error)

    assert (written["type"], written["code"]) == ("rate_limit_error", "rate_limit_exceeded")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":{"message":"first\\nsecond"}}', "first"),
        (b'{"error":"plain"}', "plain"),
        (b'{"message":"outer"}', "outer"),
        (b'{"detail":"not here"}', "not here"),
        (b'{"detail":[{"msg":"bad"}]}', '[{"msg":"bad"}]'),
        (b'[{"error":{"message":"listed"}}]', "listed"),
        (b"just text\nmore", "just text"),
        (b"<html>no</html>", "The upstream answered 503"),
        (b"", "The upstream answered 503"),
        (b'{"error":{}}', "The upstream answered 503"),
        (b"7", "7"),
        (b"\xff", "\ufffd"),
    ],
)
def test_a_message_is_found_wherever_it_is(vendor: VendorSide, body: bytes, message: str) -> None:
    assert vendor.read_error(503, {}, body).message == message


def test_a_long_message_is_cut(vendor: VendorSide) -> None:
    assert len(vendor.read_error(500, {}, b'{"error":"%b"}' % (b"x" * 900)).message) == 500


@pytest.mark.parametrize(
    ("headers", "body", "found"),
    [
        ({"x-request-id": "a"}, b"{}", "a"),
        ({"request-id": "b"}, b"{}", "b"),
        ({"x-request-id": "a"}, b'{"error":{"request_id":"c"}}', "c"),
        ({}, b'{"request_id":"d"}', "d"),
        ({}, b"", None),
    ],
)
def test_the_vendors_request_id_is_found(
    vendor: VendorSide, headers: dict[str, str], body: bytes, found: str | None
) -> None:
    assert vendor.read_error(500, headers, body).request_id == found


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "9"}, "try again in 1s", 9.0),
        ({"retry-after": "-1"}, "", None),
        ({"retry-after": "soon"}, "", None),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            "",
            10.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, "", None),
        ({}, "Please try again in 1.5s.", 1.5),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, "Please try again in 1m30s.", 90.0),
        ({}, "Please try again in 2h3m4s.", 7384.0),
        ({}, "Please try again in a while.", None),
        ({}, "", None),
    ],
)
def test_how_long_to_wait(
    vendor: VendorSide, headers: dict[str, str], message: str, seconds: float | None
) -> None:
    body = json.dumps({"error": {"message": message or "x"}}).encode()

    assert vendor.read_error(429, headers, body).retry_after == seconds
