"""The operator's own endpoints."""

from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway
from gateway_format_claude import CLAUDE

from gateway_core.storage.stores.kv import CUSTOM_MODELS, DISABLED_MODELS
from gateway_core.storage.stores.nodes import Node
from gateway_dashboard_api.accounts.owners import Owner
from gateway_dashboard_api.nodes.changes import known_types, type_of, wire_of

pytestmark = pytest.mark.anyio
PATH = "/api/provider-nodes"
TAKEN = "Provider prefix already exists or is reserved"


async def made(admin: AdminGateway, **more: Any) -> dict[str, Any]:
    body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1", **more}
    answer = await admin.call("POST", PATH, body, status=201)
    node: dict[str, Any] = answer["node"]
    return node


async def test_a_node_is_saved_and_serves_the_next_call(admin: AdminGateway) -> None:
    node = await made(admin, iconUrl="https://icons.example/a.png")
    await admin.connect(node["id"])

    answer = await admin.chat("mine/anything")

    assert answer.status_code == 200
    assert node["id"].startswith("openai-compatible-chat-")
    assert {**node, "id": "", "createdAt": "", "updatedAt": ""} == {
        "id": "",
        "type": "openai-compatible",
        "name": "Mine",
        "prefix": "mine",
        "apiType": "chat",
        "baseUrl": f"{admin.vendor.url}/v1",
        "iconUrl": "https://icons.example/a.png",
        "createdAt": "",
        "updatedAt": "",
    }
    assert (await admin.call("GET", PATH))["nodes"] == [node]
    assert (await admin.call("GET", f"{PATH}/{node['id']}"))["node"] == node


@pytest.mark.parametrize("way", ["off", "unreadable"])
async def test_a_node_is_not_called_without_the_key_of_its_account(
    admin: AdminGateway, way: str
) -> None:
    node = await made(admin)
    row = await admin.connect(node["id"])
    if way == "off":
        await admin.call("PUT", f"/api/providers/{row['id']}", {"isActive": False})
    else:
        damage = "UPDATE connections SET secrets = 'x' WHERE id = :id"
        await admin.core.stores.database.execute(damage, id=row["id"])
        await admin.connect()  # a write, after which accounts are read again

    answer = await admin.chat("mine/anything")

    assert answer.status_code == 404
    assert admin.vendor.calls("/chat/completions") == []


@pytest.mark.parametrize(
    ("type_", "pasted", "kept"),
    [
        ("openai-compatible", "https://a.example/v1/chat/completions/", "https://a.example/v1"),
        ("openai-responses-compatible", "https://a.example/v1/responses", "https://a.example/v1"),
        ("claude-compatible", "https://a.example/v1/messages", "https://a.example/v1"),
        ("ollama-compatible", "http://10.0.0.1:11434/", "http://10.0.0.1:11434"),
        ("custom-embedding", "https://a.example/v1/embeddings", "https://a.example/v1"),
        ("custom-systemone", "https://a.example/v1/systemone", "https://a.example/v1/systemone"),
    ],
)
async def test_the_path_of_a_call_is_taken_off_a_base_url(
    admin: AdminGateway, type_: str, pasted: str, kept: str
) -> None:
    node = await made(admin, type=type_, baseUrl=pasted)

    assert (node["type"], node["baseUrl"]) == (type_, kept)
    assert node["id"].startswith(type_)


