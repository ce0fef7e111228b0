"""The bench: a whole gateway with the extension, a vendor for it to look on, and what it logged."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.app import App
from gateway_core.http.operations import Guarded
from gateway_core.http.plugin_sandbox import fenced
from gateway_core.identity.credentials import CLI_HEADER, COOKIE
from gateway_core.pipeline.plugin_host import Hosts
from gateway_kit.hook_calls import call_hook
from gateway_kit.installed_formats import DEFAULT_FORMAT, INSTALL_DEFAULT_FORMAT, build_registry
from gateway_kit.providers import harness as provider_harness
from gateway_kit.providers.asgi_client import HERE, ClientAnswer, ClientCall
from gateway_kit.providers.subject import ProviderUnderTest

from .subject import ExtensionUnderTest

PATIENCE = 3.0
"""Seconds that any one request may take."""
STREAM = 0.3
"""Seconds after which an answer that has begun is taken for one without an end."""


class _VendorPlugin:
    """A plugin with one vendor of chat completions, so that there is something to call."""

    @hookimpl
    def register_providers(self) -> list[ProviderSpec]:
        return [
            ProviderSpec(
                id="kit-vendor",
                name="Kit",
                base_url="https://api.kit.example/v1",
                models=(Model("large"),),
            )
        ]


class Warnings(logging.Handler):
    """Keeps what the gateway says about one plugin."""

    def __init__(self, plugin: str) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self._plugin = plugin

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if self._plugin in message:
            self.messages.append(message.partition("\n")[0])

    def __enter__(self) -> "Warnings":
        logging.getLogger("gateway_core").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("gateway_core").removeHandler(self)


class ExtensionHarness:
    """Opened once for an extension."""

    def __init__(
        self, subject: ExtensionUnderTest, formats: Mapping[str, object], admin: object
    ) -> None:
        """Raises LookupError where the format is not installed that calls are made in."""
        self._subject = subject
        self.formats = formats
        self._admin = admin
        self._stack = AsyncExitStack()
        self._is_open = False
        vendor = _VendorPlugin()
        self.plugins = {**formats, "kit-vendor": vendor, subject.module: subject.plugin}
        registry = build_registry({**formats, "kit-vendor": vendor})
        if DEFAULT_FORMAT not in registry.formats:
            raise LookupError(
                f"an extension is tried with chat completions: {INSTALL_DEFAULT_FORMAT}"
            )
        self.vendor = ProviderUnderTest(
            module="kit-vendor",
            plugin=vendor,
            spec=registry.providers["kit-vendor"],
            registry=registry,
        )
        self.calls = provider_harness.ProviderHarness(self.plugins, [self.vendor])
        self.warnings = Warnings(subject.module)
        self.folder: Path
        self.app: App
        """Serves the extension's routes as those of a plugin that is not trusted, unless it is."""

    @property
    def gateway(self) -> Gateway:
        return self.calls.gateway

    async def ready(self, folder: Path, *, alone: bool) -> None:
        """Open the bench's gateway, or close it for a case that has to be ``alone``."""
        self.folder = folder
        if alone:
            await self.aclose()
            self._stack.enter_context(self.warnings)
        elif not self._is_open:
            await self.aclose()
            self._stack.enter_context(self.warnings)
            self.calls = provider_harness.ProviderHarness(self.plugins, [self.vendor])
            await self.calls.open(folder / "data")
            self._stack.push_async_callback(self.calls.aclose)
            self._is_open = True
            self.app = self.gateway.app if self._subject.trusted else self._fenced()
        if self._is_open:
            self.calls.reset()

    def _fenced(self) -> App:
        arguments = read_conformance_options(self.gateway, self._subject.module)
        try:
            routes = list(call_hook(self._subject.plugin, "register_routes", arguments))
        except Exception:  # a case of its own tells of it
            return self.gateway.app
        guarded = [each for each in routes if isinstance(each, Guarded)]
        return App(self.gateway.core, [fenced(self._subject.module, each) for each in guarded])

    async def aclose(self) -> None:
        self._is_open = False
        await self._stack.aclose()

    async def ask(
        self, method: str, path: str, body: bytes = b"", *, client: str = HERE, **headers: str
    ) -> ClientAnswer:
        """As a stranger, unless ``more`` names headers. Raises TimeoutError.

        The client hangs up on an answer that has begun and does not end.
        """
        call = ClientCall(self.app, path, body, headers, method=method, client=client)
        running = asyncio.create_task(call.run())
        try:
            await asyncio.wait((running,), timeout=STREAM)
            if call.answer.status and not running.done():
                call.leave()
            async with asyncio.timeout(PATIENCE):
                return await running
        except OSError:
            if not call.has_left:
                raise
            return call.answer
        finally:
            running.cancel()

    def operator(self) -> dict[str, str]:
        """Headers of the operator, by whichever way a route wants one."""
        core = self.gateway.core
        session = core.sessions.issue()
        return {CLI_HEADER: core.identity.cli_token, "cookie": f"{COOKIE}={session}"}

    def routes(self) -> list[Guarded]:
        """The extension's own, as they are served."""
        return list(self.app.routes[len(App(self.app.core).routes) :])

    async def others(self) -> list[Guarded]:
        """The routes that an installation has without the extension."""
        plain = {**self.formats, "dashboard": self._admin} if self._admin else self.formats
        async with open_gateway(plain, self.folder / "others") as gateway:
            return list(gateway.app.routes)


def read_conformance_options(gateway: Gateway, plugin: str) -> Mapping[str, object]:
    """What the hooks of a plugin that is not trusted may take."""
    return {"host": Hosts(gateway.core, frozenset()).of(plugin)}


@asynccontextmanager
async def open_gateway(plugins: Mapping[str, object], folder: Path) -> AsyncIterator[Gateway]:
    """A gateway with these plugins and no others."""
    environment = from_environ({"DATA_DIR": str(folder)})
    async with Gateway.open(environment, extra_plugins=plugins, installed_plugins=False) as gateway:
        yield gateway
