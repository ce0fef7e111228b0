"""Where stored credentials are sent, and which addresses may be configured.

A credential is bound to the origins it was saved for. Whoever changes where an
account's calls go has to bring its key again.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from gateway_core.contracts.errors import BadRequest, TransportError
from gateway_core.contracts.model import Model
from gateway_core.contracts.provider import Credential, ProviderSpec, Target
from gateway_core.contracts.wire import WireFormat
from gateway_core.upstream import endpoints
from gateway_core.upstream.endpoints import vendor_side
from gateway_core.upstream.redaction import MASK
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy, MalformedUrl, Network
from gateway_core.upstream.transport.urls import parse

LOOK_UP = 5.0
"""Seconds for a DNS lookup; a name that takes longer is accepted."""
LONGEST = 2048
BASE_URL = "baseUrl"
PROXY_URL = "connectionProxyUrl"
_PROXY = re.compile(r"(?i)(?:https?|socks5h?)://(?:[^@/?#\s]*@)?(?P<authority>[^@/?#\\\s]+)/?")
_ANY_MODEL = Model("model")


async def permit(network: Network, url: str) -> None:
    """Refuse an address that the gateway never calls. Raises BadRequest.

    A name that does not resolve passes: it may resolve later, and every
    address is checked again when it is dialled.
    """
    try:
        async with asyncio.timeout(LOOK_UP):
            await network.permit(url, AddressPolicy.OPERATOR)
    except (MalformedUrl, AddressForbidden) as error:
        raise BadRequest(error.message) from None
    except (TransportError, TimeoutError):
        return


async def permit_all(network: Network, data: Mapping[str, Any]) -> None:
    """Refuse ``providerSpecificData`` that names such an address. Raises BadRequest."""
    for name, url in urls_in(data):
        await (permit_proxy if name == PROXY_URL else permit)(network, url)


async def permit_proxy(network: Network, url: str) -> None:
    """Refuse what is no proxy's address, or one the gateway never calls. Raises BadRequest."""
    parts = _PROXY.fullmatch(url) if len(url) <= LONGEST else None
    if parts is None:
        raise BadRequest("The proxy's URL must be http, https, socks5 or socks5h")
    await permit(network, f"http://{parts['authority']}/")


def clean_base_url(text: str, endings: Iterable[str] = ()) -> str:
    """Remove a trailing slash and a pasted endpoint path from a base URL.

    Raises BadRequest for one that no path can follow.
    """
    url = text.strip().rstrip("/")
    if len(url) > LONGEST or "?" in url or "#" in url:
        raise BadRequest("The base URL must be short and have no query")
    for ending in sorted(endings, key=len, reverse=True):
        if ending and url.endswith(ending):
            return url.removesuffix(ending).rstrip("/")
    return url


def urls_in(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the members of ``providerSpecificData`` that are or should be addresses."""
    for name, value in data.items():
        # Vendors strip the space around an address, so it must not hide one from this check.
        if isinstance(value, str) and (url := value.strip()):
            is_meant = name in (BASE_URL, PROXY_URL)
            if is_meant or url.lower().startswith(("http://", "https://")):
                yield name, url


def destinations(
    spec: ProviderSpec | None, wire: WireFormat | None, credential: Credential
) -> frozenset[str]:
    """Return the origins that an account sends its secret to."""
    urls = {url for name, url in urls_in(credential.data) if name != PROXY_URL}
    if spec is not None and wire is not None:
        urls.add(_called(spec, wire, credential))
    return frozenset(filter(None, map(origin, urls)))


def _called(spec: ProviderSpec, wire: WireFormat, credential: Credential) -> str:
    """Return the address of a call; empty while the account's data is incomplete."""
    try:
        path = vendor_side(wire).path(_ANY_MODEL.id, False)
        return endpoints.url(Target(spec, _ANY_MODEL), credential, wire, path)
    except (Exception, SystemExit, KeyboardInterrupt):
        return ""  # The plugin's code may need data that is not set yet, or be broken.


def origin(url: str) -> str:
    """Return scheme, host and port; empty for an invalid address."""
    try:
        return parse(url).origin
    except MalformedUrl:
        return ""


def host_and_port(url: str) -> str:
    """A proxy's address without its user and password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return MASK
    # A password with an unescaped slash or question mark ends up behind the host.
    behind = f"{parts.path}{parts.query}{parts.fragment}"
    if not (parts.scheme and host) or "@" in behind:
        return MASK
    user = f"{MASK}@" if parts.username or parts.password else ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{user}{shown}{f':{port}' if port else ''}"
