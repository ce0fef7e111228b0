"""Refusals with an error status, and every way in which vendors say when to come back."""

from collections.abc import Callable

from .answer import Scene
from .server import Said

WAIT = 37
"""Seconds that each hint asks for."""
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
LATER = "Wed, 21 Oct 2026 07:28:37 GMT"
CROWDED = "Slow down"

Spoil = Callable[[Scene, int], Said]


def status(code: int, told: str) -> Spoil:
    return lambda scene, _: scene.refusal(code, told)


def unauthorized(scene: Scene, _: int) -> Said:
    return scene.refusal(401, "Incorrect API key provided")


def hinted(**headers: str) -> Spoil:
    """429 with these headers."""
    return lambda scene, _: scene.refusal(429, CROWDED, **headers)


def in_words(scene: Scene, _: int) -> Said:
    return scene.refusal(429, f"{CROWDED}. Please try again in {WAIT}s.")


def page(scene: Scene, _: int) -> Said:
    """What a proxy in between answers."""
    said = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return Said((said,), 502, content_type="text/html")


REFUSALS: dict[str, tuple[str, Spoil]] = {
    "401": ("the key is refused", unauthorized),
    "403": ("the account may not use the model", status(403, "Not permitted")),
    "404": ("there is no such model", status(404, "The model does not exist")),
    "429": ("too many requests, without a hint", status(429, CROWDED)),
    "429-seconds": ("too many requests, Retry-After in seconds", hinted(retry_after=str(WAIT))),
    "429-date": (
        "too many requests, Retry-After as a date",
        hinted(retry_after=LATER, date=DATE),
    ),
    "429-ms": (
        "too many requests, retry-after-ms in thousandths",
        hinted(retry_after_ms=str(WAIT * 1000)),
    ),
    "429-reset": (
        "too many requests, with the vendor's reset headers and Retry-After",
        hinted(
            retry_after=str(WAIT),
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests=f"{WAIT}s",
            anthropic_ratelimit_requests_reset="2026-10-21T07:28:37Z",
        ),
    ),
    "429-reset-alone": (
        "too many requests, with the vendor's reset headers alone",
        hinted(
            date=DATE,
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests=f"{WAIT}s",
            anthropic_ratelimit_requests_remaining="0",
            anthropic_ratelimit_requests_reset="2026-10-21T07:28:37Z",
        ),
    ),
    "429-body": ("too many requests, the wait told in the message", in_words),
    "500": ("the vendor fails", status(500, "Internal error")),
    "502-page": ("a proxy answers with a page", page),
    "503": ("the vendor is overloaded", status(503, "Overloaded")),
    "529": ("the vendor is overloaded, by its own status", status(529, "Overloaded")),
}
