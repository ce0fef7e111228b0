"""The cookies of the login: out of the reach of scripts, of other sites and of other hosts."""

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.identity.credentials import own_origin
from gateway_core.pipeline.client_response import headers_of

from .desk import Desk

PENDING = "mfa_pending"
OIDC_STATE = "oidc_state"
OIDC_NONCE = "oidc_nonce"
OIDC_VERIFIER = "oidc_code_verifier"
OIDC_JOURNEY = "oidc_journey"


def set_cookie(
    desk: Desk, request: Request, answer: Response, name: str, value: str, lifetime: float
) -> None:
    """Set a cookie for ``lifetime`` seconds."""
    answer.set_cookie(
        name,
        value,
        max_age=int(lifetime),
        path="/",
        secure=is_secure(desk, request),
        httponly=True,
        samesite="lax",
    )


def clear_cookie(desk: Desk, request: Request, answer: Response, name: str) -> None:
    """Make the browser forget a cookie."""
    set_cookie(desk, request, answer, name, "", 0)


def is_secure(desk: Desk, request: Request) -> bool:
    """Whether cookies are for https only."""
    if desk.core.environment.auth_cookie_secure:
        return True
    return origin(desk, request).startswith("https://")


def origin(desk: Desk, request: Request) -> str:
    """Scheme, host and port of the gateway as the browser knows it."""
    headers = headers_of(request.scope)
    return own_origin(request.scope, headers, desk.core.identity.public_origin)
