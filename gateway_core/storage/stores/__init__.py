"""All stores of one gateway, and how they are opened together."""

import sys
import time
from functools import partial

from msgspec import Struct

from ...config.data_dir import DataDir
from ...config.database_choice import choose_database
from ...config.environment import Environment
from ..agreement import Agreement, Served
from ..database import Database
from ..moments import Clock
from ..opening import Storage
from ..selection import open_agreed, open_selected
from ..switchable import Selection, SwitchableDatabase
from ..vault import Vault
from .audit import AuditStore
from .combos import ComboStore
from .connections import ConnectionStore
from .ended_sessions import EndedSessionStore
from .key_usage import KeyUsageStore
from .keys import KeyStore
from .kv import KeyValueStore
from .nodes import NodeStore
from .plugin_settings import PluginSettingsStore
from .proxy_pools import ProxyPoolStore
from .request_details import RequestDetailStore
from .settings import SettingsStore
from .usage import UsageStore

NO_VARIABLES = Environment()


class Stores(Struct, frozen=True, kw_only=True):
    """One store for each noun, over one database."""

    database: SwitchableDatabase
    vault: Vault
    settings: SettingsStore
    connections: ConnectionStore
    nodes: NodeStore
    combos: ComboStore
    proxy_pools: ProxyPoolStore
    plugin_settings: PluginSettingsStore
    kv: KeyValueStore
    usage: UsageStore
    request_details: RequestDetailStore
    keys: KeyStore
    key_usage: KeyUsageStore
    audit: AuditStore
    ended_sessions: EndedSessionStore

    async def close(self) -> None:
        await self.database.close()


def stores_on(database: Database, vault: Vault, *, clock: Clock = time.time) -> Stores:
    """The stores of a database that is up to date."""
    if not isinstance(database, SwitchableDatabase):
        database = SwitchableDatabase(database, Selection())
    return Stores(
        database=database,
        vault=vault,
        settings=SettingsStore(database, vault),
        connections=ConnectionStore(database, vault, clock=clock),
        nodes=NodeStore(database),
        combos=ComboStore(database),
        proxy_pools=ProxyPoolStore(database, vault),
        plugin_settings=PluginSettingsStore(database, vault),
        kv=KeyValueStore(database),
        usage=UsageStore(database),
        request_details=RequestDetailStore(database),
        keys=KeyStore(database, vault),
        key_usage=KeyUsageStore(database),
        audit=AuditStore(database, clock=clock),
        ended_sessions=EndedSessionStore(database, clock=clock),
    )


async def open_stores(
    data_dir: DataDir,
    environment: Environment = NO_VARIABLES,
    *,
    clock: Clock = time.time,
    shares_data: bool = False,
) -> Stores:
    """The stores of an acquired data directory; with ``shares_data`` of the engine that other
    processes on it serve, if there are any. Raises a StartRefused, see ``open_selected``."""
    choice = choose_database(data_dir, environment)

    def settings_on(opened: Storage) -> SettingsStore:
        return SettingsStore(opened.database, opened.vault)

    if sys.platform == "win32":  # One process is all there can be.
        storage, selection = await open_selected(data_dir, choice, settings_on, clock)
        return stores_on(
            SwitchableDatabase(storage.database, selection), storage.vault, clock=clock
        )
    reopen = partial(
        open_agreed, data_dir=data_dir, choice=choice, settings_on=settings_on, clock=clock
    )
    agreement = Agreement(data_dir.database.parent)
    try:
        async with agreement.standing():
            served = agreement.served() if shares_data else None
            if served is None or choice.engine is not None:
                storage, selection = await open_selected(data_dir, choice, settings_on, clock)
                if served is None:
                    served = Served(engine=storage.database.engine)
                    agreement.say(served)
                switch = served.switch
            else:
                storage, selection, switch = await reopen(served)
            agreement.take(switch)
    except BaseException:
        agreement.close()
        raise
    database = SwitchableDatabase(storage.database, selection, agreement, reopen)
    return stores_on(database, storage.vault, clock=clock)
