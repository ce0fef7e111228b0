"""Checking stored and proposed accounts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gateway_core.contracts.errors import BadRequest, GatewayError
from gateway_core.contracts.provider import Credential
from gateway_core.routing.snapshot import Account, account_of
from gateway_core.storage.stores.connection import Connection
from gateway_core.upstream.proxies import proxy_of

from ...admin_context import AdminContext
from ...destinations import BASE_URL
from ..owners import Owner
from ..probes import custom
from ..views import BROKEN
from .checks import Checked, Proof, Subject, check, default_model, time_proof


async def check_connection(
    admin: AdminContext, connection: Connection, owner: Owner, path: str, limit: float
) -> Checked:
    """Check a stored account, active or not."""
    snapshot = admin.snapshot
    account = account_of(
        connection, snapshot.settings, snapshot.pools, spec=owner.spec, proxy=snapshot.proxy
    )
    model = default_model(connection.data) or default_model(connection.provider_data)
    if connection.broken:
        return await time_proof(_refuse(BadRequest(BROKEN)), account.credential, limit)
    return await check_account(admin, account, owner, model, path, limit)


async def check_account(
    admin: AdminContext,
    account: Account,
    owner: Owner,
    model: str | None,
    path: str,
    limit: float,
    *,
    trusting: bool = False,
) -> Checked:
    """Check an account in the way its provider is called."""
    if owner.spec is not None and owner.wire is not None:
        subject = Subject(
            spec=owner.spec, wire=owner.wire, account=account, model=model, trusting=trusting
        )
        return await check(admin.core, subject, path, limit)
    base, node = account.credential.data.get(BASE_URL), owner.node
    if node is None or node.type not in custom.TYPES or not isinstance(base, str):
        proof = _refuse(BadRequest("The plugin of this connection's provider is not installed"))
    else:
        own_model = node.data.get("modelId")
        chosen = model or (own_model if isinstance(own_model, str) else None)
        proof = custom.prove(admin.core, node.type, base, account, chosen)
    return await time_proof(proof, account.credential, limit)


async def _refuse(error: GatewayError) -> Proof:
    raise error


def build_candidate(
    admin: AdminContext, provider: str, key: str | None, data: Mapping[str, Any], identity: str = ""
) -> Account:
    """Build an account that is not stored; without an id, no usage is attributed to it."""
    return Account(
        id=identity,
        provider=provider,
        name=provider,
        credential=Credential(
            connection_id=identity, secret=key or None, data=MappingProxyType(dict(data))
        ),
        proxy=proxy_of(data, admin.snapshot.pools, admin.snapshot.proxy),
    )
