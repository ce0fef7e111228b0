"""Puts the right kind of key on a request, signing in first where that is needed."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from gateway_core import Credential, Transport, UpstreamRequest, UpstreamResponse

from .accounts import is_api_key, service_account
from .tokens import Tokens

BEARER = "authorization"
API_KEY = "x-goog-api-key"


class VertexExecutor:
    """Remembers the access tokens of service accounts until shortly before they expire."""

    name = "vertex"

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._tokens = Tokens(clock)

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        """Raises TransportError, and UpstreamError when no token can be had."""
        account = service_account(credential)
        if account is None:
            if credential.secret is not None and is_api_key(credential.secret):
                request = _with(request, API_KEY, credential.secret)
            return await transport.send(request)
        token = await self._tokens.token(account, transport)
        response = await transport.send(_with(request, BEARER, f"Bearer {token}"))
        # A revoked token would otherwise be used until it expires.
        if response.status == 401:
            self._tokens.forget(account)
        return response


def _with(request: UpstreamRequest, header: str, value: str) -> UpstreamRequest:
    """The request with this credential and no other."""
    others = {name: text for name, text in request.headers.items() if name not in (BEARER, API_KEY)}
    return replace(request, headers={**others, header: value})
