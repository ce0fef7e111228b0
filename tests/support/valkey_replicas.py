"""States of gateways that share a server of Valkey."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gateway_extension_valkey.state import ValkeyState
from valkey_server import ValkeyServer

from gateway_core import AccountRest, AccountScore


class Replica:
    """The state of one gateway, and what it has from others."""

    def __init__(self, server: ValkeyServer, wait: float) -> None:
        self.state = ValkeyState(server.url, "test", wait)
        self.adopted: list[AccountRest | AccountScore] = []


@asynccontextmanager
async def replicas(
    server: ValkeyServer, count: int, wait: float = 0.5
) -> AsyncIterator[list[Replica]]:
    """Connected ones; patient, because the machine that runs tests is busy."""
    async with AsyncExitStack() as stack:
        made = [Replica(server, wait) for _ in range(count)]
        for each in made:
            await stack.enter_async_context(each.state.connect(each.adopted.append))
        yield made
