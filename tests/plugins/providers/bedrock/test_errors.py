"""Bedrock's refusals."""

from typing import Any

import pytest

from gateway_core import VendorSide


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message":"no such model\\nmore"}', "no such model"),
        (b'{"Message":"not allowed"}', "not allowed"),
        (b"upstream connect error", "upstream connect error"),
        (b"<html></html>", "The upstream answered with status 500"),
        (b'{"message":7}', "The upstream answered with status 500"),
        (b"", "The upstream answered with status 500"),
    ],
)
def test_the_message_is_the_vendors_own(vendor: VendorSide, body: bytes, message: str) -> None:
    assert vendor.read_error(500, {}, body).message == message


def test_the_kind_and_the_id_stand_in_headers(vendor: VendorSide) -> None:
    headers = {
        "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/",
        "x-amzn-requestid": "ee1ff1e8-b620",
    }

    error = vendor.read_error(429, headers, b'{"message":"slow down"}')

    assert (error.kind, error.request_id) == ("ThrottlingException", "ee1ff1e8-b620")


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
