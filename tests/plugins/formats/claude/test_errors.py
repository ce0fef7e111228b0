"""Errors for clients of this format, and this vendor's errors."""

import json
from typing import Any

import anthropic.types
import pytest

from gateway_core import BadRequest, ClientSide, GatewayError, UpstreamError, VendorSide


def shown(client: ClientSide, error: GatewayError) -> dict[str, Any]:
    body = client.write_error(error, "req-1")
    anthropic.types.ErrorResponse.model_validate_json(body)
    written: dict[str, Any] = json.loads(body)
    return written


def test_an_error_of_the_gateways_own(client: ClientSide) -> None:
    assert shown(client, BadRequest("no such thing")) == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "no such thing",
            "code": "bad_request",
        },
        "request_id": "req-1",
    }


STATUSES = [
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (409, "invalid_request_error"),
    (429, "rate_limit_error"),
    (500, "api_error"),
    (502, "api_error"),
    (503, "api_error"),
    (504, "timeout_error"),
    (529, "overloaded_error"),
]


@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_the_type_follows_the_status(client: ClientSide, status: int, kind: str) -> None:
    body = client.write_error(UpstreamError("x", status=status), "req-1")

    assert json.loads(body)["error"]["type"] == kind


def test_a_body_that_is_too_long_has_its_own_type(client: ClientSide) -> None:
    body = client.write_error(UpstreamError("x", status=413), "req-1")

    assert json.loads(body)["error"]["type"] == "request_too_large"


def test_the_vendors_own_word_and_id_are_kept(client: ClientSide) -> None:
    error = UpstreamError(
        "x", status=503, kind="overloaded_error", code="busy", request_id="req-up"
    )

    written = shown(client, error)

    assert written["error"] == {"type": "overloaded_error", "message": "x", "code": "busy"}
    assert (written["request_id"], written["upstream_request_id"]) == ("req-1", "req-up")


def test_a_foreign_word_gives_way_to_the_status(client: ClientSide) -> None:
    written = shown(client, UpstreamError("x", status=429, kind="insufficient_quota"))

    assert written["error"]["type"] == "rate_limit_error"


def test_one_id_is_not_said_twice(client: ClientSide) -> None:
    assert "upstream_request_id" not in shown(client, UpstreamError("x", request_id="req-1"))


def test_a_vendors_refusal_without_a_code_has_none(client: ClientSide) -> None:
    assert "code" not in shown(client, UpstreamError("x", status=400))["error"]
    assert shown(client, UpstreamError("x"))["error"]["code"] == "bad_gateway"


def reported(vendor: VendorSide, body: Any, status: int = 400, **headers: str) -> UpstreamError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return vendor.read_error(status, {k.replace("_", "-"): v for k, v in headers.items()}, data)


def test_an_error_as_the_vendor_words_it(vendor: VendorSide) -> None:
    error = reported(
        vendor,
        {
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "Slow down\nplease", "code": 7},
            "request_id": "req_up",
        },
        429,
        request_id="req_header",
        retry_after="2.5",
    )

    assert error.message == "Slow down"
    assert (error.status, error.kind, error.code) == (429, "rate_limit_error", "7")
    assert (error.request_id, error.retry_after) == ("req_up", 2.5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "plain words"}, "plain words"),
        ({"error": {"message": "inner"}}, "inner"),
        ({"message": "outer"}, "outer"),
        ({"detail": "fast"}, "fast"),
        ({"error": {"type": "odd_error"}}, "The upstream answered with odd_error"),
        ({"error": {"message": "  "}}, "The upstream answered with status 418"),
        ({"error": None}, "The upstream answered with status 418"),
        ([], "The upstream answered with status 418"),
        (b"<html>oops</html>", "The upstream answered with status 418"),
        (b"\xff\xfe", "The upstream answered with status 418"),
        (b"", "The upstream answered with status 418"),
        ({"message": "x" * 900}, "x" * 500),
    ],
)
def test_errors_of_every_shape(vendor: VendorSide, body: Any, message: str) -> None:
    error = reported(vendor, body, 418)

    assert (error.message, error.status) == (message, 418)


def test_an_id_is_looked_for_in_the_headers_and_must_look_like_one(vendor: VendorSide) -> None:
    assert reported(vendor, {}, request_id="req_h").request_id == "req_h"
    assert reported(vendor, {"request_id": "bad id!"}, x_request_id="h2").request_id == "h2"
    assert reported(vendor, {"request_id": 3}).request_id is None
    assert reported(vendor, {}, request_id="-x").request_id is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "9"}, 9.0),
        (
            {
                "retry_after": "Fri, 20 Nov 2026 10:00:30 GMT",
                "date": "Fri, 20 Nov 2026 10:00:00 GMT",
            },
            30.0,
        ),
        (
            {
                "retry_after": "Fri, 20 Nov 2026 09:00:00 GMT",
                "date": "Fri, 20 Nov 2026 10:00:00 GMT",
            },
            0.0,
        ),
        ({"retry_after": "Fri, 20 Nov 2026 10:00:30 GMT"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_when_to_come_back(
    vendor: VendorSide, headers: dict[str, str], seconds: float | None
) -> None:
    assert reported(vendor, {}, 429, **headers).retry_after == seconds