@pytest.mark.parametrize(
    ("body", "base_url", "api_type"),
    [
        ({}, "https://api.openai.com/v1", "chat"),
        ({"apiType": "responses"}, "https://api.openai.com/v1", "responses"),
        ({"type": "claude-compatible"}, "https://api.anthropic.com/v1", None),
        ({"type": "systemone-compatible"}, "http://127.0.0.1:8000/v1/systemone", None),
    ],
)
async def test_a_node_without_an_address_gets_the_usual_one(
    admin: AdminGateway, body: dict[str, Any], base_url: str, api_type: str | None
) -> None:
    node = await made(admin, **{"baseUrl": "", **body})

    assert (node["baseUrl"], node["apiType"]) == (base_url, api_type)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": " "}, "Name is required"),
        ({"name": "n" * 201}, "The name is too long"),
        ({"prefix": ""}, "Prefix is required"),
        ({"prefix": "a/b"}, "A prefix is at most"),
        ({"prefix": "a b"}, "A prefix is at most"),
        ({"prefix": "a\x00"}, "A prefix is at most"),
        ({"prefix": "p" * 65}, "A prefix is at most"),
        ({"type": "telepathy"}, "Invalid type"),
        ({"type": "telepathy-compatible"}, "Invalid type"),
        ({"type": "openai-completions-compatible"}, "Invalid type"),
        ({"apiType": "songs"}, "Invalid API type"),
        ({"iconUrl": "javascript:alert(1)"}, "Invalid icon URL"),
        ({"iconUrl": "data:text/html;base64,AAAA"}, "Invalid icon URL"),
        ({"type": "custom-embedding", "baseUrl": ""}, "Base URL is required"),
        ({"baseUrl": "http://169.254.169.254/v1"}, "The provider's address is not allowed"),
        ({"baseUrl": "http://[fe80::1]/v1"}, "The provider's address is not allowed"),
        ({"baseUrl": "https://me:word@a.example/v1"}, "The provider's URL cannot be used"),
        ({"baseUrl": "ftp://a.example"}, "The provider's URL cannot be used"),
        ({"baseUrl": "https://a.example/v1?x=1"}, "The base URL must"),
        ({"baseUrl": 7}, "Invalid request body"),
    ],
)
async def test_what_cannot_be_a_node_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    whole = {"name": "Mine", "prefix": "mine", "baseUrl": "http://127.0.0.1:1", **body}

    answer = await admin.call("POST", PATH, whole, status=400)

    assert answer["error"].startswith(error)
    assert (await admin.call("GET", PATH))["nodes"] == []


@pytest.mark.parametrize("url", ["http://169.254.169.254/v1", "http://[fe80::1]/v1"])
async def test_a_node_is_not_moved_to_what_is_never_called(admin: AdminGateway, url: str) -> None:
    node = await made(admin)

    answer = await admin.call("PUT", f"{PATH}/{node['id']}", {"baseUrl": url}, status=400)

    assert answer["error"].startswith("The provider's address is not allowed")
    assert (await admin.call("GET", f"{PATH}/{node['id']}"))["node"] == node


async def test_a_small_image_may_be_the_icon(admin: AdminGateway) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="

    assert (await made(admin, iconUrl=picture))["iconUrl"] == picture


@pytest.mark.parametrize("prefix", ["acme", "ac", "echo", "auto"])
async def test_the_names_of_providers_are_reserved(admin: AdminGateway, prefix: str) -> None:
    body = {"name": "Mine", "prefix": prefix}

    answer = await admin.call("POST", PATH, body, status=409)

    assert answer["error"] == TAKEN


@pytest.mark.parametrize("type_", ["openai-compatible", "custom-embedding"])
async def test_a_prefix_is_unique(admin: AdminGateway, type_: str) -> None:
    first = await made(admin, type=type_)
    other = await made(admin, prefix="other")

    again = await admin.call("POST", PATH, {"name": "a", "prefix": "mine"}, status=409)
    taken = await admin.call("PUT", f"{PATH}/{other['id']}", {"prefix": "mine"}, status=409)
    own = await admin.call("PUT", f"{PATH}/{first['id']}", {"prefix": "mine", "name": "New"})

    assert (again["error"], taken["error"]) == (TAKEN, TAKEN)
    assert own["node"]["name"] == "New"


async def test_a_change_is_repeated_in_the_nodes_accounts_and_in_routing(
    admin: AdminGateway,
) -> None:
    node = await made(admin)
    row = await admin.connect(node["id"], providerSpecificData={"model": "m", "prefix": "forged"})
    change = {"name": "New", "prefix": "fresh", "baseUrl": f"{admin.vendor.url}/v2/"}

    after = (await admin.call("PUT", f"{PATH}/{node['id']}", change))["node"]

    assert (after["name"], after["prefix"]) == ("New", "fresh")
    shown = (await admin.call("GET", f"/api/providers/{row['id']}"))["connection"]
    assert row["providerSpecificData"]["prefix"] == "mine"
    assert shown["providerSpecificData"] == {
        "model": "m",
        "prefix": "fresh",
        "apiType": "chat",
        "baseUrl": f"{admin.vendor.url}/v2",
        "nodeName": "New",
    }
    assert (await admin.chat("fresh/m")).status_code == 200
    assert admin.vendor.received[-1].target == "/v2/chat/completions"
    assert (await admin.chat("mine/m")).status_code == 404


