"""Cohere's refusals."""

from typing import Any

import pytest

from gateway_core import VendorSide


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message":"no such model\\nmore"}', "no such model"),
        (b"upstream connect error", "upstream connect error"),
        (b"<html></html>", "The upstream answered with status 500"),
        (b'{"message":7}', "The upstream answered with status 500"),
        (b"", "The upstream answered with status 500"),
    ],
)
def test_the_message_is_coheres_own(vendor: VendorSide, body: bytes, message: str) -> None:
    assert vendor.read_error(500, {}, body).message == message


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30.0),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(vendor: VendorSide, headers: Any, seconds: float | None) -> None:
    assert vendor.read_error(429, headers, b"{}").retry_after == seconds


@pytest.mark.parametrize(
    ("headers", "body", "id"),
    [
        ({"x-request-id": "a"}, b'{"id":"b"}', "a"),
        ({"x-debug-trace-id": "a"}, b'{"id":"b"}', "a"),
        ({}, b'{"id":"b"}', "b"),
        ({}, b'{"id":"not an id"}', None),
        ({}, b'{"id":7}', None),
    ],
)
def test_the_request_id_is_in_headers_or_body(
    vendor: VendorSide, headers: Any, body: bytes, id: str | None
) -> None:
    assert vendor.read_error(400, headers, body).request_id == id
