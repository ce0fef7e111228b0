"""Sending one request for one account: through its proxy, by its provider's executor."""

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
    exchange the credential for something that can be shown to the vendor.
    """
    transport = core.network.transport(proxy_for(account.proxy, request.url))
    if provider.executor is None:
        return await transport.send(request)
    return await provider.executor.send(request, account.credential, transport)
