"""When to come back and whose request it was, as vendors say it."""

import pytest

from gateway_formats.hints import (
    first_line,
    parse_date,
    parse_wait,
    plain_text,
    request_id,
    retry_after,
)

DATE = "Sat, 21 Nov 2026 10:00:00 GMT"
EPOCH = 1795255200
"""The same moment, in seconds since 1970."""


def left(
    remaining: str, name: str, reset: str, *, kind: str = "requests", **more: str
) -> dict[str, str]:
    """The headers of a limit: how much of it is left, and when there will be more."""
    return {f"x-ratelimit-remaining-{kind}": remaining, name: reset, **more}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Sat, 21 Nov 2026 10:02:05 GMT", "date": DATE}, 125.0),
        ({"retry-after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": DATE}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "1e12"}, None),
        ({"retry-after": "Sat Nov 21 10:02:05 2026", "date": DATE}, 125.0),
        ({}, None),
        (left("0", "x-ratelimit-reset-requests", "6m0s"), 360.0),
        (left("0", "x-ratelimit-reset-requests", "20ms"), 0.02),
        (left("0", "x-ratelimit-reset-requests", "1d2h"), None),
        (left("0", "x-ratelimit-reset-requests", "1d2h0s"), 93600.0),
        (left("0", "x-ratelimit-reset-requests", "37"), 37.0),
        (left("0", "x-ratelimit-reset-requests", "9" * 400 + "s"), None),
        (left("0", "x-ratelimit-reset-requests", "nan"), None),
        (left("0", "x-ratelimit-reset-requests", "1e999"), None),
        (left("0", "x-ratelimit-reset-requests", ""), None),
        (left("1", "x-ratelimit-reset-requests", "6m0s"), None),
        (left("0", "x-ratelimit-reset-tokens", "6m0s"), None),
        (left("0", "x-ratelimit-reset-requests", "6m0s", **{"retry-after": "7"}), 7.0),
        (
            left("0", "x-ratelimit-reset-requests", "5s")
            | left("0", "x-ratelimit-reset-tokens", "9s", kind="tokens"),
            9.0,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:37Z",
                "date": DATE,
            },
            37.0,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 37), "date": DATE}, 37.0),
        (
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{EPOCH + 37}000", "date": DATE},
            37.0,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 37)}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers) == wait


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Please try again in 1h2m3.5s.", 3723.5),
        ("Please try again in 6m0s.", 360.0),
        ("Please try again in 250ms.", 0.25),
        ("Please Try Again In 250MS.", 0.25),
        ("Try again in 20 seconds.", 20.0),
        ("try again in a while", None),
        ("try again in " + "9" * 400 + "h", None),
    ],
)
def test_a_wait_may_stand_in_the_message(message: str, wait: float | None) -> None:
    assert parse_wait(message) == wait


@pytest.mark.parametrize("text", [None, "", "soon", "Sat, 21 Nov 2026 10:00:00 +" + "9" * 30])
def test_what_is_no_date_is_no_moment(text: str | None) -> None:
    assert parse_date(text) is None


def test_the_body_is_believed_before_the_headers() -> None:
    assert request_id({"request-id": "req_2"}, None, "req_1") == "req_1"
    assert request_id({"request-id": "req_2"}, "bad id!", 5) == "req_2"
    assert request_id({"request-id": "x" * 129}) is None
    assert request_id({"apim-request-id": "a-1"}) == "a-1"


def test_only_the_first_line_of_a_message_is_told() -> None:
    assert first_line("\n one \r\ntwo") == "one"
    assert first_line("") == ""
    assert len(first_line("x" * 900)) == 500


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b" no healthy upstream\n", "no healthy upstream"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\n<html>", ""),
        (b'{"error"', ""),
        (b"[1", ""),
        (b"", ""),
        (b"x" * 9000, "x" * 2000),
    ],
)
def test_only_a_sentence_is_quoted_from_a_body(body: bytes, text: str) -> None:
    assert plain_text(body) == text
