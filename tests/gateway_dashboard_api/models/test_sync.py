"""Models of nodes and local servers are in the catalog as soon as somebody can know them."""

import asyncio
from typing import Any

import pytest
from admin_gateway import LIST, AdminGateway, Vendor, refused
from fake_vendor import MockResponse, ReceivedRequest

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.stores.kv import CUSTOM_MODELS
from gateway_dashboard_api.models import first_answers
from gateway_dashboard_api.models.first_answers import FirstAnswers

pytestmark = pytest.mark.anyio
NODES = "/api/provider-nodes"


async def listed(admin: AdminGateway, prefix: str) -> set[str]:
    rows = (await admin.client.get("/v1/models")).json()["data"]
    return {row["id"] for row in rows if row["id"].startswith(f"{prefix}/")}


def node_at(vendor: Vendor, **more: Any) -> dict[str, Any]:
    return {"name": "Mine", "prefix": "mine", "baseUrl": f"{vendor.url}/v1", **more}


async def test_a_new_node_that_needs_no_key_shows_its_models_at_once(admin: AdminGateway) -> None:
    admin.vendor.key = None

    await admin.call("POST", NODES, node_at(admin.vendor), status=201)

    assert await listed(admin, "mine") == {"mine/large", "mine/new"}


async def test_a_new_connection_of_a_node_shows_its_models_at_once(admin: AdminGateway) -> None:
    node = (await admin.call("POST", NODES, node_at(admin.vendor), status=201))["node"]
    before = await listed(admin, "mine")

    await admin.connect(node["id"])

    assert before == set()
    assert await listed(admin, "mine") == {"mine/large", "mine/new"}


async def test_a_node_is_made_although_it_does_not_answer(admin: AdminGateway) -> None:
    await admin.vendor.aclose()

    await admin.call("POST", NODES, node_at(admin.vendor), status=201)

    assert await listed(admin, "mine") == set()


async def test_a_node_with_another_address_shows_the_models_there(admin: AdminGateway) -> None:
    admin.vendor.written = {"/models": refused(404, "No such path")}
    admin.other.key = None
    node = (await admin.call("POST", NODES, node_at(admin.vendor), status=201))["node"]

    await admin.call("PUT", f"{NODES}/{node['id']}", {"baseUrl": f"{admin.other.url}/v1"})

    assert await listed(admin, "mine") == {"mine/large", "mine/new"}


async def test_a_test_that_succeeds_shows_the_models(admin: AdminGateway) -> None:
    node = (await admin.call("POST", NODES, node_at(admin.vendor), status=201))["node"]
    admin.vendor.written = {"/models": refused(503, "Loading model")}
    row = await admin.connect(node["id"])
    before = await listed(admin, "mine")
    admin.vendor.written = {}

    await admin.call("POST", f"/api/providers/{row['id']}/test")

    assert before == set()
    assert await listed(admin, "mine") == {"mine/large", "mine/new"}


async def test_a_vendor_whose_models_are_known_is_not_asked_for_them(admin: AdminGateway) -> None:
    await admin.connect()

    assert admin.vendor.calls("/models") == []


async def test_a_local_server_is_synced_when_it_first_answers(admin: AdminGateway) -> None:
    servers = FirstAnswers(admin.core)
    admin.vendor.written = {"/models": refused(503, "Loading model")}
    await admin.call("POST", NODES, node_at(admin.vendor), status=201)
    await servers.look()
    before = await listed(admin, "mine")
    admin.vendor.written = {"/models": MockResponse((LIST,))}

    await servers.look()
    received = len(admin.vendor.calls("/models"))
    await servers.look()

    assert before == set()
    assert await listed(admin, "mine") == {"mine/large", "mine/new"}
    assert len(admin.vendor.calls("/models")) == received


async def test_a_server_without_a_list_is_asked_once(admin: AdminGateway) -> None:
    servers = FirstAnswers(admin.core)
    admin.vendor.written = {"/models": refused(404, "No such path")}
    await admin.call("POST", NODES, node_at(admin.vendor), status=201)

    await servers.look()
    received = len(admin.vendor.calls("/models"))
    await servers.look()

    assert len(admin.vendor.calls("/models")) == received > 0


async def test_local_servers_are_looked_for_while_the_gateway_runs(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_answers, "LOOK_EVERY", 0.0)
    await admin.call("POST", NODES, node_at(admin.vendor), status=201)
    seen = asyncio.Event()

    def answer(received: ReceivedRequest) -> MockResponse:
        seen.set()
        return MockResponse((LIST,))

    admin.vendor.script = answer
    async with first_answers.awaited(admin.core):
        await asyncio.wait_for(seen.wait(), 10)


async def test_a_change_that_fails_changes_nothing(admin: AdminGateway) -> None:
    kv = admin.core.stores.kv
    await kv.put(CUSTOM_MODELS, {"acme": [{"id": "a", "kind": "llm"}]})

    def fail(before: Any) -> Any:
        raise BadRequest("no")

    with pytest.raises(BadRequest):
        await kv.amend(CUSTOM_MODELS, "acme", fail)

    assert await kv.get(CUSTOM_MODELS, "acme") == [{"id": "a", "kind": "llm"}]
