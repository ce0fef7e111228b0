"""Turns bodies into changes of connections. Pure: no database and no network."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.provider import Credential
from gateway_core.routing.environment_accounts import ENVIRONMENT, SOURCE
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.stores.connection import (
    PROVIDER_DATA,
    Connection,
    ConnectionChange,
    NewConnection,
    changed,
)
from gateway_core.storage.stores.proxy_pools import ProxyPool
from gateway_core.upstream.proxies import DIALLED, NO_POOL
from gateway_core.upstream.redaction import texts

from ..destinations import BASE_URL, PROXY_URL, clean_base_url, destinations, urls_in
from ..requests import strip
from .bodies import ChangedConnectionBody, ConnectionBody, NewConnectionBody
from .owners import Owner
from .probes.custom import DECISION

PROXY_ENABLED = "connectionProxyEnabled"
POOL = "proxyPoolId"
_ADDRESSES = (BASE_URL, PROXY_URL, PROXY_ENABLED, "connectionNoProxy", POOL)
MOVED = "The base URL changed, so the stored credential was cleared; save the key again"
_PLAIN = ("global_priority", "default_model", "test_status")
_STATE = ("last_error", "last_error_at")
_FORGOTTEN = {"lastError": None, "lastErrorAt": None, "errorCode": None, "backoffLevel": None}


def read_provider_data(
    body: ConnectionBody, owner: Owner, pools: Mapping[str, ProxyPool]
) -> dict[str, Any]:
    """Read the members of ``providerSpecificData`` that a body sets; ``None`` removes one.

    ``pools`` are the proxy pools there are, by id. Raises BadRequest.
    """
    members: dict[str, Any] = {}
    if isinstance(body.provider_specific_data, dict):
        if owner.is_lost:
            # Only the plugin knows which members hold addresses, so none can be checked.
            raise BadRequest("The plugin of this connection's provider is not installed")
        members.update(body.provider_specific_data)
    beside = {
        PROXY_ENABLED: body.connection_proxy_enabled,
        PROXY_URL: body.connection_proxy_url,
        "connectionNoProxy": body.connection_no_proxy,
        POOL: body.proxy_pool_id,
    }
    members |= {name: value for name, value in beside.items() if value is not UNSET}
    _check_pool(members, owner, pools)
    _check_patterns(members, owner)
    for name in (BASE_URL, PROXY_URL):
        value = members.get(name)
        if value is not None and not isinstance(value, str):
            raise BadRequest(f"Invalid {name}")
        if name in members:
            members[name] = strip(value) or None
    if members.get(BASE_URL):
        members[BASE_URL] = clean_base_url(members[BASE_URL], owner.endings)
    return {**members, **owner.mirrored}


def _check_pool(members: dict[str, Any], owner: Owner, pools: Mapping[str, ProxyPool]) -> None:
    """Check the named pool; the words for no pool become ``None``. Raises BadRequest."""
    if POOL not in members:
        return
    if members[POOL] in NO_POOL:
        members[POOL] = None
        return
    pool = pools.get(members[POOL]) if isinstance(members[POOL], str) else None
    if pool is None:
        raise BadRequest("Proxy pool not found")
    if pool.type not in DIALLED:
        raise BadRequest(f"Calls cannot go through a relay of type {pool.type}")
    if owner.node is not None and owner.node.type == DECISION:
        raise BadRequest("Proxy pools cannot be used with a decision node")


def _check_patterns(members: Mapping[str, Any], owner: Owner) -> None:
    """Raises BadRequest for a value that cannot be what its vendor's plugin declares."""
    for field in () if owner.spec is None else owner.spec.account_fields:
        value = members.get(field.name)
        if field.pattern is None or value is None or value == "":
            continue
        # A plugin's broken pattern must not prevent saving its accounts.
        with suppress(re.error):
            if not isinstance(value, str) or not re.search(field.pattern, value):
                raise BadRequest(f"Invalid {field.name}")


def names_address(body: ConnectionBody) -> bool:
    """Whether a body sets an account's address or proxy, which only operators may."""
    data = body.provider_specific_data
    inner = data if isinstance(data, dict) else {}
    beside = (body.connection_proxy_enabled, body.connection_proxy_url, body.connection_no_proxy)
    return (
        any(value is not UNSET for value in (*beside, body.proxy_pool_id))
        or any(name in inner for name in _ADDRESSES)
        or any(urls_in(inner))
        # A credential may be a document with addresses of its own, such as a service account.
        or any("://" in text for text in texts({**inner, "apiKey": body.api_key}))
    )


def check_proxy(data: Mapping[str, Any]) -> None:
    """Raises BadRequest for an account whose proxy is on and has no address."""
    if data.get(PROXY_ENABLED) and not data.get(PROXY_URL):
        raise BadRequest("Connection proxy URL is required when the connection proxy is enabled")


