"""Accounts from process variables: each provider says which variables may hold its key."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..config.environment import Environment
from ..contracts.provider import ProviderSpec
from ..storage.connection import PROVIDER_DATA, Connection, ConnectionChange, NewConnection
from ..storage.connections import ConnectionStore

SOURCE = "source"
ENVIRONMENT = "environment"


async def adopt(
    store: ConnectionStore, specs: Iterable[ProviderSpec], environment: Environment
) -> None:
    """Bring the stored accounts of this source in line with the variables.

    A new variable makes an account, a changed one changes it, and the account
    of a variable that is gone is set aside, so that its history keeps a name.
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
                await store.update(held.id, ConnectionChange(is_active=False))
        elif held is None:
            await store.create(NewConnection(provider=spec.id, name=_name(spec), data=data))
        elif not held.is_active or _differs(held, data):
            await store.update(held.id, ConnectionChange(is_active=True, data=data))


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


def _differs(held: Connection, data: Mapping[str, Any]) -> bool:
    return (
        held.broken
        or held.secrets.get("apiKey") != data.get("apiKey")
        or dict(held.provider_data) != dict(data[PROVIDER_DATA])
    )