async def test_an_account_cannot_leave_its_nodes_address(admin: AdminGateway) -> None:
    node = await made(admin)
    row = await admin.connect(node["id"])
    elsewhere = {"providerSpecificData": {"baseUrl": admin.other.url, "prefix": "x"}}

    after = await admin.call("PUT", f"/api/providers/{row['id']}", elsewhere)

    assert after["connection"]["providerSpecificData"]["baseUrl"] == f"{admin.vendor.url}/v1"
    assert await admin.stored(row["id"]) == {"apiKey": KEY}


async def test_the_manner_of_a_node_can_change_and_its_type_cannot(admin: AdminGateway) -> None:
    node = await made(admin)
    path = f"{PATH}/{node['id']}"

    after = (await admin.call("PUT", path, {"apiType": "responses"}))["node"]
    same = (await admin.call("PUT", path, {"type": "openai-compatible", "iconUrl": ""}))["node"]
    answer = await admin.call("PUT", path, {"type": "claude-compatible"}, status=400)

    assert (after["apiType"], same["apiType"]) == ("responses", "responses")
    assert answer["error"] == "The type of a node cannot be changed"


async def test_what_a_change_leaves_out_stays(admin: AdminGateway) -> None:
    node = await made(admin, type="custom-systemone", modelId="jev", iconUrl="https://a.example")

    after = (await admin.call("PUT", f"{PATH}/{node['id']}", {}))["node"]

    assert {**after, "updatedAt": node["updatedAt"]} == node
    assert node["modelId"] == "jev"


async def test_the_prefix_of_a_decision_node_with_models_cannot_change(
    admin: AdminGateway,
) -> None:
    node = await made(admin, type="custom-systemone")
    model = {"providerAlias": "mine", "id": "jev", "kind": "systemone"}
    await admin.call("POST", "/api/models/custom", model)

    await admin.call("PUT", f"{PATH}/{node['id']}", {"prefix": "other"}, status=409)
    await admin.call("DELETE", "/api/models/custom?providerAlias=mine&id=jev")
    after = await admin.call("PUT", f"{PATH}/{node['id']}", {"prefix": "other"})

    assert after["node"]["prefix"] == "other"


async def test_a_node_goes_with_all_that_goes_by_it(admin: AdminGateway) -> None:
    node = await made(admin)
    await admin.connect(node["id"])
    await admin.call("POST", "/api/models/custom", {"providerAlias": "mine", "id": "m"})
    await admin.call("POST", "/api/models/disabled", {"providerAlias": "mine", "ids": ["n"]})

    assert await admin.call("DELETE", f"{PATH}/{node['id']}") == {"success": True}

    assert (await admin.call("GET", "/api/providers"))["connections"] == []
    for scope in (CUSTOM_MODELS, DISABLED_MODELS):
        assert await admin.core.stores.kv.all(scope) == {}
    assert (await admin.chat("mine/m")).status_code == 404
    assert (await made(admin))["prefix"] == "mine"


async def test_what_is_not_there_is_not_found(admin: AdminGateway) -> None:
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        answer = await admin.call(method, f"{PATH}/x", body, status=404)
        assert answer["error"] == "Provider node not found"


def test_an_accounts_own_addresses_are_those_its_node_does_not_say() -> None:
    node = Node(
        id="n",
        type="openai-compatible",
        name="Mine",
        prefix="mine",
        base_url="http://a.example",
        created_at="",
        updated_at="",
    )
    owner = Owner(id="n", spec=None, wire=None, node=node)

    data = {"baseUrl": "http://a.example", "connectionProxyUrl": "http://p:1"}

    assert owner.own(data) == {"connectionProxyUrl": "http://p:1"}


def test_a_type_may_name_the_vendor_of_a_format() -> None:
    wire = msgspec.structs.replace(CLAUDE, also_called=("maker",))
    formats = {wire.id: wire}

    assert type_of("maker-compatible", formats) == "maker-compatible"
    assert wire_of("maker-compatible", None, formats) is wire
    assert known_types(formats)[:2] == ("claude-compatible", "maker-compatible")
