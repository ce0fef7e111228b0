"""Accounts from process variables: each provider says which variables may hold its key."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..config.environment import Environment
from ..contracts.provider import ProviderSpec
from ..storage.ids import random_id
from ..storage.stores.connection import (
    PROVIDER_DATA,
    Connection,
    ConnectionChange,
    DuplicateConnection,
    NewConnection,
)
from ..storage.stores.connections import ConnectionStore

SOURCE = "source"
ENVIRONMENT = "environment"
SET_ASIDE = "setAside"
"""Marks an account that is inactive only because its variable is gone."""


async def adopt(
    store: ConnectionStore, specs: Iterable[ProviderSpec], environment: Environment
) -> None:
    """Bring the stored accounts of this source in line with the variables.

    A new variable makes an account, a changed one changes it, and the account
    of a variable that is gone is set aside, so that its history keeps a name.
    One that the operator has switched off stays off.
    """
    stored = {
        connection.provider: connection
        for connection in await store.list()
        if connection.data.get(SOURCE) == ENVIRONMENT
    }
    for spec in specs:
        data = found(spec, environment.variables)
        held = stored.get(spec.id)
        if data is None:
            if held is not None and held.is_active:
                aside = ConnectionChange(is_active=False, data={SET_ASIDE: True})
                await store.update(held.id, aside)
        elif held is None:
            await _create(store, spec, data)
        elif held.broken:
            # The variable has the secret still, so nothing is lost with what does not open.
            await store.delete(held.id)
            await _create(store, spec, data)
        elif held.data.get(SET_ASIDE) or _differs(held, data):
            await _update(store, held, data)


async def _create(store: ConnectionStore, spec: ProviderSpec, data: Mapping[str, Any]) -> None:
    """Add an account, under another name where the operator has given this one away."""
    try:
        await store.create(NewConnection(provider=spec.id, name=_name(spec), data=data))
    except DuplicateConnection:
        name = f"{_name(spec)} {random_id()}"
        await store.create(NewConnection(provider=spec.id, name=name, data=data))


async def _update(store: ConnectionStore, held: Connection, data: Mapping[str, Any]) -> None:
    more = _replacing(held, data[PROVIDER_DATA])
    change = {"apiKey": None, SET_ASIDE: None, **data, PROVIDER_DATA: more}
    is_active = held.is_active or bool(held.data.get(SET_ASIDE))
    await store.update(held.id, ConnectionChange(is_active=is_active, data=change))


def found(spec: ProviderSpec, variables: Mapping[str, str]) -> dict[str, Any] | None:
    """What the variables say of an account at this provider; ``None`` without any of them."""
    key = next((variables[name] for name in spec.environment if name in variables), None)
    more = {
        member: variables[name]
        for name, member in spec.environment_data.items()
        if name in variables
    }
    if key is None and not more:
        return None
    data: dict[str, Any] = {SOURCE: ENVIRONMENT, PROVIDER_DATA: more}
    return data if key is None else {**data, "apiKey": key}


def _name(spec: ProviderSpec) -> str:
    return (spec.environment or tuple(spec.environment_data))[0]


def _replacing(held: Connection, data: Mapping[str, Any]) -> dict[str, Any]:
    """Changes that leave just ``data``: a store merges members, so those that go are named."""
    return {**dict.fromkeys(held.provider_data), **data}


def _differs(held: Connection, data: Mapping[str, Any]) -> bool:
    return held.secrets.get("apiKey") != data.get("apiKey") or dict(held.provider_data) != dict(
        data[PROVIDER_DATA]
    )
