"""What a client wants of the cache, by its headers."""

from collections.abc import Mapping

from msgspec import Struct

from gateway_core import BadRequest

HEADER = "x-gateway-cache"
OWN = ("use", "bypass", "refresh", "only")


class Wish(Struct, frozen=True, kw_only=True):
    """What may be done for one request."""

    reads: bool = True
    """It may be answered with a kept answer."""
    keeps: bool = True
    """Its answer may be kept."""
    only: bool = False
    """No vendor is to be asked."""
    max_age: float | None = None
    """How old a kept answer may be, seconds."""


def read_wish(headers: Mapping[str, str]) -> Wish:
    """What a request's headers say. Raises BadRequest.

    ``Cache-Control`` is read as RFC 9111, section 5.2.1 has it, and leniently; ``no-store`` also
    keeps away what others have stored, because whoever sends it wants no cache.
    """
    own = headers.get(HEADER, "use").strip().lower()
    if own not in OWN:
        raise BadRequest(f"{HEADER} must be one of {', '.join(OWN)}", param=HEADER)
    named = dict(_directives(headers.get("cache-control", "")))
    max_age = _seconds(named.get("max-age"))
    if own == "bypass" or "no-store" in named:
        return Wish(reads=False, keeps=False)
    only = own == "only" or "only-if-cached" in named
    stale = own == "refresh" or "no-cache" in named or max_age == 0
    return Wish(reads=not stale, only=only, max_age=max_age)


def _directives(text: str) -> list[tuple[str, str]]:
    parts = (part.strip().partition("=") for part in text.lower().split(","))
    return [(name.strip(), value.strip().strip('"')) for name, _, value in parts if name]


def _seconds(text: str | None) -> float | None:
    """RFC 9111, section 1.2.2; what is no number counts as stale at once (section 4.2.1)."""
    if text is None:
        return None
    return float(text) if text.isdecimal() and len(text) < 12 else 0.0
