"""Accounts from process variables: each provider says which variables may hold its key."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..config.environment import Environment
from ..contracts.provider import ProviderSpec
from ..storage.ids import random_id
from ..storage.stores.connection import (
    PROVIDER_DATA,
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
        row.provider: row for row in await store.list() if row.data.get(SOURCE) == ENVIRONMENT
    }
    for spec in specs:
        data = account_data(spec, environment.variables)
        connection = stored.get(spec.id)
        if data is None:
            if connection is not None and connection.is_active:
                aside = ConnectionChange(is_active=False, data={SET_ASIDE: True})
                await store.update(connection.id, aside)
        elif connection is None:
            await _create(store, spec, data)
        elif connection.broken:
            # The variable has the secret still, so nothing is lost with what does not open.
            await store.delete(connection.id)
            await _create(store, spec, data)
        elif (
            connection.data.get(SET_ASIDE)
            or connection.secrets.get("apiKey") != data.get("apiKey")
            or dict(connection.provider_data) != dict(data[PROVIDER_DATA])
        ):
            # The store merges members, so those that go are named with ``None``.
            members = {**dict.fromkeys(connection.provider_data), **data[PROVIDER_DATA]}
            change = {"apiKey": None, SET_ASIDE: None, **data, PROVIDER_DATA: members}
            is_active = connection.is_active or bool(connection.data.get(SET_ASIDE))
            await store.update(connection.id, ConnectionChange(is_active=is_active, data=change))


async def _create(store: ConnectionStore, spec: ProviderSpec, data: Mapping[str, Any]) -> None:
    """Add an account, under another name where the operator has given this one away."""
    try:
        await store.create(NewConnection(provider=spec.id, name=_name(spec), data=data))
    except DuplicateConnection:
        name = f"{_name(spec)} {random_id()}"
        await store.create(NewConnection(provider=spec.id, name=name, data=data))


def account_data(spec: ProviderSpec, variables: Mapping[str, str]) -> dict[str, Any] | None:
    """The account at this provider that the variables describe; ``None`` without any of them."""
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


def variables_read(specs: Iterable[ProviderSpec]) -> Iterator[str]:
    """Every variable that a provider reads."""
    for spec in specs:
        yield from (*spec.environment, *spec.environment_data)


def _name(spec: ProviderSpec) -> str:
    return (spec.environment or tuple(spec.environment_data))[0]
