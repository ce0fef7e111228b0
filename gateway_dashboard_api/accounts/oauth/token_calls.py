"""Calls to the endpoints of a vendor's login: to hosts that its plugin declares, within bounds."""

import asyncio

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.contracts.provider import Credential, ProviderSpec
from gateway_core.pipeline.context import Collaborators
from gateway_core.upstream.proxies import Proxy, proxy_for
from gateway_core.upstream.transport import read_all

LIMIT = 15.0
"""Seconds for one call."""
ANSWER_LIMIT = 256 * 1024


async def call(
    core: Collaborators, spec: ProviderSpec, request: UpstreamRequest, proxy: Proxy | None
) -> tuple[int, bytes]:
    """Status and body; redirects are not followed. Raises TransportError, HostRefused."""
    transport = core.network.transport(proxy_for(proxy, request.url))
    bound = core.egress_policy.bound(spec, Credential(connection_id=""), transport)
    try:
        async with asyncio.timeout(LIMIT):
            answer = await bound.send(request)
            try:
                return answer.status, await read_all(answer, ANSWER_LIMIT)
            finally:
                await answer.aclose()
    except TimeoutError:
        raise TransportError("The vendor's login took too long", status=504) from None
