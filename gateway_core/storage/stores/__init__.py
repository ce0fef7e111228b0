"""All stores of one gateway, and how they are opened together."""

import time

from msgspec import Struct

from ...config.data_dir import DataDir
from ...config.environment import Environment
from ..database import Database
from ..moments import Clock
from ..selection import open_selected
from ..switchable import Selection, SwitchableDatabase
from ..vault import Vault
from .audit import AuditStore
from .combos import ComboStore
from .connection_groups import ConnectionGroupStore
from .connections import ConnectionStore
from .ended_sessions import EndedSessionStore
from .former_names import FormerNames
from .key_groups import KeyGroupStore
from .key_usage import KeyUsageStore
from .keys import KeyStore
from .kv import KeyValueStore
from .leases import LeaseStore
from .lockouts import LockoutStore
from .native_resources import NativeResourceStore
from .nodes import NodeStore
from .plugin_settings import PluginSettingsStore
from .proxy_pools import ProxyPoolStore
from .request_details import RequestDetailStore
from .sessions import SessionStore
from .settings import SettingsStore
from .tickets import TicketStore
from .usage import UsageStore
from .usage_reports import UsageReports

NO_VARIABLES = Environment()


class Stores(Struct, frozen=True, kw_only=True):
    """One store for each noun, over one database."""

    database: SwitchableDatabase
    settings: SettingsStore
    connections: ConnectionStore
    nodes: NodeStore
    combos: ComboStore
    proxy_pools: ProxyPoolStore
    connection_groups: ConnectionGroupStore
    plugin_settings: PluginSettingsStore
    kv: KeyValueStore
    usage: UsageStore
    reports: UsageReports
    request_details: RequestDetailStore
    keys: KeyStore
    key_groups: KeyGroupStore
    key_usage: KeyUsageStore
    former_names: FormerNames
    audit: AuditStore
    sessions: SessionStore
    ended_sessions: EndedSessionStore
    tickets: TicketStore
    leases: LeaseStore
    lockouts: LockoutStore
    native_resources: NativeResourceStore

    async def close(self) -> None:
        await self.database.close()


def stores_on(database: Database, vault: Vault, *, clock: Clock = time.time) -> Stores:
    """The stores of a database that is up to date."""
    if not isinstance(database, SwitchableDatabase):
        database = SwitchableDatabase(database, Selection())
    usage = UsageStore(database)
    return Stores(
        database=database,
        settings=SettingsStore(database, vault),
        connections=ConnectionStore(database, vault, clock=clock),
        nodes=NodeStore(database, clock=clock),
        combos=ComboStore(database, clock=clock),
        proxy_pools=ProxyPoolStore(database, vault, clock=clock),
        connection_groups=ConnectionGroupStore(database, clock=clock),
        plugin_settings=PluginSettingsStore(database, vault),
        kv=KeyValueStore(database),
        usage=usage,
        reports=UsageReports(database, usage),
        request_details=RequestDetailStore(database),
        keys=KeyStore(database, vault, clock=clock),
        key_groups=KeyGroupStore(database, clock=clock),
        key_usage=KeyUsageStore(database),
        former_names=FormerNames(database),
        audit=AuditStore(database, clock=clock),
        sessions=SessionStore(database, clock=clock),
        ended_sessions=EndedSessionStore(database, clock=clock),
        tickets=TicketStore(database, vault, clock=clock),
        leases=LeaseStore(database),
        lockouts=LockoutStore(database),
        native_resources=NativeResourceStore(database, clock=clock),
    )


async def open_stores(
    data_dir: DataDir, environment: Environment = NO_VARIABLES, *, clock: Clock = time.time
) -> Stores:
    """The stores of an acquired data directory. Raises a StartRefused, see ``open_selected``."""
    storage, selection = await open_selected(
        data_dir, environment, lambda opened: SettingsStore(opened.database, opened.vault), clock
    )
    return stores_on(SwitchableDatabase(storage.database, selection), storage.vault, clock=clock)
