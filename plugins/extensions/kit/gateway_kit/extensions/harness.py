"""The harness of an extension: a whole gateway with it, a provider to call, and the log."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType

import msgspec

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.app import App
from gateway_core.http.operations import Guarded
from gateway_core.http.plugin_sandbox import fenced
from gateway_core.identity.credentials import CLI_HEADER, COOKIE
from gateway_core.pipeline.plugin_host import Hosts
from gateway_core.plugins import load, settings_of
from gateway_filters import plugin as filtering
from gateway_kit.case import Case
from gateway_kit.hook_calls import call_hook, read_default_settings
from gateway_kit.installed_formats import (
    DEFAULT_FORMAT,
    INSTALL_DEFAULT_FORMAT,
    build_registry,
    installed_plugin,
)
from gateway_kit.kit_vendor import KitVendor
from gateway_kit.providers import harness as provider_harness
from gateway_kit.providers.asgi_client import HERE, ClientAnswer, ClientCall
from gateway_kit.providers.subject import ProviderUnderTest

from .media_vendor import MediaVendor
from .sample_calls import texts_of
from .subject import ANSWERS, ExtensionUnderTest

SECRET = "kit-secret-4711-0123456789abcdef"
"""What secret settings are."""
SERVICES = "services"
"""The plugin with the endpoints of pictures and sound."""
PATIENCE = 3.0
"""Seconds that any one request may take."""
STREAM = 0.3
"""Seconds after which an answer that has begun is taken for one without an end."""


class Warnings(logging.Handler):
    """Keeps the warnings that the gateway logs about one plugin."""

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
        vendor = KitVendor()
        self.plugins = {**formats, "kit-vendor": vendor, subject.module: subject.plugin}
        if ANSWERS in subject.hooks:
            self.plugins["filters"] = filtering
        if "register_interceptors" in subject.hooks:
            self.plugins |= {"kit-media": MediaVendor(), SERVICES: installed_plugin(SERVICES)}
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

    async def ready(self, folder: Path, case: Case) -> None:
        """Open the harness's gateway for a case that needs it, or close it for one alone."""
        self.folder = folder
        if case.alone:
            await self.aclose()
            self._stack.enter_context(self.warnings)
        elif case.needs_gateway and not self._is_open:
            await self.aclose()
            self._stack.enter_context(self.warnings)
            self.calls = provider_harness.ProviderHarness(
                self.plugins, [self.vendor], settings=self.plugin_settings()
            )
            # Before it is open: what it has opened is closed where opening fails.
            self._stack.push_async_callback(self.calls.aclose)
            await self.calls.open(folder / "data")
            self._is_open = True
            self.app = self.gateway.app if self._subject.trusted else self._fenced()
        if self._is_open:
            self.calls.reset()

    @property
    def settings(self) -> object:
        """The extension's settings as they are without any value."""
        return read_default_settings(self._subject.plugin)

    @property
    def texts(self) -> list[str]:
        """What the extension may look for: the texts of its settings and of its constants."""
        own = vars(self._subject.plugin) if isinstance(self._subject.plugin, ModuleType) else {}
        constants = [value for name, value in own.items() if name.isupper()]
        texts = [value for value in constants if isinstance(value, str)]
        return list(dict.fromkeys([*texts_of(self.settings), *texts_of(texts)]))

    def clients(self) -> list[str]:
        """The client formats of calls."""
        return list(dict.fromkeys(route.client for route in self.vendor.routes()))

    @property
    def working_settings(self) -> object:
        """Those with which the extension does its work, with a value for each secret text."""
        usual = self.settings
        if usual is None:
            return None
        return msgspec.convert(
            {**msgspec.to_builtins(usual), **self.plugin_settings()[self._subject.module]},
            type(usual),
        )

    def declared_settings(self) -> dict[str, dict[str, object]]:
        """Those with which its author says that it does its work."""
        return {self._subject.module: dict(self._subject.settings)}

    def plugin_settings(self) -> dict[str, dict[str, object]]:
        """What the gateway is given for the extension."""
        return {self._subject.module: {**self._secrets(), **self._subject.settings}}

    def _secrets(self) -> dict[str, object]:
        """A value for each secret text, so that it can be found where it should not be."""
        loaded = load(entry_points=False, extra={self._subject.module: self._subject.plugin})
        fields = settings_of(loaded, {}).fields(self._subject.module)
        return {each.name: SECRET for each in fields if each.secret and each.default == ""}

    def _fenced(self) -> App:
        arguments = arguments_of(self.gateway, self._subject.module)
        try:
            routes = list(call_hook(self._subject.plugin, "register_routes", arguments))
        except Exception:  # another case reports it
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


def arguments_of(gateway: Gateway, plugin: str) -> Mapping[str, object]:
    """What the hooks of a plugin that is not trusted may take."""
    return {"host": Hosts(gateway.core, frozenset()).of(plugin)}


@asynccontextmanager
async def open_gateway(
    plugins: Mapping[str, object],
    folder: Path,
    settings: Mapping[str, Mapping[str, object]] = {},
) -> AsyncIterator[Gateway]:
    """A gateway with these plugins and no others; ``settings`` are by plugin."""
    environment = from_environ({"DATA_DIR": str(folder)})
    async with Gateway.open(
        environment, extra_plugins=plugins, installed_plugins=False, plugin_settings=settings
    ) as gateway:
        yield gateway
