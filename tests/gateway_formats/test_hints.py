"""When to come back and whose request it was, as vendors say it."""

import pytest

from gateway_formats.hints import first_line, request_id, retry_after

DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


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
        ({}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers) == wait


def test_the_body_is_believed_before_the_headers() -> None:
    assert request_id({"request-id": "req_2"}, None, "req_1") == "req_1"
    assert request_id({"request-id": "req_2"}, "bad id!", 5) == "req_2"
    assert request_id({"request-id": "x" * 129}) is None


def test_only_the_first_line_of_a_message_is_told() -> None:
    assert first_line("\n one\ntwo") == "one"
    assert first_line("") == ""
    assert len(first_line("x" * 900)) == 500
