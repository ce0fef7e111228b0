"""A network that sends every request to one mock vendor and reports each of them."""

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import GatewayError, Transport, UpstreamRequest, UpstreamResponse
from gateway_core.upstream.transport import Network
from gateway_core.upstream.transport.addresses import AddressPolicy

Tell = Callable[[str], None]


class _RequestSummary(Struct):
    model: str | None = None
    stream: bool | None = None


_read_summary = msgspec.json.Decoder(_RequestSummary).decode


class ReportingNetwork(Network):
    """Sends everything to ``origin``, wherever it was to go."""

    origin: str
    """Set once the mock vendor listens, which needs the gateway's registry."""

    def __init__(self, report: Tell) -> None:
        super().__init__()
        self.report = report

    def transport(
        self,
        proxy: str | None = None,
        *,
        policy: AddressPolicy = AddressPolicy.OPERATOR,
        http2: bool = False,
    ) -> Transport:
        return _ReportingTransport(super().transport(), self)


class _ReportingTransport:
    def __init__(self, inner: Transport, network: ReportingNetwork) -> None:
        self._inner = inner
        self._network = network

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Raises what the inner transport raises, after reporting it."""
        parts = urlsplit(request.url)
        query = f"?{parts.query}" if parts.query else ""
        url = f"{self._network.origin}{parts.path or '/'}{query}"
        address = request.url.partition("?")[0]  # a query may hold a key
        line = f"{request.method} {address}{_wish(request.body)}"
        try:
            response = await self._inner.send(replace(request, url=url))
        except GatewayError as error:
            self._network.report(f"  {line}: {error.message}")
            raise
        self._network.report(f"  {line}: {response.status}")
        return response


def _wish(body: bytes) -> str:
    """The model and whether a stream is requested; empty where the body does not say."""
    try:
        summary = _read_summary(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    parts = [summary.model or "", "streamed" if summary.stream else ""]
    description = ", ".join(filter(None, parts))
    return f" ({description})" if description else ""
