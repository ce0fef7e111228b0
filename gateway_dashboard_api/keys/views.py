"""How gateway keys are shown: everything but their text."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from gateway_administration.stores.key_groups import KeyGroup
from gateway_core.identity.keys import MASK
from gateway_core.storage.stores.connection import Connection
from gateway_core.storage.stores.key_usage import NOTHING, Spending
from gateway_core.storage.stores.keys import ApiKey

from ..pagination import Pagination

MICRO = 1_000_000


class Totals(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was used in all. The cost is in dollars."""

    total_tokens: int
    total_cost: float
    total_requests: int
    unpriced_requests: int
    """Calls whose price is not known, which ``totalCost`` lacks."""
    unpriced_tokens: int


class KeyFacts(Struct, frozen=True, kw_only=True, rename="camel"):
    """A key without its text. Times are UTC ISO text."""

    id: str
    name: str
    machine_id: str
    is_active: bool
    inference_only: bool
    expires_at: str | None
    allowed_combos: tuple[str, ...]
    policy: Mapping[str, Any]
    daily_limit_tokens: int | None
    provider_connection_ids: tuple[str, ...]
    groups: tuple[str, ...]
    created_at: str
    updated_at: str


class KeyRow(KeyFacts, frozen=True, kw_only=True, rename="camel"):
    masked_key: str
    usage: Totals


class NewKey(KeyFacts, frozen=True, kw_only=True, rename="camel"):
    """The answer that tells a key's text."""

    key: str
    notices: tuple[str, ...] | UnsetType = UNSET
    """What the key's limits do not cover, where that is likely to surprise."""


class AccountRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """An account that a key may be bound to."""

    id: str
    name: str | None
    provider: str


class KeyList(Struct, frozen=True, kw_only=True, rename="camel"):
    keys: tuple[KeyRow, ...]
    connections: tuple[AccountRow, ...]
    pagination: Pagination | UnsetType = UNSET
    """Where a page was selected."""


def key_row(key: ApiKey, groups: tuple[str, ...] = (), spent: Spending = NOTHING) -> KeyRow:
    return KeyRow(**_facts(key), groups=groups, masked_key=MASK, usage=totals(spent))


def new_key_row(
    key: ApiKey, groups: tuple[str, ...], text: str, notices: tuple[str, ...]
) -> NewKey:
    return NewKey(**_facts(key), groups=groups, key=text, notices=notices or UNSET)


def account_row(connection: Connection) -> AccountRow:
    return AccountRow(
        id=connection.id,
        name=connection.name or connection.email,
        provider=connection.provider,
    )


def totals(spent: Spending) -> Totals:
    return Totals(
        total_tokens=spent.tokens,
        total_cost=spent.cost / MICRO,
        total_requests=spent.requests,
        unpriced_requests=spent.unpriced_requests,
        unpriced_tokens=spent.unpriced_tokens,
    )


def _facts(key: ApiKey) -> dict[str, Any]:
    """Return the public fields of a stored key, without its hash and version."""
    public = set(KeyFacts.__struct_fields__) - {"groups"}
    return {name: getattr(key, name) for name in ApiKey.__struct_fields__ if name in public}


class Revealed(Struct, frozen=True):
    key: str


class CatalogModel(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model as ``allowedModels`` names it."""

    id: str
    name: str
    provider: str
    kind: str


class PolicyCatalog(Struct, frozen=True, kw_only=True, rename="camel"):
    """``families`` are ruled by ``allowAutoCombos``, ``combos`` by ``allowedCombos``."""

    models: tuple[CatalogModel, ...]
    combos: tuple[str, ...]
    families: tuple[str, ...]


class Groups(Struct, frozen=True):
    groups: tuple[KeyGroup, ...]


class Group(Struct, frozen=True):
    group: KeyGroup
