"""Media that a client names by address, for vendors that take them by value only.

Formats do no I/O: they declare which kinds of media are to be fetched (``WireFormat.by_value``).
The request chooses the address, so only public web servers are asked, through the operator's
proxy where there is one, without any credential, and within limits of size and time.
"""

import asyncio
import base64
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import urljoin

from msgspec.structs import replace

from ..contracts.conversation import AnyPart, Conversation, Media, MediaKind, ToolResult
from ..contracts.errors import MediaForbidden, MediaUnreachable, TransportError
from ..contracts.exchange import UpstreamRequest, UpstreamResponse
from ..upstream.body_buffer import BodyBuffer
from ..upstream.proxies import Proxy, proxy_for
from ..upstream.transport import AddressForbidden, AddressPolicy, MalformedUrl, Network

LIMIT = 32 * 1024 * 1024
"""Bytes of all media that a request names by their address."""
MOST = 32
"""Addresses in a request."""
TIME = 30.0
"""Seconds for all of them."""
HOPS = 3
"""Redirects that are followed for one of them."""

_HEADERS = {"accept": "*/*", "accept-encoding": "identity"}
_WEB = ("http://", "https://")
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_UNTYPED = ("", "application/octet-stream", "binary/octet-stream")
"""Content types of servers that do not know what they send."""


class MediaByAddress(Exception):
    """The request can be written once these media are fetched."""

    def __init__(self, media: Mapping[str, Media], into: dict[str, Media]) -> None:
        super().__init__("media have to be fetched first")
        self._media, self._into = media, into

    async def fetch(self, network: Network, proxy: Proxy | None) -> None:
        """Fetch them all. Raises MediaForbidden, MediaUnreachable."""
        if len(self._media) > MOST:
            raise MediaUnreachable(f"A request may name at most {MOST} media by their address.")
        download = Download(network, proxy)
        try:
            async with asyncio.timeout(TIME), asyncio.TaskGroup() as tasks:
                running = {
                    url: tasks.create_task(download.run(url, media.kind))
                    for url, media in self._media.items()
                }
        except TimeoutError:
            raise MediaUnreachable("The request's media took too long to fetch.") from None
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        self._into.update((url, task.result()) for url, task in running.items())


class Download:
    """The downloads of one request, which share a limit of bytes."""

    def __init__(self, network: Network, proxy: Proxy | None) -> None:
        self._network, self._proxy = network, proxy
        self._left = LIMIT

    async def run(self, url: str, kind: MediaKind) -> Media:
        """A medium by value. Raises MediaForbidden, MediaUnreachable."""
        try:
            response = await self._follow(url)
            try:
                media_type = _type_of(response, url, kind)
                data = await self._read(response)
            finally:
                await response.aclose()
        except AddressForbidden as error:
            raise MediaForbidden(
                f"The {kind} at {url[:200]} is not fetched: its host or port is not public."
            ) from error
        except MalformedUrl as error:
            raise unreachable(url, kind, "its address is malformed") from error
        except TransportError as error:
            raise unreachable(url, kind, "its server does not answer as it should") from error
        return Media(kind=kind, media_type=media_type, data=base64.b64encode(data).decode())

    async def _follow(self, url: str) -> UpstreamResponse:
        """The answer behind the redirects. Each address is checked like the first."""
        here = url
        for _ in range(HOPS + 1):
            proxy = proxy_for(self._proxy, here)
            transport = self._network.transport(proxy, policy=AddressPolicy.PUBLIC)
            response = await transport.send(
                UpstreamRequest(method="GET", url=here, headers=_HEADERS)
            )
            if response.status == 200:
                return response
            await response.aclose()
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or not location:
                raise unreachable(url, "medium", f"its server answers {response.status}")
            there = urljoin(here, location)
            # What was requested in private does not go on in the clear.
            if here.startswith("https:") and not there.startswith("https:"):
                raise MediaForbidden(f"{url[:200]} leads to an address without https.")
            here = there
        raise unreachable(url, "medium", "it leads on too often")

    async def _read(self, response: UpstreamResponse) -> bytes:
        buffer = BodyBuffer(0)
        while chunk := await response.next():
            self._left -= len(chunk)
            if self._left < 0:
                raise MediaUnreachable(
                    f"The media that the request names by address exceed {LIMIT} bytes."
                )
            buffer.add(chunk)
        return buffer.whole()


def put_values(
    conversation: Conversation, kinds: Collection[str], fetched: dict[str, Media]
) -> Conversation:
    """The conversation with media of these kinds by value.

    Raises MediaByAddress for those that are not fetched yet.
    """
    named = {media.url: media for media in _by_address(conversation, kinds) if media.url}
    if not named:
        return conversation
    missing = {url: media for url, media in named.items() if url not in fetched}
    if missing:
        raise MediaByAddress(missing, fetched)

    def put(part: AnyPart) -> AnyPart:
        if isinstance(part, ToolResult):
            return replace(part, content=tuple(map(put, part.content)))
        if not isinstance(part, Media) or part.url is None or part.url not in named:
            return part
        value = fetched[part.url]
        media_type = value.media_type or part.media_type
        return replace(part, url=None, data=value.data, media_type=media_type)

    turns = (replace(turn, parts=tuple(map(put, turn.parts))) for turn in conversation.turns)
    return replace(conversation, turns=tuple(turns))


def _by_address(conversation: Conversation, kinds: Collection[str]) -> Iterator[Media]:
    for turn in conversation.turns:
        for part in turn.parts:
            for media in part.content if isinstance(part, ToolResult) else (part,):
                if isinstance(media, Media) and media.kind in kinds and _is_on_the_web(media):
                    yield media


def _is_on_the_web(media: Media) -> bool:
    is_named = media.data is None and media.url is not None
    return is_named and (media.url or "").lower().startswith(_WEB)


def _type_of(response: UpstreamResponse, url: str, kind: MediaKind) -> str | None:
    """The media type that the server names. Raises MediaUnreachable for one of another kind."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in _UNTYPED:
        return None
    if kind != "document" and not media_type.startswith(f"{kind}/"):
        raise unreachable(url, kind, f"its server sends {media_type[:60]}")
    return media_type


def unreachable(url: str, kind: str, why: str) -> MediaUnreachable:
    return MediaUnreachable(f"The {kind} at {url[:200]} cannot be fetched: {why}.")
