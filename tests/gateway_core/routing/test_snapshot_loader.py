"""Tables follow the database, and nodes are providers."""

import asyncio
from typing import Any

import pytest
from snapshots import FORMATS, provider, registry_of

from gateway_administration.stores import admin_stores_on
from gateway_administration.stores.nodes import NewNode
from gateway_core.metering.prices import Prices
from gateway_core.routing.snapshot_loader import SnapshotLoader, node_format, node_spec
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores import stores_on
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.kv import ALIASES
from gateway_core.storage.stores.nodes import Node
from gateway_core.storage.vault import Vault


def test_a_write_makes_a_picture_stale_and_the_next_one_shows_it() -> None:
    async def main() -> None:
        database = await open_sqlite(":memory:")
        await migrate(database, packaged_migrations("sqlite"), lambda: 1_800_000_000.0)
        stores = stores_on(database, Vault(bytes(32)))
        live = SnapshotLoader(stores, registry_of([provider("acme", "m")]), Prices())
        try:
            before = await live.load()
            assert not await live.is_stale(before)
            made = await stores.connections.create(
                NewConnection(provider="acme", data={"apiKey": "k"})
            )
            await stores.kv.put(ALIASES, {"nick": "acme/m"})
            node = await admin_stores_on(stores).nodes.create(
                NewNode(name="N", prefix="mine", base_url="http://x")
            )
            assert await live.is_stale(before)
            after = await live.load()
            assert [account.id for account in after.accounts["acme"]] == [made.id]
            assert after.aliases == {"nick": "acme/m"}
            assert after.registry.names["mine"] == node.id
            assert not before.connected("acme")
            await stores.connections.note({made.id: {"testStatus": "active"}})
            assert not await live.is_stale(after)
        finally:
            await database.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "api_type", "expected"),
    [
        ("openai-compatible", None, "openai"),
        ("openai-compatible", "chat", "openai"),
        ("openai-compatible", "responses", "openai-responses"),
        ("claude-compatible", None, "claude"),
        ("unheard-of-compatible", None, None),
        ("custom-embedding", None, None),
    ],
)
def test_a_nodes_type_names_its_format(
    kind: str, api_type: str | None, expected: str | None
) -> None:
    found = node_format(kind, api_type, FORMATS)

    assert (found.id if found else None) == expected


def test_a_node_is_a_provider_by_its_prefix() -> None:
    fields: dict[str, Any] = {"name": "N", "prefix": "mine", "created_at": "", "updated_at": ""}
    node = Node(id="n-1", type="openai-compatible", base_url="http://x/v1/", **fields)

    spec = node_spec(node, FORMATS)

    assert spec is not None
    assert (spec.id, spec.alias, spec.base_url) == ("n-1", "mine", "http://x/v1")
    assert (spec.auth.type, spec.passthrough_models) == ("optional", True)
    assert node_spec(Node(id="n", type="odd-compatible", **fields), FORMATS) is None
