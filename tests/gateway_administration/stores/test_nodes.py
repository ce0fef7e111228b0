from collections.abc import Callable
from typing import Any

import pytest

from gateway_administration.stores.nodes import (
    NewNode,
    NodeChange,
    NodeEditor,
    PrefixTaken,
    node_id,
)
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.connections import ConnectionStore
from gateway_core.storage.stores.kv import CUSTOM_MODELS, KeyValueStore
from gateway_core.storage.stores.nodes import Node
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
NEW = NewNode(name="Mine", prefix="mine", api_type="responses", base_url="http://here/v1")


@pytest.fixture
def store(database: Database, clock: Callable[[], float], new_id: Callable[[], str]) -> NodeEditor:
    return NodeEditor(database, clock=clock, new_id=new_id)


@pytest.fixture
def connections(database: Database, vault: Vault) -> ConnectionStore:
    return ConnectionStore(database, vault)


@pytest.mark.parametrize(
    ("type_", "api_type", "expected"),
    [
        ("openai-compatible", "responses", "openai-compatible-responses-x"),
        ("openai-compatible", None, "openai-compatible-chat-x"),
        ("anthropic-compatible", None, "anthropic-compatible-x"),
        ("ollama-compatible", None, "ollama-compatible-x"),
        ("openai-responses-compatible", None, "openai-responses-compatible-x"),
        ("v2.chat-compatible", None, "v2.chat-compatible-x"),
        ("custom-embedding", None, "custom-embedding-x"),
        ("custom-systemone", None, "custom-systemone-x"),
    ],
)
def test_the_id_names_the_type(type_: str, api_type: str | None, expected: str) -> None:
    assert node_id(type_, api_type, "x") == expected


async def test_a_node_comes_back_as_it_was_made(store: NodeEditor) -> None:
    made = await store.create(NEW)

    assert made == Node(
        id="openai-compatible-responses-id-1",
        type="openai-compatible",
        name="Mine",
        prefix="mine",
        api_type="responses",
        base_url="http://here/v1",
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get(made.id) == made
    assert await store.list() == (made,)
    assert await store.get("nobody") is None


@pytest.mark.parametrize(
    "type_",
    ["telepathy", "-compatible", "Loud-compatible", "a b-compatible", "a/b-compatible", ""],
)
async def test_what_cannot_be_a_type_is_refused(store: NodeEditor, type_: str) -> None:
    with pytest.raises(BadRequest, match="Invalid type"):
        await store.create(NewNode(type=type_, name="a", prefix="a"))


async def test_a_prefix_is_given_once(store: NodeEditor) -> None:
    await store.create(NEW)
    other = await store.create(NewNode(name="Other", prefix="other"))

    with pytest.raises(PrefixTaken) as caught:
        await store.create(NEW)
    with pytest.raises(PrefixTaken):
        await store.update(other.id, NodeChange(prefix="mine"))

    assert caught.value.status == 409


async def test_an_update_is_repeated_in_the_nodes_connections(
    store: NodeEditor, connections: ConnectionStore
) -> None:
    node = await store.create(NEW)
    data = {"apiKey": "k", "providerSpecificData": {"baseUrl": "http://here/v1", "model": "m"}}
    await connections.create(NewConnection(provider=node.id, name="a", data=data))
    await connections.create(NewConnection(provider=node.id, name="b"))
    await connections.create(NewConnection(provider="another", name="c"))

    after, _ = await store.update(
        node.id, NodeChange(name="New", base_url="http://there", api_type=None)
    )

    assert await store.get(node.id) == after
    assert (after.name, after.prefix, after.api_type) == ("New", "mine", None)
    mirrored = {"prefix": "mine", "baseUrl": "http://there", "nodeName": "New"}
    first, second = await connections.list(node.id)
    assert first.provider_data == {**mirrored, "model": "m"}
    assert first.secrets == {"apiKey": "k"}
    assert second.provider_data == mirrored
    assert (await connections.list("another"))[0].data == {}


async def test_deleting_a_node_takes_what_belongs_to_it(
    store: NodeEditor, connections: ConnectionStore, database: Database
) -> None:
    node = await store.create(NEW)
    await connections.create(NewConnection(provider=node.id, name="a"))
    kept = await connections.create(NewConnection(provider="another", name="b"))
    models = KeyValueStore(database)
    await models.put(CUSTOM_MODELS, {node.id: [{"id": "m"}], "another": []})

    await store.delete(node.id)

    assert await store.list() == ()
    assert await connections.list() == (kept,)
    assert await models.all(CUSTOM_MODELS) == {"another": []}


async def test_what_is_not_there_is_not_found(store: NodeEditor) -> None:
    for attempt in (store.update("x", NodeChange(name="a")), store.delete("x")):
        with pytest.raises(NotFound, match="Provider node not found"):
            await attempt


async def test_every_write_is_counted(store: NodeEditor, database: Database) -> None:
    node = await store.create(NEW)
    await store.update(node.id, NodeChange(data={"modelId": "m"}))
    await store.delete(node.id)

    versions: Any = await read_versions(database)
    assert versions["nodes"] == 3
