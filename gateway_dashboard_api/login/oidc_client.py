"""Calls to an OpenID provider: discovery, tokens, keys, a test of the secret."""

import asyncio

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.proxies import proxy_for
from gateway_core.upstream.transport import read_all

from ..admin_context import AdminContext
from ..destinations import permit
from .oidc_protocol import (
    Journey,
    OidcClient,
    OidcFailed,
    Person,
    Provider,
    discovery_url,
    read_error,
    read_person,
    read_provider,
    token_form,
)
from .state import DISCOVERY_LIFETIME
from .views import Probe

LIMIT = 10.0
"""Seconds for one call."""
ANSWER_LIMIT = 1024 * 1024
MOST_ISSUERS = 16
FORM = "application/x-www-form-urlencoded"
PROBE = "not-a-code"
REFUSED = ("invalid_client", "unauthorized_client")
"""Error codes that a provider returns for a wrong client secret."""


async def discover(admin: AdminContext, issuer: str) -> Provider:
    """Fetch an issuer's discovery document, cached for a few minutes.

    Raises BadRequest for an address the gateway never calls, OidcFailed, TransportError.
    """
    now = admin.login.monotonic()
    until, known = admin.login.providers.get(issuer, (now, None))
    if known is not None and now < until:
        return known
    await permit(admin.core.network, issuer)
    provider = read_provider(await _get(admin, discovery_url(issuer)), issuer)
    if len(admin.login.providers) >= MOST_ISSUERS:
        admin.login.providers.clear()
    admin.login.providers[issuer] = (now + DISCOVERY_LIFETIME, provider)
    return provider


async def exchange(admin: AdminContext, client: OidcClient, journey: Journey, code: str) -> Person:
    """Exchange a code for the person who signed in. Raises OidcFailed, TransportError."""
    form = token_form(client, code, journey.redirect_uri, journey.verifier)
    status, tokens = await _post(admin, journey.provider.token_endpoint, form)
    if not 200 <= status < 300:
        raise OidcFailed("The provider did not accept the code")
    keys = await _get(admin, journey.provider.jwks_uri)
    return read_person(tokens, keys, journey, admin.core.clock())


async def probe(
    admin: AdminContext, provider: Provider, client: OidcClient, redirect_uri: str
) -> Probe:
    """Test the client secret with an invalid code: the error tells which was refused."""
    if not client.secret:
        return Probe(tested=False, valid=None, message="There is no client secret to test")
    form = token_form(client, PROBE, redirect_uri, PROBE * 5)
    try:
        _, body = await _post(admin, provider.token_endpoint, form)
    except TransportError:
        return Probe(tested=False, valid=None, message="The token endpoint could not be reached")
    error = read_error(body)
    if error in REFUSED:
        return Probe(tested=True, valid=False, message="The provider refuses the client secret")
    if error == "invalid_grant":
        return Probe(tested=True, valid=True, message="The provider accepts the client secret")
    return Probe(
        tested=True,
        valid=None,
        message="The provider's response does not show whether the secret is valid",
    )


async def _get(admin: AdminContext, url: str) -> bytes:
    headers = {"accept": "application/json"}
    status, body = await _fetch(admin, UpstreamRequest(method="GET", url=url, headers=headers))
    if not 200 <= status < 300:
        raise OidcFailed(f"The provider answered {status} where it should describe itself")
    return body


async def _post(admin: AdminContext, url: str, form: bytes) -> tuple[int, bytes]:
    headers = {"accept": "application/json", "content-type": FORM}
    return await _fetch(admin, UpstreamRequest(url=url, headers=headers, body=form))


async def _fetch(admin: AdminContext, request: UpstreamRequest) -> tuple[int, bytes]:
    """Status and body. Raises TransportError."""
    proxy = proxy_for(admin.snapshot.proxy, request.url)
    try:
        async with asyncio.timeout(LIMIT):
            answer = await admin.core.network.transport(proxy).send(request)
            try:
                return answer.status, await read_all(answer, ANSWER_LIMIT)
            finally:
                await answer.aclose()
    except TimeoutError:
        raise TransportError("The provider took too long", status=504) from None
