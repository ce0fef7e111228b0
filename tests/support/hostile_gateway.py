"""A gateway with a hostile plugin, its victim's vendor, and a forbidden host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import hostile_plugin
import httpx2
import pytest
from admin_gateway import REPLY
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import vendor_plugin

from gateway_core import Model, ProviderSpec
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.storage.stores.connection import NewConnection

OWN = "own-canary-secret"
SECRETS = {"openai": "openai-canary-secret", "victim": "victim-canary-secret"}
CLIENT_KEY = "sk-client-canary-secret"
CLIENT = {
    "authorization": f"Bearer {CLIENT_KEY}",
    "x-api-key": CLIENT_KEY,
    "x-goog-api-key": CLIENT_KEY,
    "cookie": f"auth_token={CLIENT_KEY}",
}
PLUGINS = "hostile,format-openai,openai,dashboard,victims"
VARIABLES = {
    "VICTIM_KEY": "env-canary-secret",
    "VICTIM_REGION": "eu",
    "JWT_SECRET": "jwt-canary-secret-0123456789abcdef",
    "PLUGIN_OTHER_TOKEN": "settings-canary-secret",
}
SOURCE = Path(hostile_plugin.__file__).read_text(encoding="utf-8")


class HostileGateway:
    """The gateway with the hostile plugin, its victim's vendor, and the forbidden host."""

    def __init__(self, gateway: Gateway, own: FakeVendor, victim: FakeVendor) -> None:
        self.gateway = gateway
        self.own = own
        self.victim = victim
        self.visits: list[str] = []
        """Connections to the forbidden host."""

    @property
    def thief(self) -> Any:
        return self.gateway.core.snapshot.registry.providers["thief"].executor

    def problems(self) -> str:
        registry = self.gateway.core.snapshot.registry
        return "\n".join(p.message for p in registry.problems if p.plugin == "hostile")

    def client(self, **headers: str) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.gateway.app, client=("127.0.0.1", 1))
        return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)

    async def chat(self, model: str, **headers: str) -> httpx2.Response:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
        async with self.client(**headers) as client:
            return await client.post("/v1/chat/completions", json=body)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        async with self.client(**headers) as client:
            return await client.get(path)


def answered(received: ReceivedRequest) -> MockResponse:
    if received.target == "/moved":
        place = received.headers["host"].partition(":")[0]
        return MockResponse((b"",), 302, headers={"location": f"http://{place}:1/"})
    return MockResponse((REPLY,))


@asynccontextmanager
async def open_hostile_gateway(folder: Path, **variables: str) -> AsyncIterator[HostileGateway]:
    async with AsyncExitStack() as stack:
        own, victim = FakeVendor(answered), FakeVendor(answered)
        for vendor in (own, victim):
            await vendor.open()
            stack.push_async_callback(vendor.aclose)
        visits: list[str] = []

        async def visited(reader: Any, writer: asyncio.StreamWriter) -> None:
            visits.append(repr(writer.get_extra_info("peername")))
            writer.close()

        canary = await stack.enter_async_context(
            await asyncio.start_server(visited, "127.0.0.1", 0)
        )
        plugins = folder / "plugins"
        plugins.mkdir(mode=0o700)
        (plugins / "hostile.py").write_text(SOURCE, encoding="utf-8")
        (plugins / "hostile.py").chmod(0o600)
        ports = {
            "own": own.port,
            "victim": victim.port,
            "canary": canary.sockets[0].getsockname()[1],
        }
        given = {"DATA_DIR": str(folder), "GATEWAY_LOAD_PLUGINS": PLUGINS, **VARIABLES, **variables}
        gateway = await stack.enter_async_context(
            Gateway.open(
                from_environ(given),
                extra_plugins={"victims": vendor_plugin([victim_spec(victim)])},
                plugin_settings={"hostile": ports},
            )
        )
        scene = HostileGateway(gateway, own, victim)
        scene.visits = visits
        await store_accounts(gateway)
        yield scene


def victim_spec(vendor: FakeVendor) -> ProviderSpec:
    return ProviderSpec(
        id="victim",
        name="Victim",
        alias="vc",
        base_url=f"{vendor.url}/v1",
        models=(Model("m"),),
        environment=("VICTIM_KEY",),
        environment_data={"VICTIM_REGION": "region"},
    )


async def store_accounts(gateway: Gateway) -> None:
    store = gateway.core.stores.connections
    accounts = {**SECRETS, "thief": OWN, "builder": OWN, "accomplice": OWN}
    for provider, secret in accounts.items():
        await store.create(NewConnection(provider=provider, name="main", data={"apiKey": secret}))
    await gateway.core.refresh()


def clean(scene: HostileGateway, log: pytest.LogCaptureFixture) -> None:
    """Assert that the forbidden host was not reached and that no log line has a secret."""
    assert scene.visits == []
    lines = [line.getMessage() for line in log.records if not line.name.startswith("httpx2")]
    assert "canary-secret" not in "\n".join(lines)
    assert not any(
        OWN in received.target + str(received.headers) for received in scene.victim.received
    )
