"""A whole gateway with the admin API, and vendors on loopback behind it.

Every secret that a test stores or sends contains the word ``canary``, and
every response under ``/api`` is searched for it.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import gateway_format_claude
import gateway_format_ollama
import gateway_format_openai
import gateway_format_openai_responses
import gateway_provider_echo
import httpx2
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from migrated_file import lay_database
from served_gateway import PATIENT, vendor_plugin

from gateway_batches import plugin as batches
from gateway_core import Auth, Credential, Kind, Model, ProviderSpec, Target
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.pipeline.context import Collaborators
from gateway_dashboard_api import plugin
from gateway_files import plugin as files
from gateway_filters import plugin as filters
from gateway_groups import plugin as groups
from gateway_native import plugin as native
from gateway_realtime import plugin as realtime

CANARY = "canary"
KEY = "key-canary-0001"
MODELS = (
    Model("large", name="Acme Large", context=1000),
    Model("small"),
    Model("vectors", kind=Kind.EMBEDDING),
)
REPLY = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"large","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}'
)
LIST = b'{"object":"list","data":[{"id":"large","object":"model"},{"id":"new"}]}'


class Vendor(FakeVendor):
    """A chat vendor that accepts one key and repeats wrong ones in its errors."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.key: str | None = KEY
        """``None`` accepts every request."""
        self.open_list = False
        """Whether the list of models needs no key."""
        self.written: dict[str, MockResponse] = {}
        """Other responses, by the end of the path."""

    def answer(self, received: ReceivedRequest) -> MockResponse:
        path = received.target.partition("?")[0]
        written = next(
            (written for end, written in self.written.items() if path.endswith(end)), None
        )
        if written is not None:
            return written
        is_list = path.endswith("/models")
        if not (is_list and self.open_list) and not self._knows(received):
            shown = received.headers.get("authorization", "nothing")
            return refused(401, f"Incorrect API key provided: {shown}")
        if is_list:
            return MockResponse((LIST,))
        if path.endswith("/chat/completions"):
            return MockResponse((REPLY,))
        return refused(404, "No such path")

    def _knows(self, received: ReceivedRequest) -> bool:
        return self.key is None or received.headers.get("authorization") == f"Bearer {self.key}"

    def calls(self, end: str = "") -> list[ReceivedRequest]:
        return [
            received
            for received in self.received
            if received.target.partition("?")[0].endswith(end)
        ]


def refused(status: int, message: str) -> MockResponse:
    body = f'{{"error":{{"message":"{message}","type":"refused","code":null}}}}'
    return MockResponse((body.encode(),), status)


class AdminGateway:
    """A gateway's admin API, as an operator on this machine calls it."""

    def __init__(
        self, gateway: Gateway, client: httpx2.AsyncClient, vendor: Vendor, other: Vendor
    ) -> None:
        self.gateway = gateway
        self.client = client
        self.vendor = vendor
        self.other = other
        """A second vendor, at another origin."""

    @property
    def core(self) -> Collaborators:
        return self.gateway.core

    async def call(
        self, method: str, path: str, body: Any = None, *, status: int = 200, **more: Any
    ) -> Any:
        """Send a request, check the status, and return the response's JSON."""
        if body is not None:
            more["json"] = body
        answer = await self.client.request(method, path, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def connect(self, provider: str = "acme", **more: Any) -> dict[str, Any]:
        """Save an account with the right key and return its row."""
        body = {"provider": provider, "name": "main", "apiKey": KEY, **more}
        made = await self.call("POST", "/api/providers", body, status=201)
        row: dict[str, Any] = made["connection"]
        return row

    async def chat(self, model: str, **headers: str) -> httpx2.Response:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
        return await self.client.post("/v1/chat/completions", json=body, headers=headers)

    async def stored(self, connection_id: str) -> dict[str, Any]:
        """The secrets of an account, as the database holds them."""
        found = await self.core.stores.connections.get(connection_id)
        assert found is not None
        return dict(found.secrets)


def built(target: Target, credential: Credential, path: str) -> str:
    """Build the URL of the provider ``built`` from the port in an account's data."""
    return f"http://127.0.0.1:{credential.data['port']}/v1{path}"


def specs(vendor: Vendor, *others: Vendor) -> list[ProviderSpec]:
    base = f"{vendor.url}/v1"
    return [
        ProviderSpec(
            id="acme",
            name="Acme",
            alias="ac",
            base_url=base,
            models_url=f"{base}/models",
            models=MODELS,
            environment=("ACME_KEY",),
        ),
        ProviderSpec(
            id="open", name="Open", base_url=base, auth=Auth(type="none"), models=MODELS[:1]
        ),
        ProviderSpec(id="local", name="Local", base_url=base, auth=Auth(type="optional")),
        ProviderSpec(id="webby", name="Webby", base_url=base, auth=Auth(type="cookie")),
        ProviderSpec(
            id="apart", name="Apart", base_url=base, models_url=f"{vendor.url}/catalog/models?all=1"
        ),
        ProviderSpec(
            id="built",
            name="Built",
            hosts=tuple(each.url for each in (vendor, *others)),
            url_builder=built,
            models=MODELS[:1],
        ),
    ]


FORMATS = {
    "format-openai": gateway_format_openai,
    "format-openai-responses": gateway_format_openai_responses,
    "format-claude": gateway_format_claude,
    "format-ollama": gateway_format_ollama,
    "echo": gateway_provider_echo,
}


def client_of(
    gateway: Gateway, host: str = "127.0.0.1", *, operator: bool = True
) -> httpx2.AsyncClient:
    """Return a client with the command line's token, or without any credential."""
    token = gateway.core.identity.cli_token
    return httpx2.AsyncClient(
        headers={CLI_HEADER: token} if operator else {},
        transport=httpx2.ASGITransport(app=gateway.app, client=(host, 1)),
        base_url="http://127.0.0.1",
        event_hooks={"response": [tells_no_secret]},
    )


async def tells_no_secret(response: httpx2.Response) -> None:
    """Check that a response of the admin API contains no secret."""
    if not response.request.url.path.startswith("/api/"):
        return
    assert CANARY not in str(response.headers)
    assert CANARY not in (await response.aread()).decode()


@asynccontextmanager
async def opened(
    data_dir: Path,
    variables: dict[str, str],
    clock: Callable[[], float] = time.time,
    more: Mapping[str, object] = {},
    *,
    shares_data: bool = False,
) -> AsyncIterator[AdminGateway]:
    """Run a gateway with two vendors, and with ``more`` plugins, until the block ends.

    ``shares_data`` makes it a further worker on a data directory that is open already.
    """
    async with AsyncExitStack() as stack:
        vendor, other = Vendor(), Vendor()
        for each in (vendor, other):
            await each.open()
            stack.push_async_callback(each.aclose)
        plugins = {**FORMATS, "vendors": vendor_plugin(specs(vendor, other)), "dashboard": plugin}
        plugins |= {"files": files, "batches": batches, "realtime": realtime}
        plugins |= {"native": native, "filters": filters, "groups": groups}
        plugins |= more
        environment = from_environ({"DATA_DIR": str(data_dir), **PATIENT, **variables})
        lay_database(environment)
        gateway = await stack.enter_async_context(
            Gateway.open(
                environment,
                extra_plugins=plugins,
                installed_plugins=False,
                clock=clock,
                shares_data=shares_data,
            )
        )
        client = await stack.enter_async_context(client_of(gateway))
        yield AdminGateway(gateway, client, vendor, other)
