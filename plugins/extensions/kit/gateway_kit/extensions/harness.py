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
from gateway_kit.hook_calls import said
from gateway_kit.installed_formats import TO_INSTALL, USUAL, registry_of
from gateway_kit.providers.asgi_client import HERE, Answer, Asking
from gateway_kit.providers.harness import Bench as Calls
from gateway_kit.providers.subject import Subject as Vendor

from .subject import Subject

PATIENCE = 3.0
"""Seconds that any one request may take."""
STREAM = 0.3
"""Seconds after which an answer that has begun is taken for one without an end."""


class _Vendor:
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
        self.told: list[str] = []
        self._plugin = plugin

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if self._plugin in message:
            self.told.append(message.partition("\n")[0])

    def __enter__(self) -> "Warnings":
        logging.getLogger("gateway_core").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("gateway_core").removeHandler(self)


class Bench:
    """Opened once for an extension."""

    def __init__(self, subject: Subject, formats: Mapping[str, object], desk: object) -> None:
        """Raises LookupError where the format is not installed that calls are made in."""
        self._subject = subject
        self.formats = formats
        self._admin = desk
        self._stack = AsyncExitStack()
        self._is_open = False
        vendor = _Vendor()
        self.plugins = {**formats, "kit-vendor": vendor, subject.module: subject.plugin}
        registry = registry_of({**formats, "kit-vendor": vendor})
        if USUAL not in registry.formats:
            raise LookupError(f"an extension is tried with chat completions: {TO_INSTALL}")
        self.vendor = Vendor(
            module="kit-vendor",
            plugin=vendor,
            spec=registry.providers["kit-vendor"],
            registry=registry,
        )
        self.calls = Calls(self.plugins, [self.vendor])
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
            await self._open(folder)
        if self._is_open:
            self.calls.begin()

    async def _open(self, folder: Path) -> None:
        self._stack.enter_context(self.warnings)
        self.calls = Calls(self.plugins, [self.vendor])
        await self.calls.open(folder / "data")
        self._stack.push_async_callback(self.calls.aclose)
        self._is_open = True
        self.app = self.gateway.app if self._subject.trusted else self._fenced()

    def _fenced(self) -> App:
        given = given_by(self.gateway, self._subject.module)
        try:
            told = list(said(self._subject.plugin, "register_routes", given))
        except Exception:  # a case of its own tells of it
            return self.gateway.app
        found = [each for each in told if isinstance(each, Guarded)]
        return App(self.gateway.core, [fenced(self._subject.module, each) for each in found])

    async def aclose(self) -> None:
        self._is_open = False
        await self._stack.aclose()

    async def ask(
        self, method: str, path: str, body: bytes = b"", *, client: str = HERE, **more: str
    ) -> Answer:
        """As a stranger, unless ``more`` names headers. Raises TimeoutError.

        The client hangs up on an answer that has begun and does not end.
        """
        asking = Asking(self.app, path, body, more, method=method, client=client)
        running = asyncio.create_task(asking.run())
        try:
            await asyncio.wait((running,), timeout=STREAM)
            if asking.answer.status and not running.done():
                asking.leave()
            async with asyncio.timeout(PATIENCE):
                return await running
        except OSError:
            if not asking.has_left:
                raise
            return asking.answer
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
        async with opened(plain, self.folder / "others") as gateway:
            return list(gateway.app.routes)


def given_by(gateway: Gateway, plugin: str) -> Mapping[str, object]:
    """What the hooks of a plugin that is not trusted may take."""
    hosts = Hosts(gateway.core, frozenset())
    return {"gateway": hosts.gateway(plugin), "host": hosts.of(plugin)}


@asynccontextmanager
async def opened(plugins: Mapping[str, object], folder: Path) -> AsyncIterator[Gateway]:
    """A gateway with these plugins and no others."""
    environment = from_environ({"DATA_DIR": str(folder)})
    async with Gateway.open(environment, extra_plugins=plugins, installed_plugins=False) as gateway:
        yield gateway
