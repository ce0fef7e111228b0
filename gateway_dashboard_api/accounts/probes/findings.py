"""The result of a check of an account, and its meaning to the operator."""

from collections.abc import Iterable

from msgspec import Struct

from gateway_core.contracts.errors import GatewayError, TransportError, UpstreamError
from gateway_core.upstream.redaction import redact

_ABOUT_THE_KEY = ("api key", "api_key", "apikey", "credential", "unauthorized", "authentication")
_ABOUT_THE_REQUEST = (400, 404, 405, 413, 422, 429)
"""Statuses that a vendor returns only after it accepted the key."""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """``source`` is ``upstream`` or ``local``."""

    type: str
    source: str
    code: str | None = None
    message: str | None = None


class Finding(Struct, frozen=True, kw_only=True, rename="camel"):
    """``valid`` is true when the account was let in."""

    valid: bool
    error: str | None
    latency_ms: int
    diagnosis: Diagnosis
    status_code: int | None = None


def shows_admission(error: GatewayError) -> bool:
    """Whether an error shows that the vendor accepted the key."""
    if isinstance(error, TransportError) or not isinstance(error, UpstreamError):
        return False
    return error.status in _ABOUT_THE_REQUEST and not _is_about_the_key(error)


def _is_about_the_key(error: UpstreamError) -> bool:
    """Whether an error is about the key; some vendors report that as a bad request."""
    text = error.message.lower()
    return error.status in (401, 403) or (
        error.status < 500 and any(word in text for word in _ABOUT_THE_KEY)
    )


def build_finding(error: GatewayError | None, latency_ms: int, secrets: Iterable[str]) -> Finding:
    """Build the finding of a check that ended with this error, or with none."""
    if error is None:
        return Finding(
            valid=True,
            error=None,
            latency_ms=latency_ms,
            diagnosis=Diagnosis(type="ok", source="upstream"),
        )
    text = redact(error.message, secrets)
    is_upstream = isinstance(error, UpstreamError)
    return Finding(
        valid=False,
        error=text,
        latency_ms=latency_ms,
        diagnosis=Diagnosis(
            type=_type(error),
            source="upstream" if is_upstream else "local",
            code=error.code,
            message=text,
        ),
        status_code=error.status if is_upstream else None,
    )


def _type(error: GatewayError) -> str:
    if isinstance(error, TransportError):
        return "timeout" if error.status == 504 else "network_error"
    if not isinstance(error, UpstreamError):
        return "configuration_error"
    if _is_about_the_key(error):
        return "upstream_auth_error"
    if error.status == 429:
        return "upstream_rate_limited"
    return "upstream_unavailable" if error.status >= 500 else "upstream_error"
