"""The request never chooses where a credential goes (S21, S23)."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import gateway_format_gemini
import gateway_provider_azure_openai
import gateway_provider_bedrock
import pytest
from admin_gateway import KEY, AdminGateway, opened
from caller_kinds import with_key
from fake_vendor import MockResponse
from served_gateway import serve_gateway
from unnormalized_requests import raw_request, send_raw

pytestmark = pytest.mark.anyio
MESSAGES = [{"role": "user", "content": "Hello"}]
GENERATED: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"messages": MESSAGES}),
    "completions": ("/v1/completions", {"prompt": "Hello"}),
    "messages": ("/v1/messages", {"messages": MESSAGES, "max_tokens": 9}),
    "count": ("/v1/messages/count_tokens", {"messages": MESSAGES}),
    "responses": ("/v1/responses", {"input": "Hello"}),
    "compact": ("/v1/responses/compact", {"input": "Hello"}),
    "gemini": ("/v1beta/models/acme/large:generateContent", GENERATED),
    "gemini count": ("/v1beta/models/acme/large:countTokens", GENERATED),
    "ollama": ("/v1/api/chat", {"messages": MESSAGES, "stream": False}),
}
MEMBERS = (
    *("base_url", "baseUrl", "api_base", "apiBase", "endpoint", "url", "host", "proxy", "azure"),
    *("custom_llm_provider_url", "openai_api_base", "api_url", "server", "upstream", "target"),
)
NESTED = (
    *("provider_options", "providerOptions", "user_config", "extra_body", "extra_headers"),
    *("metadata", "options", "credential", "credentials", "providerSpecificData", "litellm_params"),
)
HEADERS = (
    *("x-openai-custom-host", "x-acme-custom-host", "x-portkey-custom-host", "x-custom-host"),
    *("x-base-url", "x-api-base", "x-upstream-url", "x-forwarded-host", "x-original-url"),
    *("x-rewrite-url", "x-proxy-url", "proxy", "http-proxy", "https-proxy", "x-gateway-base-url"),
    *("forwarded", "x-gateway-target", "helicone-target-url", "cf-aig-target", "x-host"),
)


class Canary:
    """A listener that only counts connections."""

    def __init__(self) -> None:
        self.visits = 0

    async def come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[Canary, str]]:
    canary = Canary()
    server = await asyncio.start_server(canary.come, "127.0.0.1", 0)
    async with server:
        yield canary, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {
        "format-gemini": gateway_format_gemini,
        "azure": gateway_provider_azure_openai,
        "bedrock": gateway_provider_bedrock,
    }
    async with opened(tmp_path, {}, more=more) as here:
        yield here


def temptations(url: str) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Members of a body and headers that name another destination, one at a time."""
    for member in MEMBERS:
        yield {member: url}, {}
        yield {member: f"{url}/v1"}, {}
    for outer in NESTED:
        yield {outer: dict.fromkeys(MEMBERS, url)}, {}
        yield {outer: {"user_config": dict.fromkeys(MEMBERS, url)}}, {}
    for header in HEADERS:
        yield {}, {header: url}
    authority = url.removeprefix("http://")
    yield {}, {"x-forwarded-host": authority, "forwarded": f"host={authority}"}
    yield {"model": f"{url}/v1"}, {}
    yield {"model": f"acme/{url}"}, {}


@pytest.mark.parametrize("call", CALLS)
async def test_no_member_and_no_header_redirects_a_call(admin: AdminGateway, call: str) -> None:
    await admin.connect()
    path, body = CALLS[call]
    async with listening() as (canary, url):
        answered = 0
        for members, headers in temptations(url):
            wanted = {"model": "acme/large", **body, **members}
            answer = await admin.client.post(path, json=wanted, headers=headers)
            answered += answer.status_code == 200
            assert answer.status_code < 500 or "http" in str(wanted["model"])

        assert canary.visits == 0
    assert answered > 40
    assert {received.headers["host"] for received in admin.vendor.received} <= {
        admin.vendor.url[7:]
    }
    assert not admin.other.received


def linked(url: str) -> dict[str, dict[str, Any]]:
    """Requests with an image, a file or a tool at a URL."""
    picture = {"type": "image_url", "image_url": {"url": f"{url}/a.png"}}
    source = {"type": "image", "source": {"type": "url", "url": f"{url}/a.png"}}
    content = {"type": "input_image", "image_url": f"{url}/a.png"}
    file = {"fileData": {"fileUri": f"{url}/a.png", "mimeType": "image/png"}}
    tool = {"type": "mcp", "server_label": "x", "server_url": url}
    return {
        "chat": {"messages": [{"role": "user", "content": [picture]}]},
        "messages": {"messages": [{"role": "user", "content": [source]}], "max_tokens": 9},
        "responses": {"input": [{"role": "user", "content": [content]}], "tools": [tool]},
        "gemini": {"contents": [{"role": "user", "parts": [file]}]},
    }


