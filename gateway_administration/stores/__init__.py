"""Stores that requests do not need, over the database of a gateway.

Where the kernel reads a noun, the store here is the kernel's, which also writes.
"""

import time

from msgspec import Struct

from gateway_core.storage.moments import Clock
from gateway_core.storage.stores import Stores

from .audit import AuditTrail
from .combos import ComboEditor
from .connection_groups import ConnectionGroupStore
from .former_names import FormerNames
from .key_groups import KeyGroupStore
from .keys import KeyEditor
from .lockouts import LockoutStore
from .nodes import NodeEditor
from .proxy_pools import ProxyPoolEditor
from .request_details import KeptRequestDetails
from .sessions import SessionStore
from .tickets import TicketStore


class AdminStores(Struct, frozen=True, kw_only=True):
    """One store for each noun that only the operator's tools know or change."""

    audit: AuditTrail
    combos: ComboEditor
    connection_groups: ConnectionGroupStore
    former_names: FormerNames
    key_groups: KeyGroupStore
    keys: KeyEditor
    lockouts: LockoutStore
    nodes: NodeEditor
    proxy_pools: ProxyPoolEditor
    request_details: KeptRequestDetails
    sessions: SessionStore
    tickets: TicketStore


def admin_stores_on(stores: Stores, *, clock: Clock = time.time) -> AdminStores:
    """The operator's stores over the database that a gateway's stores use."""
    database, vault = stores.database, stores.vault
    return AdminStores(
        audit=AuditTrail(database, clock=clock),
        combos=ComboEditor(database, clock=clock),
        connection_groups=ConnectionGroupStore(database, clock=clock),
        former_names=FormerNames(database),
        key_groups=KeyGroupStore(database, clock=clock),
        keys=KeyEditor(database, vault, clock=clock),
        lockouts=LockoutStore(database),
        nodes=NodeEditor(database, clock=clock),
        proxy_pools=ProxyPoolEditor(database, vault, clock=clock),
        request_details=KeptRequestDetails(database),
        sessions=SessionStore(database, clock=clock),
        tickets=TicketStore(database, vault, clock=clock),
    )
