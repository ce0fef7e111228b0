"""Vendors' refusals, read, and errors for clients, written."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from gateway_core import BadRequest, ClientSide, GatewayError, UpstreamError, VendorSide


def refuse(
    vendor: VendorSide, body: Any, status: int = 400, headers: Mapping[str, str] | None = None
) -> UpstreamError:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return vendor.read_error(status, headers or {}, raw)


@pytest.mark.parametrize(
    ("body", "message", "kind", "code"),
    [
        (
            {"error": {"message": "m", "type": "t", "param": None, "code": "c"}},
            *("m", "t", "c"),
        ),
        ({"error": {"message": "m", "code": 401}}, "m", None, "bad_gateway"),
        ({"error": {"message": "m", "code": "404"}}, "m", None, "bad_gateway"),
        ({"error": "m", "code": "some words"}, "m", None, "some words"),
        ({"detail": "m"}, "m", None, "bad_gateway"),
        ({"detail": [{"loc": ["body"], "msg": "m"}]}, "m", None, "bad_gateway"),
        ({"object": "error", "message": "m", "type": "t", "code": "c"}, "m", "t", "c"),
        ({"object": "error", "message": {"detail": [{"msg": "m"}]}}, "m", None, "bad_gateway"),
        ([{"error": {"message": "m", "status": "X", "code": 400}}], "m", None, "bad_gateway"),
        ({"errors": ["m", "n"]}, "m", None, "bad_gateway"),
        ({"error": {"message": "first\nsecond"}}, "first", None, "bad_gateway"),
        (b"plain words\nmore", "plain words", None, "bad_gateway"),
        (b"<html>", "The upstream answered 400", None, "bad_gateway"),
        (b"", "The upstream answered 400", None, "bad_gateway"),
        (b"{}", "The upstream answered 400", None, "bad_gateway"),
        (b'{"error":{}}', "The upstream answered 400", None, "bad_gateway"),
        (
            {"error": {"message": "Failed", "metadata": {"raw": '{"error":{"message":"why"}}'}}},
            *("Failed: why", None, "bad_gateway"),
        ),
        (
            {"error": {"message": "Failed", "metadata": {"raw": "plain why"}}},
            *("Failed: plain why", None, "bad_gateway"),
        ),
    ],
)
def test_every_shape_of_refusal_is_read(
    vendor: VendorSide, body: Any, message: str, kind: str | None, code: str
) -> None:
    error = refuse(vendor, body)

    assert (error.message, error.kind, error.code) == (message, kind, code)
    assert error.status == 400


def test_a_long_message_is_cut(vendor: VendorSide) -> None:
    assert len(refuse(vendor, {"error": {"message": "x" * 900}}).message) == 500
    assert len(refuse(vendor, b"x" * 9000).message) == 500


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        ({"error": {"message": "m", "request_id": "a1"}}, {"x-request-id": "b"}, "a1"),
        ({"error": {"message": "m"}, "request_id": "a2"}, {}, "a2"),
        ({"error": {"message": "m"}, "upstream_request_id": "a3"}, {}, "a3"),
        ({"error": {"message": "m"}}, {"x-request-id": "req_1"}, "req_1"),
        ({"error": {"message": "m"}}, {"x-upstream-request-id": "u", "x-request-id": "r"}, "u"),
        ({"error": {"message": "m"}}, {"apim-request-id": "z-1"}, "z-1"),
        ({"error": {"message": "m"}}, {"x-request-id": "not valid!"}, None),
        (b"", {"request-id": "r"}, "r"),
    ],
)
def test_the_vendors_request_id(
    vendor: VendorSide, body: Any, headers: dict[str, str], expected: str | None
) -> None:
    assert refuse(vendor, body, headers=headers).request_id == expected


DATE = "Fri, 13 Nov 2026 10:00:00 GMT"
LATER = "Fri, 13 Nov 2026 10:00:30 GMT"


@pytest.mark.parametrize(
    ("headers", "error", "expected"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, {}, 1.5),
        ({"retry-after": "9"}, {}, 9.0),
        ({"retry-after": LATER, "date": DATE}, {}, 30.0),
        ({"retry-after": DATE, "date": LATER}, {}, 0.0),
        ({"retry-after": LATER}, {}, None),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "-1"}, {}, None),
        ({}, {"message": "Please try again in 7.66s."}, 7.66),
        ({}, {"message": "Please try again in 1m2.5s."}, 62.5),
        ({}, {"message": "try again in 1h2m3s"}, 3723.0),
        ({}, {"message": "try again in 20ms"}, 0.02),
        ({}, {"message": "Please try again in 6 seconds"}, 6.0),
        ({}, {"message": "try again in a while"}, None),
        ({}, {"details": [{"@type": "x"}, {"retryDelay": "12.5s"}]}, 12.5),
        (
            {"date": DATE},
            {"metadata": {"headers": {"X-RateLimit-Reset": "1794564060000"}}},
            60.0,
        ),
        ({}, {"metadata": {"headers": {"X-RateLimit-Reset": "1794564060000"}}}, None),
    ],
)
def test_when_to_come_back(
    vendor: VendorSide, headers: dict[str, str], error: dict[str, Any], expected: float | None
) -> None:
    refused = refuse(vendor, {"error": {"message": "m", **error}}, 429, headers)

    assert refused.retry_after == expected


def test_our_own_errors_carry_the_request_id(client: ClientSide) -> None:
    written = msgspec.json.decode(client.write_error(BadRequest("bad"), "req-1"))

    assert written == {
        "error": {
            "message": "bad",
            "type": "invalid_request_error",
            "param": None,
            "code": "bad_request",
            "request_id": "req-1",
        }
    }


def test_an_unforeseen_error_is_the_servers(client: ClientSide) -> None:
    written = msgspec.json.decode(client.write_error(GatewayError("Request failed"), "r"))

    assert written["error"]["type"] == "server_error"
    assert written["error"]["code"] == "internal_server_error"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", "bad_request"),
        (401, "authentication_error", "invalid_api_key"),
        (402, "billing_error", "payment_required"),
        (403, "permission_error", "insufficient_quota"),
        (404, "invalid_request_error", "model_not_found"),
        (406, "invalid_request_error", "model_not_supported"),
        (418, "invalid_request_error", None),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", "internal_server_error"),
        (502, "server_error", "bad_gateway"),
        (503, "server_error", "service_unavailable"),
        (504, "server_error", "gateway_timeout"),
        (529, "server_error", None),
    ],
)
def test_an_upstream_error_without_words_is_named_after_its_status(
    client: ClientSide, status: int, kind: str, code: str | None
) -> None:
    error = UpstreamError("m", status=status)

    written = msgspec.json.decode(client.write_error(error, "r"))["error"]

    assert (written["type"], written["code"]) == (kind, code)


def test_an_upstream_errors_own_words_are_kept(
    client: ClientSide, older_client: ClientSide
) -> None:
    error = UpstreamError("m", status=529, kind="overloaded_error", code="c", request_id="up-1")

    for side in (client, older_client):
        assert msgspec.json.decode(side.write_error(error, "r")) == {
            "error": {
                "message": "m",
                "type": "overloaded_error",
                "param": None,
                "code": "c",
                "request_id": "r",
                "upstream_request_id": "up-1",
            }
        }


def test_an_upstream_id_equal_to_ours_is_not_repeated(client: ClientSide) -> None:
    error = UpstreamError("m", request_id="r")

    assert b"upstream_request_id" not in client.write_error(error, "r")
