"""A network that sends every request to the mock vendor on loopback."""

from urllib.parse import urlsplit

from msgspec.structs import replace

from gateway_core import Transport, UpstreamRequest, UpstreamResponse
from gateway_core.upstream.transport import Network, TransportLimits
from gateway_core.upstream.transport.addresses import AddressPolicy

SILENCE = 0.5
"""Seconds without a byte after which a vendor's answer has failed."""


class RedirectedNetwork(Network):
    """Keeps each request as the plugin meant it, and sends it to another origin."""

    def __init__(self, origin: str) -> None:
        super().__init__(TransportLimits(silence=SILENCE, first_byte=5.0, whole=5.0))
        self.origin = origin
        self.sent: list[UpstreamRequest] = []
        self.silence: float | None = None
        """Takes the place of every limit for the pieces of a body."""

    def transport(
        self,
        proxy: str | None = None,
        *,
        policy: AddressPolicy = AddressPolicy.OPERATOR,
        http2: bool = False,
    ) -> Transport:
        return _RedirectedTransport(super().transport(), self)


class _RedirectedTransport:
    def __init__(self, inner: Transport, network: RedirectedNetwork) -> None:
        self._inner = inner
        self._network = network

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        self._network.sent.append(request)
        parts = urlsplit(request.url)
        query = f"?{parts.query}" if parts.query else ""
        url = f"{self._network.origin}{parts.path or '/'}{query}"
        if (silence := self._network.silence) is None:
            silence = request.silence_timeout
        return await self._inner.send(
            replace(request, url=url, first_byte_timeout=None, silence_timeout=silence)
        )
