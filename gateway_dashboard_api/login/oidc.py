"""Signing in at an OpenID provider (5.3, L.7).

The browser comes back with a state. It is valid once, and only in the browser
whose cookies hold its state, nonce and verifier, and the encrypted journey:
nothing is stored before the login is complete.
"""

import hmac
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway_core.config.settings import traits
from gateway_core.contracts.errors import BadRequest, Forbidden, GatewayError, UpstreamError
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Session
from gateway_core.identity.credentials import cookie
from gateway_core.pipeline.client_response import headers_of

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, read_query
from .bodies import HOME, CallbackQuery, ProbeBody, StartQuery
from .cookies import (
    OIDC_JOURNEY,
    OIDC_NONCE,
    OIDC_STATE,
    OIDC_VERIFIER,
    clear_cookie,
    registered_origin,
    set_cookie,
)
from .oidc_client import discover, exchange, probe
from .oidc_protocol import (
    SCOPES,
    Journey,
    OidcClient,
    active_client,
    authorization_url,
    begin,
    client_of,
    is_of,
)
from .routes import PATH
from .session_list import begin_session
from .sign_in import SIGNED_IN, check_tunnel
from .state import JOURNEY
from .views import Tested

CALLBACK = f"{PATH}/oidc/callback"
LOGIN_PAGE = "/login"
LONGEST_PATH = 512
_COOKIES = (OIDC_STATE, OIDC_NONCE, OIDC_VERIFIER, OIDC_JOURNEY)
_DECIDING = frozenset({"authMode", "oidcIssuerUrl", "oidcClientId", "oidcClientSecret"})
"""Settings that decide whether somebody can sign in with OIDC alone."""
log = logging.getLogger(__name__)


class OidcNotTested(BadRequest):
    """With OIDC alone, nobody could sign in."""

    code = "oidc_not_tested"

    def __init__(self, reason: str) -> None:
        super().__init__(f"authMode oidc is possible only with a provider that works: {reason}")


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            f"{PATH}/oidc/start",
            start,
            "begin the sign-in",
            access=Access.PUBLIC,
            query=StartQuery,
            status=302,
            media="",
        ),
        endpoint(
            admin,
            "GET",
            CALLBACK,
            callback,
            "finish the sign-in",
            access=Access.PUBLIC,
            query=CallbackQuery,
            status=302,
            media="",
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/oidc/test",
            test_provider,
            "test the identity provider",
            access=Access.OPERATOR,
            body=ProbeBody,
            answer=Tested,
            example={"issuerUrl": "https://id.example.com", "clientId": "gateway"},
        ),
    ]


async def start(admin: AdminContext, request: Request) -> Response:
    """Redirect the browser to the provider."""
    client = _client(admin, request)
    back = safe_path(read_query(request, StartQuery).return_to)
    try:
        provider = await discover(admin, client.issuer)
    except (UpstreamError, BadRequest) as error:
        log.warning("the identity provider cannot be used: %s", error.message)
        return _redirect(f"{LOGIN_PAGE}?error=oidc_unreachable")
    journey = begin(provider, client, redirect_uri(admin, request), back)
    state, sealed = admin.login.journeys.issue(journey)
    answer = _redirect(authorization_url(journey, client.scopes, state))
    for name, value in {**_binding_cookies(state, journey), OIDC_JOURNEY: sealed}.items():
        set_cookie(admin, request, answer, name, value, JOURNEY.lifetime)
    return answer


async def callback(admin: AdminContext, request: Request) -> Response:
    """Complete the login with a session, or redirect with an error code."""
    client = _client(admin, request)
    parameters = read_query(request, CallbackQuery)
    journey = await _journey(admin, request, parameters.state)
    if journey is None or not is_of(journey, client):
        answer = _failed("oidc_expired")
    elif parameters.error or not parameters.code:
        answer = _failed("oidc_refused")
    else:
        answer = await _finish(admin, request, client, journey, parameters)
    for name in _COOKIES:
        clear_cookie(admin, request, answer, name)
    return answer


async def _finish(
    admin: AdminContext,
    request: Request,
    client: OidcClient,
    journey: Journey,
    parameters: CallbackQuery,
) -> Response:
    try:
        person = await exchange(admin, client, journey, parameters.code)
    except GatewayError as error:
        log.warning("signing in with OIDC failed: %s", error.message)
        await admin.audit(request, "session.refuse", None, {"reason": "oidc"})
        return _failed("oidc_failed")
    if not await admin.login.journeys.spend(parameters.state):
        return _failed("oidc_expired")
    who = {"method": "oidc", "name": person.name, "email": person.email}
    await admin.audit(request, SIGNED_IN, None, who)
    answer = _redirect(journey.return_to)
    session = Session(method="oidc", name=person.name, email=person.email)
    await begin_session(admin, request, answer, session)
    return answer


