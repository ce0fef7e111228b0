"""The harness of providers: a whole gateway with the plugins under test, and a mock vendor."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from gateway_administration.plugins.manifest import auth_type
from gateway_administration.stores import admin_stores_on
from gateway_administration.stores.keys import KeyChange
from gateway_core import Credential, Exchange, UpstreamRequest
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.routing.cooldowns import Cooldown
from gateway_core.storage.stores.connection import PROVIDER_DATA, NewConnection
from gateway_core.storage.stores.usage import UsageRow
from gateway_kit.mock_vendor import MockAnswer, MockResponse, MockVendor, ReceivedRequest

from .asgi_client import ClientAnswer, ClientCall
from .chat_requests import ChatRequest
from .exchanges import open_exchange
from .log_capture import LogCapture
from .redirected_network import RedirectedNetwork
from .subject import Account, ProviderUnderTest, Route

A_WEEK_AND_MORE = 10 * 24 * 3600.0
START = 1_790_000_000.0
SESSIONS = "signs-sessions-of-the-kit-and-of-nothing-else"
PATIENCE = 10.0
"""Seconds that any one request may take."""


class ProviderHarness:
    """Opened once for a suite. Each case begins with a healthy vendor and rested accounts."""

    def __init__(
        self,
        plugins: Mapping[str, object],
        subjects: Iterable[ProviderUnderTest],
        *,
        settings: Mapping[str, Mapping[str, object]] = {},
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._subjects = tuple(subjects)
        self._stack = AsyncExitStack()
        self._now = START
        self._accounts: dict[str, str] = {}
        self.client_key = ""
        self.logged = ""
        """What was logged during the last request."""
        self.vendor = MockVendor(lambda received: MockResponse())
        self.network: RedirectedNetwork
        self.folder: Path
        """Where the gateway keeps its data."""
        self.gateway: Gateway

    async def open(self, data_dir: Path) -> None:
        self.folder = data_dir
        await self.vendor.open()
        self._stack.push_async_callback(self.vendor.aclose)
        self.network = RedirectedNetwork(self.vendor.url)
        self._stack.push_async_callback(self.network.aclose)
        self.gateway = await self._stack.enter_async_context(
            Gateway.open(
                from_environ({"DATA_DIR": str(data_dir), "JWT_SECRET": SESSIONS}),
                extra_plugins=self._plugins,
                installed_plugins=False,
                plugin_settings=self._settings,
                clock=lambda: self._now,
                network=self.network,
            )
        )
        for subject in self._subjects:
            if auth_type(subject.spec) == "none":
                continue
            data: dict[str, Any] = {PROVIDER_DATA: dict(subject.account.data)}
            if subject.account.secret is not None:
                data["apiKey"] = subject.account.secret
            new = NewConnection(provider=subject.spec.id, name="kit", data=data)
            read_usage_row = await self.gateway.core.stores.connections.create(new)
            self._accounts[subject.spec.id] = read_usage_row.id
        core = self.gateway.core
        # The cases make more calls within a minute than some vendors take.
        limited = {s.spec.id: 0 for s in self._subjects if s.spec.calls_per_minute is not None}
        if limited:
            await core.stores.settings.patch({"rpmByProvider": limited})
        mint = core.identity.keys.mint
        self.client_key = mint.new()
        digest = mint.digest(self.client_key).hex()
        change = KeyChange(name="kit")
        await admin_stores_on(core.stores, clock=core.clock).keys.create(
            self.client_key, digest, mint.machine_id, change
        )
        await self.gateway.core.refresh()

    async def aclose(self) -> None:
        await self._stack.aclose()

    def reset(self) -> None:
        """Forget what the case before has done."""
        self.advance(A_WEEK_AND_MORE)
        self.vendor.received.clear()
        self.vendor.gone = 0
        self.network.sent.clear()
        self.network.silence = None

    def advance(self, seconds: float) -> None:
        """Move the gateway's clock."""
        self._now += seconds

    async def ask(
        self, request: ChatRequest, response: MockResponse, **headers: str
    ) -> ClientAnswer:
        """The client's answer when the vendor answers this. Raises TimeoutError."""
        self.vendor.script = lambda received: response
        with LogCapture() as log:
            try:
                async with asyncio.timeout(PATIENCE):
                    return await self.call(request, **headers).run()
            finally:
                self.logged = log.text

    async def ask_scene(self, request: ChatRequest, answer: MockAnswer) -> ClientAnswer:
        return await self.ask(request, answer.response())

    def call(self, request: ChatRequest, **headers: str) -> ClientCall:
        """A request that has not begun, with the client's own key."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        own = {"authorization": f"Bearer {self.client_key}", **named}
        return ClientCall(self.gateway.app, request.path, request.body, own)

    async def read_usage_row(self) -> UsageRow:
        """The newest row of the ledger."""
        core = self.gateway.core
        await core.ledger.flush()
        page = await core.stores.usage.page(limit=1)
        return page.rows[0]

    def cooldown(self, subject: ProviderUnderTest, route: Route) -> Cooldown | None:
        """How the account rests after the last answer."""
        account = (
            self._accounts.get(subject.spec.id)
            or self.gateway.core.snapshot.accounts[subject.spec.id][0].id
        )
        return self.gateway.core.cooldowns.find(account, route.model.id)

    def seconds_left(self, cooldown: Cooldown) -> float:
        """Seconds from now."""
        return cooldown.until - self._now

    def exchange(
        self, subject: ProviderUnderTest, request: ChatRequest, account: Account | None = None
    ) -> Exchange:
        """The same call without the network."""
        account = account or subject.account
        credential = Credential(connection_id="kit", secret=account.secret, data=account.data)
        return open_exchange(subject, request, credential)

    def received(self) -> list[ReceivedRequest]:
        return self.vendor.received

    def sent(self) -> list[UpstreamRequest]:
        """What the plugin sent, to where it meant it to go."""
        return self.network.sent