@pytest.mark.parametrize("call", ["chat", "messages", "responses", "gemini"])
async def test_an_address_in_the_content_is_not_fetched(admin: AdminGateway, call: str) -> None:
    await admin.connect()
    path, _ = CALLS[call]
    async with listening() as (canary, url):
        body = {"model": "acme/large", **linked(url)[call]}
        await admin.client.post(path, json=body)
        assert canary.visits == 0


def test_an_absolute_url_as_the_target_redirects_nothing(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {"openai": lambda received: MockResponse()}) as here:
        elsewhere = here.vendors["openai"].url
        authority = elsewhere.removeprefix("http://")
        body = json.dumps({"model": "echo/echo", "messages": MESSAGES, "input": "x"}).encode()
        for path, _ in CALLS.values():
            for host in (authority, here.url.removeprefix("http://")):
                lines = (f"Host: {host}", "Content-Type: application/json")
                for target in (f"{elsewhere}{path}", f"//{authority}{path}", authority):
                    send_raw(
                        here.url, raw_request(target.encode(), *lines, method="POST", body=body)
                    )
        assert here.vendors["openai"].received == []


OWN = "/api/providers"


def moves(url: str) -> dict[str, dict[str, Any]]:
    """Changes of an account that would redirect its calls."""
    return {
        "base": {"providerSpecificData": {"baseUrl": url}},
        "spaced": {"providerSpecificData": {"baseUrl": f" {url} "}},
        "azure": {"providerSpecificData": {"azureEndpoint": url}},
        "azure spaced": {"providerSpecificData": {"azureEndpoint": f" {url}"}},
        "azure tab": {"providerSpecificData": {"azureEndpoint": f"\t{url.upper()}"}},
        "proxy": {"connectionProxyUrl": url, "connectionProxyEnabled": True},
        "proxied": {"providerSpecificData": {"connectionProxyUrl": url}},
        "pool": {"proxyPoolId": "x"},
    }


@pytest.mark.parametrize("move", moves("http://x"))
async def test_a_key_cannot_set_the_address_of_an_account(admin: AdminGateway, move: str) -> None:
    row = await admin.connect()
    async with listening() as (canary, url), with_key(admin) as here:
        change = moves(url)[move]
        for given in (change, {**change, "apiKey": "mine"}):
            for method in ("PUT", "PATCH"):
                answer = await here.client.request(method, f"{OWN}/{row['id']}", json=given)
                assert answer.status_code == 403
            made = {"provider": "azure-openai", "name": "n", "apiKey": "mine", **given}
            assert (await here.client.post(OWN, json=made)).status_code == 403
        await here.chat("acme/large")
        assert canary.visits == 0
    assert (await admin.stored(row["id"])) == {"apiKey": KEY}


@pytest.mark.parametrize("region", ["127.0.0.1/#", "x.evil.example", "a@b", "us-east-1.evil/"])
async def test_no_part_of_a_host_becomes_another_host(admin: AdminGateway, region: str) -> None:
    data = {"region": region}
    await admin.connect("bedrock", providerSpecificData=data)

    answer = await admin.chat("bedrock/m")

    assert answer.status_code == 400
    assert "region" in answer.text


@pytest.mark.parametrize("move", ["base", "spaced", "azure", "azure spaced", "azure tab"])
async def test_changing_an_address_deletes_the_stored_key(admin: AdminGateway, move: str) -> None:
    provider = "azure-openai" if "azure" in move else "acme"
    usual = {"azureEndpoint": admin.vendor.url} if provider == "azure-openai" else {}
    row = await admin.connect(provider, providerSpecificData=usual)
    admin.other.key = None

    await admin.call("PUT", f"{OWN}/{row['id']}", moves(admin.other.url)[move])
    await admin.chat(f"{provider}/large")
    await admin.call("POST", f"{OWN}/{row['id']}/test")

    assert admin.other.received
    assert await admin.stored(row["id"]) == {}
    assert KEY not in str([(received.headers, received.body) for received in admin.other.received])


async def test_a_key_cannot_set_a_nodes_address_and_a_change_moves_no_credential(
    admin: AdminGateway,
) -> None:
    node = {"name": "Node", "prefix": "no", "baseUrl": f"{admin.vendor.url}/v1"}
    made = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    row = await admin.connect(made["id"])
    path, moved = f"/api/provider-nodes/{made['id']}", {"baseUrl": f"{admin.other.url}/v1"}

    async with with_key(admin) as here:
        for change in (moved, {**node, **moved}):
            assert (await here.client.put(path, json=change)).status_code == 403
        created = await here.client.post(
            "/api/provider-nodes", json={**node, "prefix": "mine", **moved}
        )
    assert created.status_code == 403
    assert await admin.stored(row["id"]) == {"apiKey": KEY}
    await admin.call("PUT", path, moved)
    await admin.chat("no/large")

    assert await admin.stored(row["id"]) == {}
    assert KEY not in str([received.headers for received in admin.other.received])