async def test_provider(admin: AdminContext, request: Request) -> Response:
    """Test a provider before its settings are stored."""
    body = await read_json(request, ProbeBody)
    issuer, id_, secret = body.issuer_url.strip(), body.client_id.strip(), body.client_secret
    stored = client_of(admin.snapshot.settings)
    # A stored secret is sent only to the issuer that it was stored for.
    if not secret and stored is not None and (issuer, id_) == (stored.issuer, stored.id):
        secret = stored.secret
    client = OidcClient(issuer=issuer, id=id_, secret=secret, scopes=body.scopes or SCOPES)
    admin.login.providers.pop(client.issuer, None)
    provider = await discover(admin, client.issuer)
    result = Tested(
        issuer=provider.issuer,
        authorization_endpoint=provider.authorization_endpoint,
        token_endpoint=provider.token_endpoint,
        jwks_uri=provider.jwks_uri,
        secret_probe=await probe(admin, provider, client, redirect_uri(admin, request)),
    )
    return json_answer(result)


async def check_change(admin: AdminContext, request: Request, changes: Mapping[str, Any]) -> None:
    """Refuse settings with which nobody could sign in: OIDC alone, incomplete or not working.

    The provider is tested as by the route for it. Raises BadRequest.
    """
    declared = {key: traits()[key] for key in _DECIDING & changes.keys()}
    if not declared:
        return
    values = {
        one.field: one.default if changes[key] is None else changes[key]
        for key, one in declared.items()
    }
    after = msgspec.structs.replace(admin.snapshot.settings, **values)
    if after.auth_mode != "oidc":
        return
    client = client_of(after)
    if client is None:
        raise OidcNotTested("oidcIssuerUrl, oidcClientId and oidcClientSecret must be set")
    try:
        admin.login.providers.pop(client.issuer, None)
        provider = await discover(admin, client.issuer)
    except GatewayError as error:
        raise OidcNotTested(error.message) from None
    tested = await probe(admin, provider, client, redirect_uri(admin, request))
    if not tested.tested or tested.valid is False:
        raise OidcNotTested(tested.message)


def _client(admin: AdminContext, request: Request) -> OidcClient:
    """Return the configured client. Raises NoSecret, Forbidden."""
    admin.core.sessions.check_ready()
    settings = admin.snapshot.settings
    check_tunnel(request, settings)
    client = active_client(settings)
    if client is None:
        raise Forbidden("Signing in with OIDC is not set up", code="oidc_off")
    return client


async def _journey(admin: AdminContext, request: Request, state: str) -> Journey | None:
    """Return the login that this browser started."""
    headers = headers_of(request.scope)
    cookies = {name: cookie(headers, name) or "" for name in _COOKIES}
    if not state or not _is_equal(state, cookies[OIDC_STATE]):
        return None
    journey = await admin.login.journeys.find(state, cookies[OIDC_JOURNEY])
    if journey is None or not all(
        _is_equal(value, cookies[name]) for name, value in _binding_cookies(state, journey).items()
    ):
        return None
    return journey


def _binding_cookies(state: str, journey: Journey) -> Mapping[str, str]:
    """Return the cookies that bind a login to its browser."""
    return {OIDC_STATE: state, OIDC_NONCE: journey.nonce, OIDC_VERIFIER: journey.verifier}


def _is_equal(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())


def redirect_uri(admin: AdminContext, request: Request) -> str:
    """Return the callback URL."""
    return f"{registered_origin(admin, request)}{CALLBACK}"


def safe_path(path: str) -> str:
    """Return a path of this gateway; the dashboard's front page for anything else."""
    is_plain = path.isascii() and path.isprintable() and "\\" not in path
    is_path = path.startswith("/") and not path.startswith("//")
    return path if is_plain and is_path and len(path) <= LONGEST_PATH else HOME


def _failed(code: str) -> Response:
    return _redirect(f"{LOGIN_PAGE}?{urlencode({'error': code})}")


def _redirect(url: str) -> Response:
    return RedirectResponse(url, 302, dict(NO_STORE))
