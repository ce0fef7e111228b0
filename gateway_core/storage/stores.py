"""All stores of one gateway, and how they are opened together."""

import time

from msgspec import Struct

from gateway_core.config.data_dir import DataDir

from .combos import ComboStore
from .connections import ConnectionStore
from .database import Database
from .kv import KeyValueStore
from .moments import Clock
from .nodes import NodeStore
from .opening import open_storage
from .settings import SettingsStore
from .usage import UsageStore
from .vault import Vault


class Stores(Struct, frozen=True, kw_only=True):
    """One store for each noun, over one database."""

    database: Database
    settings: SettingsStore
    connections: ConnectionStore
    nodes: NodeStore
    combos: ComboStore
    kv: KeyValueStore
    usage: UsageStore

    async def close(self) -> None:
        await self.database.close()


def stores_on(database: Database, vault: Vault, *, clock: Clock = time.time) -> Stores:
    """The stores of a database that is up to date."""
    return Stores(
        database=database,
        settings=SettingsStore(database, vault),
        connections=ConnectionStore(database, vault, clock=clock),
        nodes=NodeStore(database, clock=clock),
        combos=ComboStore(database, clock=clock),
        kv=KeyValueStore(database),
        usage=UsageStore(database),
    )


async def open_stores(data_dir: DataDir, *, clock: Clock = time.time) -> Stores:
    """The stores of an acquired data directory. Raises a StartRefused, see ``open_storage``."""
    storage = await open_storage(data_dir, clock=clock)
    return stores_on(storage.database, storage.vault, clock=clock)
