"""Refusals with an error status, and every way in which vendors say when to come back."""

from collections.abc import Callable

from .answer import MockAnswer
from .server import MockResponse

WAIT = 37
"""Seconds that each hint asks for."""
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
LATER = "Wed, 21 Oct 2026 07:28:37 GMT"
TOO_MANY = "Slow down"

FaultFunction = Callable[[MockAnswer, int], MockResponse]


def status(code: int, text: str) -> FaultFunction:
    return lambda scene, _: scene.refusal(code, text)


def unauthorized(scene: MockAnswer, _: int) -> MockResponse:
    return scene.refusal(401, "Incorrect API key provided")


def with_headers(**headers: str) -> FaultFunction:
    """429 with these headers."""
    return lambda scene, _: scene.refusal(429, TOO_MANY, **headers)


def hint_in_message(scene: MockAnswer, _: int) -> MockResponse:
    return scene.refusal(429, f"{TOO_MANY}. Please try again in {WAIT}s.")


def page(scene: MockAnswer, _: int) -> MockResponse:
    """What a proxy in between answers."""
    html = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return MockResponse((html,), 502, content_type="text/html")


REFUSALS: dict[str, tuple[str, FaultFunction]] = {
    "401": ("the key is refused", unauthorized),
    "403": ("the account may not use the model", status(403, "Not permitted")),
    "404": ("there is no such model", status(404, "The model does not exist")),
    "429": ("too many requests, without a hint", status(429, TOO_MANY)),
    "429-seconds": (
        "too many requests, Retry-After in seconds",
        with_headers(retry_after=str(WAIT)),
    ),
    "429-date": (
        "too many requests, Retry-After as a date",
        with_headers(retry_after=LATER, date=DATE),
    ),
    "429-ms": (
        "too many requests, retry-after-ms in thousandths",
        with_headers(retry_after_ms=str(WAIT * 1000)),
    ),
    "429-reset": (
        "too many requests, with the vendor's reset headers and Retry-After",
        with_headers(
            retry_after=str(WAIT),
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests=f"{WAIT}s",
            anthropic_ratelimit_requests_reset="2026-10-21T07:28:37Z",
        ),
    ),
    "429-reset-alone": (
        "too many requests, with the vendor's reset headers alone",
        with_headers(
            date=DATE,
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests=f"{WAIT}s",
            anthropic_ratelimit_requests_remaining="0",
            anthropic_ratelimit_requests_reset="2026-10-21T07:28:37Z",
        ),
    ),
    "429-body": ("too many requests, the wait told in the message", hint_in_message),
    "500": ("the vendor fails", status(500, "Internal error")),
    "502-page": ("a proxy answers with a page", page),
    "503": ("the vendor is overloaded", status(503, "Overloaded")),
    "529": ("the vendor is overloaded, by its own status", status(529, "Overloaded")),
}
