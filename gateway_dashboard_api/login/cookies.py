"""The cookies of the login: HttpOnly, SameSite=Lax, for this host only."""

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.identity.credentials import own_origin
from gateway_core.pipeline.client_response import headers_of

from ..admin_context import AdminContext

PENDING = "mfa_pending"
OIDC_STATE = "oidc_state"
OIDC_NONCE = "oidc_nonce"
OIDC_VERIFIER = "oidc_code_verifier"
OIDC_JOURNEY = "oidc_journey"
_USUAL_PORTS = {"https": ":443", "http": ":80"}


def set_cookie(
    admin: AdminContext, request: Request, answer: Response, name: str, value: str, lifetime: float
) -> None:
    """Set a cookie for ``lifetime`` seconds."""
    answer.set_cookie(
        name,
        value,
        max_age=int(lifetime),
        path="/",
        secure=is_secure(admin, request),
        httponly=True,
        # Not "strict": the redirect from an OpenID provider must carry the cookie.
        samesite="lax",
    )


def clear_cookie(admin: AdminContext, request: Request, answer: Response, name: str) -> None:
    """Make the browser forget a cookie."""
    set_cookie(admin, request, answer, name, "", 0)


def is_secure(admin: AdminContext, request: Request) -> bool:
    """Whether cookies are for https only."""
    if admin.core.environment.auth_cookie_secure:
        return True
    return origin(admin, request).startswith("https://")


def origin(admin: AdminContext, request: Request) -> str:
    """Return scheme, host and port of the gateway as the browser sees it."""
    headers = headers_of(request.scope)
    return own_origin(request.scope, headers, admin.core.identity.public_origin)


def registered_origin(admin: AdminContext, request: Request) -> str:
    """The same without a default port, as redirect addresses are usually registered."""
    scheme, _, rest = origin(admin, request).partition("://")
    return f"{scheme}://{rest.removesuffix(_USUAL_PORTS.get(scheme, ''))}"