def build_connection(
    body: NewConnectionBody, owner: Owner, data: Mapping[str, Any]
) -> NewConnection:
    """Build the account that a body describes. Raises BadRequest."""
    name, key = strip(body.name) or strip(body.display_name), strip(body.api_key)
    kind = owner.auth_type
    if not key and kind == "cookie":
        raise BadRequest("Cookie value is required")
    if not key and kind not in ("none", "optional"):
        raise BadRequest("API Key is required")
    _check_name(name, owner)
    check_proxy(data)
    document = {
        "testStatus": "unknown",
        "displayName": strip(body.display_name) or None,
        "apiKey": key or None,
        "sessionToken": strip(body.session_token) or None,
        **_set_members(body, _PLAIN),
        PROVIDER_DATA: {member: value for member, value in data.items() if value is not None},
    }
    return NewConnection(
        provider=owner.id,
        auth_type=kind if kind == "cookie" else "apikey" if key else "none",
        name=name,
        is_active=body.is_active,
        priority=body.priority if isinstance(body.priority, int) else None,
        data={member: value for member, value in document.items() if value is not None},
    )


def build_change(
    connection: Connection,
    body: ChangedConnectionBody,
    owner: Owner,
    data: Mapping[str, Any],
    now: str,
) -> ConnectionChange:
    """Build the change; a stored credential never goes to another origin.

    Raises BadRequest, and SealBroken where a secret that cannot be opened would move.
    """
    if body.name is not UNSET and strip(body.name) != connection.name:
        _check_name(strip(body.name), owner)
    key = strip(body.api_key)
    if key and connection.auth_type not in ("apikey", "none", "cookie"):
        raise BadRequest("Only a connection with a key can get a new key")
    if key and connection.data.get(SOURCE) == ENVIRONMENT:
        raise BadRequest("This key comes from an environment variable; change it there")
    after = changed(connection.provider_data, data)
    check_proxy(after)
    document = _document(body, data)
    if leaves_origin(connection, owner, after, key):
        document = clear_credential(connection, document, now)
    if key:
        reset = {**_FORGOTTEN, "testStatus": "unknown", **_set_members(body, ("test_status",))}
        document = {**document, **reset, "apiKey": key}
    return ConnectionChange(
        auth_type="apikey" if key and connection.auth_type == "none" else UNSET,
        name=strip(body.name) if body.name is not UNSET else UNSET,
        priority=body.priority if isinstance(body.priority, int) else UNSET,
        is_active=body.is_active,
        data=document,
    )


def _document(body: ChangedConnectionBody, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that a body sets, except the key."""
    document = _set_members(body, (*_PLAIN, *_STATE))
    if data:
        document[PROVIDER_DATA] = data
    if strip(body.session_token) or body.session_token is None:
        document["sessionToken"] = strip(body.session_token) or None
    return document


def leaves_origin(
    connection: Connection, owner: Owner, after: Mapping[str, Any], key: str = ""
) -> bool:
    """Whether a change sends this account's secrets to an origin they were not saved for.

    Raises SealBroken where there is a secret that can be neither read nor cleared.
    """
    now = _credential(connection, connection.provider_data)
    then = _credential(connection, after, key)
    before = destinations(owner.spec, owner.wire, now)
    if destinations(owner.spec, owner.wire, then) <= before:
        return False
    if connection.broken:
        raise SealBroken("connections", connection.id)
    return bool(connection.secrets)


def _credential(connection: Connection, data: Mapping[str, Any], key: str = "") -> Credential:
    secret = key or connection.secrets.get("apiKey") or connection.secrets.get("accessToken")
    return Credential(connection_id=connection.id, secret=secret, data=data)


def clear_credential(
    connection: Connection, document: Mapping[str, Any], now: str
) -> dict[str, Any]:
    """Add to a change the removal of every stored secret that it does not replace."""
    secrets = connection.secrets
    inner = dict.fromkeys(secrets.get(PROVIDER_DATA) or {})
    cleared: dict[str, Any] = {
        **dict.fromkeys(name for name in secrets if name != PROVIDER_DATA),
        "testStatus": "reauth_required",
        "lastError": MOVED,
        "lastErrorAt": now,
    }
    change = document.get(PROVIDER_DATA) or {}
    return {**cleared, **document, PROVIDER_DATA: {**inner, **change}}


def _check_name(name: str, owner: Owner) -> None:
    """Raises BadRequest for an empty name, or one reserved for a variable's account."""
    if not name:
        raise BadRequest("Name is required")
    spec = owner.spec
    if spec is not None and name in (*spec.environment, *spec.environment_data):
        raise BadRequest(f"{name} is the name of an environment variable's account; take another")


def _set_members(body: ConnectionBody, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the members of a body that are set, by their names in the record."""
    fields = dict(zip(body.__struct_fields__, body.__struct_encode_fields__, strict=True))
    pairs = ((fields[name], getattr(body, name)) for name in names)
    return {
        member: (value.strip() or None) if isinstance(value, str) else value
        for member, value in pairs
        if value is not UNSET
    }