async def test_a_probed_address_gets_no_stored_key(admin: AdminGateway) -> None:
    await admin.connect()
    moved = {"provider": "acme", "providerSpecificData": {"baseUrl": f"{admin.other.url}/v1"}}
    for body in (moved, {**moved, "apiKey": ""}, {**moved, "apiKey": None}):
        await admin.client.post(f"{OWN}/validate", json=body)
    await admin.client.post(
        "/api/provider-nodes/validate", json={"baseUrl": f"{admin.other.url}/v1"}
    )
    await admin.client.post(
        "/api/translator/send", json={"provider": "acme", "baseUrl": admin.other.url, "body": {}}
    )

    assert KEY not in str([(received.headers, received.body) for received in admin.other.received])


def looks(url: str, connection: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Calls that probe an address without saving it, and calls that save a shared one."""
    inner = {"providerSpecificData": {"baseUrl": url}}
    bare = {"provider": "acme", "apiKey": "mine"}
    pool = {"name": "p", "proxyUrl": url}
    node = {"baseUrl": url, "apiKey": "mine", "type": "openai-compatible"}
    return {
        "validate": ("POST", f"{OWN}/validate", {**bare, "baseUrl": url}),
        "validate inner": ("POST", f"{OWN}/validate", {**bare, **inner}),
        "other path": ("POST", "/api/connections", {**bare, "name": "n", **inner}),
        "node": ("POST", "/api/provider-nodes/validate", node),
        "proxy": ("POST", "/api/settings/proxy-test", {"proxyUrl": url}),
        "proxy target": ("POST", "/api/settings/proxy-test", {"proxyUrl": url, "testUrl": url}),
        "pool": ("POST", "/api/proxy-pools", pool),
        "settings": ("PATCH", "/api/settings", {"outboundProxyUrl": url}),
        "issuer": ("PATCH", "/api/settings", {"oidcIssuerUrl": url}),
        "oidc": ("POST", "/api/auth/oidc/test", {"issuerUrl": url, "clientId": "x"}),
        "crawler": ("POST", "/api/settings/firecrawl/detect", {"baseUrl": url}),
        "send": ("POST", "/api/translator/send", {"provider": "acme", "body": {"url": url}}),
        "models": ("POST", f"{OWN}/{connection}/test", {"baseUrl": url, **inner}),
    }


@pytest.mark.parametrize("look", [name for name in looks("", "") if name != "models"])
async def test_a_key_cannot_start_a_probe(admin: AdminGateway, look: str) -> None:
    row = await admin.connect()
    async with listening() as (canary, url), with_key(admin) as here:
        method, path, body = looks(url, row["id"])[look]
        answer = await here.client.request(method, path, json=body)
        assert canary.visits == 0
    # The target is no member of that body, whoever sends it.
    assert answer.status_code in ((400,) if look == "proxy target" else (401, 403))


async def test_a_test_of_an_account_uses_its_address(admin: AdminGateway) -> None:
    row = await admin.connect()
    async with listening() as (canary, url), with_key(admin) as here:
        method, path, body = looks(url, row["id"])["models"]
        await here.client.request(method, path, json=body)
        assert canary.visits == 0


METADATA = (
    *("http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://0.0.0.0/"),
    *("http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://2852039166/"),
    *("http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://169.254.43518/"),
    *("http://224.0.0.1/", "http://255.255.255.255/", "http://[fe80::1]/", "http://u:p@x.test/"),
    *("ftp://x.test/", "file:///etc/passwd", "http://x.test:0/", "http://x\\@y.test/"),
)


async def test_not_even_an_operator_saves_an_address_that_is_never_called(
    admin: AdminGateway,
) -> None:
    row = await admin.connect()
    for url in METADATA:
        writes: list[tuple[str, str, dict[str, Any]]] = [
            ("PUT", f"{OWN}/{row['id']}", {"providerSpecificData": {"baseUrl": url}}),
            ("POST", "/api/provider-nodes", {"name": "n", "prefix": "n", "baseUrl": url}),
            ("POST", "/api/provider-nodes/validate", {"baseUrl": url, "apiKey": "mine"}),
            ("POST", f"{OWN}/validate", {"provider": "acme", "apiKey": "k", "baseUrl": url}),
        ]
        for method, path, body in writes:
            answer = await admin.client.request(method, path, json=body)
            refused = answer.status_code == 400 or answer.json().get("valid") is False
            assert refused, (path, url, answer.text)
