"""A prepared data directory: nodes for the mock vendor, accounts, and two keys."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec import Struct

from gateway_administration.stores import admin_stores_on
from gateway_administration.stores.keys import KeyChange
from gateway_administration.stores.nodes import NewNode
from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import from_environ
from gateway_core.identity.keys import Mint
from gateway_core.storage.stores import Stores, open_stores
from gateway_core.storage.stores.connection import NewConnection

from .answers import MODES

FAR = 2**50
"""A limit that no run reaches."""
ACCESS = {"mode": "allow", "patterns": [f"{mode.name}/*" for mode in MODES]}
POLICY = {"modelAccess": ACCESS, "allowAutoCombos": False}
LIMITS = {"rpmLimit": FAR, "tpmLimit": FAR, "dailyInputTokenLimit": FAR, "monthlyTokenLimit": FAR}

Change = Callable[[Stores], Awaitable[None]]


class Installation(Struct, frozen=True):
    """A prepared data directory and its keys."""

    folder: Path
    key: str
    """Of a key with a policy and no limit."""
    limited_key: str
    """Of a key with the same policy, and limits that are counted."""


def furnish(
    folder: Path,
    vendor_port: int,
    change: Change | None = None,
    variables: Mapping[str, str] = {},
) -> Installation:
    """Fill an existing folder, and the database that the variables name. ``change`` is called with
    its stores at the end, to add more."""
    return asyncio.run(_furnish(folder, vendor_port, change, variables))


async def _furnish(
    folder: Path, vendor_port: int, change: Change | None, variables: Mapping[str, str]
) -> Installation:
    with DataDir(folder) as data_dir:
        stores = await open_stores(data_dir, from_environ(variables))
        try:
            await stores.settings.patch({"requireApiKey": True})
            await _connect(stores, vendor_port)
            mint = _mint(data_dir, stores)
            key = await _key(stores, mint, "bench", POLICY)
            limited = await _key(stores, mint, "bench limited", {**POLICY, **LIMITS})
            if change is not None:
                await change(stores)
        finally:
            await stores.close()
    return Installation(folder, key, limited)


async def _connect(stores: Stores, vendor_port: int) -> None:
    """A node and an account for each mode; the node's prefix is the mode's name."""
    for mode in MODES:
        base = f"http://127.0.0.1:{vendor_port}/{mode.name}/v1"
        new = NewNode(type=mode.dialect, name=mode.name, prefix=mode.name, base_url=base)
        node = await admin_stores_on(stores).nodes.create(new)
        mirrored = {"prefix": node.prefix, "baseUrl": node.base_url, "nodeName": node.name}
        data = {"apiKey": "not-a-secret", "providerSpecificData": mirrored}
        await stores.connections.create(NewConnection(provider=node.id, name="main", data=data))


def _mint(data_dir: DataDir, stores: Stores) -> Mint:
    environment = from_environ({})
    secret = data_dir.api_key_secret(environment)
    machine_id = data_dir.machine_id(environment.machine_id_salt)
    return Mint(secret, machine_id, stores.keys.index_key, secrets.choice)


async def _key(stores: Stores, mint: Mint, name: str, policy: dict[str, object]) -> str:
    text = mint.new()
    digest = mint.digest(text).hex()
    keys = admin_stores_on(stores).keys
    await keys.create(text, digest, mint.machine_id, KeyChange(name=name, policy=policy))
    return text
