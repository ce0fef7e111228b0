"""Sending one request for one account: through its proxy, by its provider's executor."""

from ..contracts.errors import TransportError
from ..contracts.exchange import UpstreamRequest, UpstreamResponse
from ..contracts.provider import ProviderSpec
from .core import Core
from .proxies import proxy_for
from .tables import Account


async def send(
    core: Core, provider: ProviderSpec, account: Account, request: UpstreamRequest
) -> UpstreamResponse:
    """The answer, whose head has arrived. Raises TransportError.

    The only way a request with a credential leaves: an executor may have to
    exchange the credential for something that can be shown to the vendor. A
    proxy that is not strict is gone around when it opens no way.
    """
    proxy = proxy_for(account.proxy, request.url)
    try:
        return await _send(core, provider, account, request, proxy)
    except TransportError as error:
        if proxy is None or account.proxy is None or account.proxy.strict or error.sent:
            raise
    return await _send(core, provider, account, request, None)


async def _send(
    core: Core, provider: ProviderSpec, account: Account, request: UpstreamRequest, way: str | None
) -> UpstreamResponse:
    transport = core.network.transport(way)
    if provider.executor is None:
        return await transport.send(request)
    return await provider.executor.send(request, account.credential, transport)
