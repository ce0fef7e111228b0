"""Which headers of a vendor reach the client."""

from types import SimpleNamespace
from typing import Any

from gateway_core.upstream.response_headers import passed_on
from gateway_core.upstream.transport import Fields


def answer(headers: Any) -> Any:
    return SimpleNamespace(status=200, headers=headers)


def test_rate_limits_and_the_request_id_are_passed_on_in_lower_case() -> None:
    raw = [
        (b"Content-Type", b"application/json"),
        (b"X-RateLimit-Remaining", b"7"),
        (b"Anthropic-Ratelimit-Tokens", b"8"),
        (b"Request-ID", b"r"),
        (b"Retry-After", b"9"),
        (b"Set-Cookie", b"secret"),
    ]

    assert passed_on(answer(Fields(raw))) == [
        (b"x-ratelimit-remaining", b"7"),
        (b"anthropic-ratelimit-tokens", b"8"),
        (b"request-id", b"r"),
        (b"retry-after", b"9"),
    ]


def test_values_of_a_repeated_name_are_joined() -> None:
    raw = [(b"RateLimit-Policy", b"a"), (b"x-other", b"b"), (b"ratelimit-policy", b"c")]

    assert passed_on(answer(Fields(raw))) == [(b"ratelimit-policy", b"a, c")]


def test_an_executors_own_answer_is_read_too() -> None:
    assert passed_on(answer({"retry-after": "1", "server": "x"})) == [(b"retry-after", b"1")]
