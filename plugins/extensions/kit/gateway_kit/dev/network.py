"""The way out of a gateway whose vendors are all one mock vendor, told line by line."""

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import GatewayError, Transport, UpstreamRequest, UpstreamResponse
from gateway_core.upstream.transport import Network
from gateway_core.upstream.transport.addresses import AddressPolicy

Tell = Callable[[str], None]


class _Asked(Struct):
    model: str | None = None
    stream: bool | None = None


_asked = msgspec.json.Decoder(_Asked).decode


class Turned(Network):
    """Sends everything to ``origin``, wherever it was to go."""

    def __init__(self, origin: str, tell: Tell) -> None:
        super().__init__()
        self.origin = origin
        self.tell = tell

    def transport(
        self,
        proxy: str | None = None,
        *,
        policy: AddressPolicy = AddressPolicy.OPERATOR,
        http2: bool = False,
    ) -> Transport:
        return _Told(super().transport(), self)


class _Told:
    def __init__(self, inner: Transport, network: Turned) -> None:
        self._inner = inner
        self._network = network

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Raises what the inner transport raises, once it is told."""
        parts = urlsplit(request.url)
        query = f"?{parts.query}" if parts.query else ""
        url = f"{self._network.origin}{parts.path or '/'}{query}"
        about = f"{request.method} {_without_query(request.url)}{_wish(request.body)}"
        try:
            answer = await self._inner.send(replace(request, url=url))
        except GatewayError as error:
            self._network.tell(f"  {about}: {error.message}")
            raise
        self._network.tell(f"  {about}: {answer.status}")
        return answer


def _without_query(url: str) -> str:
    """A query may hold a key."""
    return url.partition("?")[0]


def _wish(body: bytes) -> str:
    """The model that is asked, and whether for a stream; nothing where the body does not say."""
    try:
        asked = _asked(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    words = [asked.model or "", "streamed" if asked.stream else ""]
    said = ", ".join(filter(None, words))
    return f" ({said})" if said else ""
