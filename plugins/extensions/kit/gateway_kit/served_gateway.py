"""A whole gateway on loopback with an author's plugins, in front of a scripted vendor.

It runs in a thread of its own, so that a test may call it with any client. Its clock stands still
until it is moved, and every request that would leave the machine goes to the mock vendor.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from msgspec import Struct

from gateway_cli.listening import listen
from gateway_cli.servers import choose_server
from gateway_core import UpstreamRequest
from gateway_core.contracts.server import ServerOptions
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.storage.stores.usage import UsageRow
from gateway_core.upstream.transport import Network
from gateway_filters import plugin as filtering

from .kit_vendor import KitVendor
from .mock_vendor import (
    CONTENTS,
    Content,
    DialectScript,
    MockResponse,
    MockVendor,
    ReceivedRequest,
    Script,
)
from .providers import Account, ProviderSuite
from .providers.chat_requests import build_request
from .providers.harness import ProviderHarness
from .providers.subject import ProviderUnderTest

HOST = "127.0.0.1"
PATIENCE = 30.0
"""Seconds for anything that is waited for."""
T = TypeVar("T")


class ServedAnswer(Struct, frozen=True):
    """What a client got."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Raises msgspec.DecodeError."""
        return msgspec.json.decode(self.body)


class ServedGateway:
    """A gateway that is served while the ``with`` block lasts.

    ``plugins`` are names of modules, or objects with hooks. Each of their vendors has an account;
    where they bring none, ``kit-vendor/large`` is a model to ask. ``settings`` are the plugins',
    by module, ``accounts`` are by provider, for keys of a certain form. It writes to ``data_dir``
    only. Raises what importing a plugin raises.
    """

    def __init__(
        self,
        *plugins: str | object,
        data_dir: Path,
        settings: Mapping[str, Mapping[str, object]] = {},
        accounts: Mapping[str, Account] = {},
    ) -> None:
        suite = ProviderSuite(plugins, accounts=accounts)
        if not suite.subjects:
            suite = ProviderSuite((*plugins, KitVendor()))
        self._subjects = suite.subjects
        loaded = {**suite.plugins, "filters": filtering}
        self._harness = ProviderHarness(loaded, suite.subjects, settings=settings)
        self._data_dir = data_dir
        self._client = Network()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._trouble: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="served-gateway", daemon=True)
        self.url = ""
        """Where clients reach the gateway, such as ``http://127.0.0.1:40123``."""

    def __enter__(self) -> Self:
        """Raises what opening the gateway raises."""
        self._thread.start()
        if not self._ready.wait(PATIENCE):
            raise TimeoutError(f"the gateway was not open after {PATIENCE:g} seconds")
        if self._trouble is not None:
            raise self._trouble
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    @property
    def key(self) -> str:
        """A key that clients may call with."""
        return self._harness.client_key

    @property
    def models(self) -> list[str]:
        """The models that can be asked, one for each wire format of each vendor."""
        return [f"{each.spec.id}/{model.id}" for each in self._subjects for model in each.models()]

    @property
    def vendor(self) -> MockVendor:
        """Its ``received`` holds what arrived, its ``script`` answers."""
        return self._harness.vendor

    @property
    def received(self) -> list[ReceivedRequest]:
        """The requests that the vendor got, in order."""
        return self.vendor.received

    @property
    def sent(self) -> list[UpstreamRequest]:
        """The same requests with the addresses that they were meant for."""
        return self._harness.sent()

    def answer(self, content: str | Content = "text", *, fault: str | None = None) -> None:
        """From now on the vendor says this, with a fault of the menu if one is named."""
        said = CONTENTS[content] if isinstance(content, str) else content
        dialects = {id(each.dialect): each.dialect for s in self._subjects for each in s.routes()}
        only = next(iter(dialects.values())) if len(dialects) == 1 else None
        self.vendor.script = DialectScript(dialect=only, content=said, fault=fault)

    def answer_with(self, *responses: MockResponse | Script) -> None:
        """The vendor's next answers, one for each request; the last one stays."""
        left = list(responses)

        def script(request: ReceivedRequest) -> MockResponse:
            response = left.pop(0) if len(left) > 1 else left[0]
            return response if isinstance(response, MockResponse) else response(request)

        self.vendor.script = script

    def ask(
        self,
        *,
        client: str = "openai",
        model: str | None = None,
        stream: bool = False,
        members: Mapping[str, Any] = {},
        headers: Mapping[str, str] = {},
    ) -> ServedAnswer:
        """A short question in a client format; ``members`` are added to the body."""
        asked = model or self.models[0]
        subject, row = self._find(asked)
        routes = (each for each in subject.routes() if each.client == client)
        route = next(each for each in routes if each.model.id == row)
        request = build_request(subject, route, stream=stream, extra_members=members)
        own = {"content-type": "application/json", **headers}
        return self.request("POST", request.path, request.body, own)

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = {}
    ) -> ServedAnswer:
        """Any request of a client, with its key. Raises TransportError."""
        own = {"authorization": f"Bearer {self.key}", **headers}
        request = UpstreamRequest(
            method=method, url=f"{self.url}{path}", headers=own, body=body, once=True
        )
        return self._do(self._exchange(request))

    def operator(self) -> dict[str, str]:
        """Headers of the operator, for management routes."""
        return {CLI_HEADER: self._harness.gateway.core.identity.cli_token}

    def rows(self) -> Sequence[UsageRow]:
        """The rows of the ledger, newest first."""

        async def read() -> Sequence[UsageRow]:
            core = self._harness.gateway.core
            await core.ledger.flush()
            return (await core.stores.usage.page(limit=1000)).rows

        return self._do(read())

    def advance(self, seconds: float) -> None:
        """Move the gateway's clock, so that accounts have rested and limits are new."""
        self._harness.advance(seconds)

    def _find(self, model: str) -> tuple[ProviderUnderTest, str]:
        """Raises LookupError."""
        provider, _, row = model.partition("/")
        subject = next((each for each in self._subjects if each.spec.id == provider), None)
        if subject is None:
            raise LookupError(f"there is no model {model}; there are {', '.join(self.models)}")
        return subject, row

    async def _exchange(self, request: UpstreamRequest) -> ServedAnswer:
        response = await self._client.transport().send(request)
        try:
            body = b""
            while piece := await response.next():
                body += piece
            return ServedAnswer(response.status, dict(response.headers), body)
        finally:
            await response.aclose()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            self._trouble = error
        finally:
            self._loop.close()
            self._ready.set()

    async def _serve(self) -> None:
        listener = listen(HOST, 0)
        try:
            await self._harness.open(self._data_dir)
            self.answer()
            self.url = f"http://{HOST}:{listener.getsockname()[1]}"
            gateway = self._harness.gateway
            server = choose_server(gateway.core.snapshot.registry).create(ServerOptions())
            serving = asyncio.create_task(server.serve(gateway.app, listener, self._stop.wait))
            self._ready.set()
            await serving
        finally:
            await self._client.aclose()
            await self._harness.aclose()
            listener.close()
