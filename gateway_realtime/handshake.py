"""Opens a WebSocket for one account: to an allowed host, through its proxy.

A base URL that the account has of its own stands for the vendor's; a socket that the vendor serves
elsewhere keeps its path on the account's host.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from gateway_core.contracts.errors import HostRefused, TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.contracts.provider import Credential, ProviderSpec, Target, credential_header
from gateway_core.contracts.sockets import SocketService
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.proxies import LOST, proxy_for

if TYPE_CHECKING:
    from gateway_core.upstream.transport.websocket import VendorSocket


def is_reachable(account: Account) -> bool:
    """Whether there is a way out for its sockets: a pool of relays has none."""
    return account.proxy is None or account.proxy.url != LOST


async def connect(
    core: Collaborators,
    provider: ProviderSpec,
    account: Account,
    request: UpstreamRequest,
    subprotocols: Sequence[str],
) -> "VendorSocket":
    """Open the socket. A proxy that is not strict is bypassed when it cannot connect.

    Raises TransportError, and UpstreamError where the vendor refuses.
    """
    core.egress_policy.check(provider, account.credential, request)
    proxy = proxy_for(account.proxy, request.url)
    try:
        return await core.network.connect(request, proxy, subprotocols=subprotocols)
    except TransportError as error:
        if proxy is None or account.proxy is None or account.proxy.strict or error.sent:
            raise
        if isinstance(error, HostRefused):
            raise
    return await core.network.connect(request, subprotocols=subprotocols)


def handshake(
    service: SocketService,
    target: Target,
    credential: Credential,
    headers: Mapping[str, str],
    query: Mapping[str, str],
) -> UpstreamRequest:
    """The request that opens a socket for a client with these headers and parameters."""
    spec, model = target.provider, target.model.id
    parameters = {name: query[name] for name in service.query if name in query}
    if service.model_query is not None and model not in service.unnamed:
        parameters[service.model_query] = model
    shown: Mapping[str, str] = {}
    if service.key_query is None:
        shown = credential_header(spec.auth, credential)
    elif credential.secret:
        parameters[service.key_query] = credential.secret
    forwarded = {name: headers[name] for name in service.forward if name in headers}
    url = _address(service, spec, credential)
    if parameters:
        url += f"{'&' if '?' in url else '?'}{urlencode(parameters)}"
    return UpstreamRequest(
        method="GET", url=url, headers={**spec.headers, **forwarded, **shown}, once=True
    )


def _address(service: SocketService, spec: ProviderSpec, credential: Credential) -> str:
    url, base, own = service.http_url, spec.base_url, credential.data.get("baseUrl")
    if not isinstance(own, str) or not own:
        return url
    if base is not None and url.startswith(f"{base}/"):
        return f"{own.rstrip('/')}{url.removeprefix(base)}"
    host, path = urlsplit(own), urlsplit(url)
    return f"{host.scheme}://{host.netloc}{path.path}{'?' if path.query else ''}{path.query}"
