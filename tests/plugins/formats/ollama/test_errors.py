"""Errors in both directions."""

from typing import Any

import msgspec
import pytest

from gateway_core import BadRequest, ClientSide, UpstreamError, VendorSide


def test_an_error_is_one_sentence_and_the_requests_id(client: ClientSide) -> None:
    body = client.write_error(BadRequest("messages must be a list"), "id-1")

    assert msgspec.json.decode(body) == {"error": "messages must be a list", "request_id": "id-1"}


@pytest.mark.parametrize(("upstream", "shown"), [("up-1", "up-1"), ("id-1", None), (None, None)])
def test_the_vendors_id_is_told_when_it_is_another(
    client: ClientSide, upstream: str | None, shown: str | None
) -> None:
    error = UpstreamError("no", status=500, request_id=upstream)

    body = msgspec.json.decode(client.write_error(error, "id-1"))

    assert body.get("upstream_request_id") == shown
    assert body["request_id"] == "id-1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":"model not found\\nsecond line"}', "model not found"),
        (b'{"error":{"message":"no room"}}', "no room"),
        (b"upstream connect error", "upstream connect error"),
        (b"<html>Bad Gateway</html>", "The upstream answered with status 502"),
        (b"", "The upstream answered with status 502"),
        (b"{}", "The upstream answered with status 502"),
        (b"\xff\xfe", "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (b'{"error":"' + b"x" * 900 + b'"}', "x" * 500),
    ],
)
def test_the_vendors_sentence_is_its_first_line(
    vendor: VendorSide, body: bytes, message: str
) -> None:
    error = vendor.read_error(502, {}, body)

    assert (error.message, error.status) == (message, 502)


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:30 GMT", "date": DATE}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(vendor: VendorSide, headers: Any, seconds: float | None) -> None:
    assert vendor.read_error(429, headers, b"{}").retry_after == seconds


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"x-request-id": "abc-1"}, "abc-1"),
        ({"request-id": "abc-2"}, "abc-2"),
        ({"x-request-id": "no good", "x-correlation-id": "abc-3"}, "abc-3"),
        ({}, None),
    ],
)
def test_the_vendors_request_id(vendor: VendorSide, headers: Any, found: str | None) -> None:
    assert vendor.read_error(500, headers, b"").request_id == found
