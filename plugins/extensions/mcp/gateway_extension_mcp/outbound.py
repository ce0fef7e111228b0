"""Carries the requests of the MCP client by the gateway's own network, with bounds.

The addresses are checked where they are dialled, as those of vendors are, and general proxies
count. Nothing is followed: the client itself follows redirects within one origin only.
"""

from collections.abc import AsyncIterator, Mapping
from time import monotonic
from typing import Any

import httpx2

from gateway_core import GatewayError, UpstreamRequest, UpstreamResponse
from gateway_core.pipeline.context import Collaborators
from gateway_core.upstream.proxies import proxy_for

from .settings import Settings

UNSENT = -32050
"""The code of an error of JSON-RPC that stands for one of the network."""
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent"}
)
"""Headers that are the network's own."""


def http_client(
    core: Collaborators, settings: Settings, headers: Mapping[str, str]
) -> httpx2.AsyncClient:
    """A client for one instance, to which these headers are sent with each request."""
    network = GatewayNetwork(
        core,
        most_bytes=settings.most_bytes,
        # The library gives a call up first, and then knows of it.
        seconds=max(settings.call_seconds, settings.start_seconds) + 2,
        listens=settings.idle_seconds + settings.call_seconds,
    )
    return httpx2.AsyncClient(transport=network, headers=headers, trust_env=False)


class GatewayNetwork(httpx2.AsyncBaseTransport):
    """The way out of one instance."""

    def __init__(
        self, core: Collaborators, *, most_bytes: int, seconds: float, listens: float
    ) -> None:
        """``seconds`` is what an answer to a POST may take; a stream that is only listened to may
        be silent for ``listens``."""
        self._core = core
        self._most, self._seconds, self._listens = most_bytes, seconds, listens

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises httpx2.TransportError."""
        is_stream, url = request.method == "GET", str(request.url)
        headers = {name: value for name, value in request.headers.items() if name not in _OURS}
        # A coding would let a short answer grow long behind the bound.
        headers["accept-encoding"] = "identity"
        asked = UpstreamRequest(
            method=request.method,
            url=url,
            headers=headers,
            body=await request.aread(),
            once=request.method == "POST",
            whole=not is_stream,
            first_byte_timeout=self._seconds,
            silence_timeout=self._listens if is_stream else self._seconds,
        )
        way = proxy_for(self._core.snapshot.proxy, url)
        try:
            answer = await self._core.network.transport(way).send(asked)
        except GatewayError as error:
            if is_stream:
                raise httpx2.ConnectError(error.message, request=request) from None
            # The library ends the whole session for an exception, and with it all other calls.
            return httpx2.Response(502, json=_unsent(error.message), request=request)
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            await answer.aclose()
            raise httpx2.RemoteProtocolError("The answer is compressed", request=request)
        until = None if is_stream else monotonic() + self._seconds
        return httpx2.Response(
            answer.status,
            headers=dict(answer.headers),
            stream=BoundedBody(answer, self._most, until),
            request=request,
        )


def _unsent(message: str) -> dict[str, Any]:
    error = {"code": UNSENT, "message": message}
    return {"jsonrpc": "2.0", "id": None, "error": error}


class BoundedBody(httpx2.AsyncByteStream):
    """An answer's body: so many bytes, and until a moment of the monotonic clock."""

    def __init__(self, answer: UpstreamResponse, most: int, until: float | None) -> None:
        self._answer, self._most, self._until = answer, most, until

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        while True:
            try:
                piece = await self._answer.next()
            except GatewayError as error:
                raise httpx2.ReadError(error.message) from None
            if not piece:
                return
            size += len(piece)
            if size > self._most:
                raise httpx2.ReadError(f"The answer is longer than {self._most} bytes")
            if self._until is not None and monotonic() > self._until:
                raise httpx2.ReadTimeout("The answer takes too long")
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()
