"""What routing looks things up in: an immutable picture of the stored configuration.

Writes make a new picture; a request works with the one it began with. Nothing
on the path of a request waits for the database.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from ..config.settings import Settings, traits
from ..contracts.kinds import read_kind
from ..contracts.model import Model
from ..contracts.provider import Credential, ProviderSpec
from ..contracts.wire import WireFormat
from ..plugins.registry import Registry
from ..storage.stores.combos import Combo
from ..storage.stores.connection import Connection
from ..storage.stores.proxy_pools import ProxyPool
from ..upstream.endpoints import EndpointCache
from ..upstream.proxies import Proxy, proxy_of
from .environment_accounts import ENVIRONMENT, SET_ASIDE, SOURCE

Memory = dict[tuple[object, ...], Any]
MOST_REMEMBERED = 4096
BASE_URL = "baseUrl"
PUBLIC = "public"
"""Ends the id of the account that stands in for one where a provider needs none."""


class Account(Struct, frozen=True, kw_only=True):
    """One account that calls may use."""

    id: str
    provider: str
    name: str
    credential: Credential
    proxy: Proxy | None = None
    state: Mapping[str, Any] = {}
    """How it fared before this start: ``backoffLevel``, ``modelLock_…``."""
    is_login: bool = False
    """Its secret is a token, which can be renewed when the vendor refuses it."""


class ConfigSnapshot(Struct, frozen=True, kw_only=True):
    """The picture."""

    registry: Registry
    settings: Settings
    accounts: Mapping[str, tuple[Account, ...]]
    """Active accounts by provider id, by priority."""
    combos: Mapping[str, Combo]
    aliases: Mapping[str, str]
    """A name without a slash, to ``provider/model``."""
    models: Mapping[str, tuple[Model, ...]]
    """Every row of a provider: its plugin's and the operator's own, without disabled ones."""
    hidden: frozenset[tuple[str, str]]
    """Provider and model ids, case-folded, that the operator has disabled."""
    shown: Mapping[str, frozenset[str]] = {}
    """Ids, case-folded, by provider: the only ones that the operator has left enabled."""
    pools: Mapping[str, ProxyPool] = {}
    """Proxy pools by id."""
    proxy: Proxy | None = None
    """The proxy of whatever has none of its own."""
    ended_sessions: frozenset[str] = frozenset()
    """Ids of sessions that were signed out of."""
    versions: Mapping[str, int]
    """Of the stored groups this picture was taken from."""
    memory: Memory = msgspec.field(default_factory=dict)
    """Results that depend on this snapshot alone; ``remember`` adds one."""
    ways: EndpointCache = EndpointCache({})
    """Where its accounts are called."""

    def __post_init__(self) -> None:
        """A changed copy has worked nothing out yet."""
        msgspec.structs.force_setattr(self, "memory", {})
        msgspec.structs.force_setattr(
            self, "ways", EndpointCache(self.registry.formats, self.settings.model_timeouts)
        )

    def remember(self, key: tuple[object, ...], value: Any) -> None:
        """Keep something in ``memory``, which begins anew before it gets large."""
        if len(self.memory) >= MOST_REMEMBERED:
            self.memory.clear()
        self.memory[key] = value

    def is_disabled(self, spec: ProviderSpec, model: str) -> bool:
        """Whether the operator has switched a model off, by its own name or by its variant's."""
        names = {model.casefold(), spec.without_variant(model).casefold()}
        shown = self.shown.get(spec.id)
        if shown is not None and shown.isdisjoint(names):
            return True
        return any((spec.id, name) in self.hidden for name in names)

    def connected(self, provider: str) -> bool:
        """Whether a call to this provider has an account to use."""
        return provider in self.accounts


def accounts_of(
    connections: Iterable[Connection],
    settings: Settings,
    registry: Registry,
    pools: Mapping[str, ProxyPool] = {},
    proxy: Proxy | None = None,
) -> dict[str, tuple[Account, ...]]:
    """Active accounts by provider, and a stand-in for providers that need none and have none.

    ``proxy`` is that of accounts without one of their own.
    """
    by_provider: dict[str, list[Account]] = {}
    has_saved = set()
    for connection in connections:
        # The variable of an account that is set aside is gone, so nobody has switched it off.
        if not connection.data.get(SET_ASIDE):
            has_saved.add(connection.provider)
        if connection.is_active and not connection.broken:
            spec = registry.providers.get(connection.provider)
            by_provider.setdefault(connection.provider, []).append(
                account_of(connection, settings, pools, spec=spec, proxy=proxy)
            )
    for spec in registry.providers.values():
        # An account that is switched off or cannot be read must not turn into a call without one.
        if spec.id not in has_saved and is_keyless(spec, settings):
            by_provider[spec.id] = [public_account(spec, settings, proxy)]
    return {provider: tuple(accounts) for provider, accounts in by_provider.items()}


def account_of(
    connection: Connection,
    settings: Settings,
    pools: Mapping[str, ProxyPool] = {},
    *,
    spec: ProviderSpec | None = None,
    proxy: Proxy | None = None,
) -> Account:
    secrets, data = connection.secrets, connection.provider_data
    secret = secrets.get("apiKey") or secrets.get("accessToken")
    address = address_in(settings, spec)
    if address and (connection.data.get(SOURCE) == ENVIRONMENT or not data.get(BASE_URL)):
        data = {**data, BASE_URL: address}
    # Read-only: a plugin that could change its own account would change where it may send.
    shown = MappingProxyType(dict(data))
    login = spec.oauth if spec and connection.auth_type == "oauth" else None
    auth = None if login is None else login.auth
    return Account(
        id=connection.id,
        provider=connection.provider,
        name=connection.name or connection.id,
        credential=Credential(connection_id=connection.id, secret=secret, data=shown, auth=auth),
        proxy=proxy_of(data, pools, proxy),
        state=connection.data,
        is_login=login is not None,
    )


def address_in(settings: Settings, spec: ProviderSpec | None) -> str | None:
    """Where a setting says that a provider's server is; ``None`` where nothing is set."""
    trait = None if spec is None else traits().get(spec.base_url_setting or "")
    # Only settings that are addresses to call: a plugin may not read others by naming them.
    if trait is None or not trait.is_called:
        return None
    return getattr(settings, trait.field) or None


def is_keyless(spec: ProviderSpec, settings: Settings) -> bool:
    return (
        spec.auth.type in ("none", "optional") and spec.id not in settings.disabled_free_providers
    )


def public_account(spec: ProviderSpec, settings: Settings, proxy: Proxy | None = None) -> Account:
    identity, address = f"{spec.id}:{PUBLIC}", address_in(settings, spec)
    data = MappingProxyType({BASE_URL: address}) if address else {}
    return Account(
        id=identity,
        provider=spec.id,
        name=spec.name,
        credential=Credential(connection_id=identity, data=data),
        proxy=proxy,
    )


class ModelRows(Struct, frozen=True):
    """What ``ConfigSnapshot`` holds of models, under the same names."""

    models: Mapping[str, tuple[Model, ...]]
    hidden: frozenset[tuple[str, str]]
    shown: Mapping[str, frozenset[str]]


def models_of(
    registry: Registry,
    custom: Mapping[str, Any],
    disabled: Mapping[str, Any],
    enabled: Mapping[str, Any],
) -> ModelRows:
    """Rows by provider with the operator's own, and what is disabled.

    ``custom`` holds ``{provider: [row]}``, ``disabled`` and ``enabled`` hold
    ``{provider: [model id]}``; a non-empty ``enabled`` list hides all others.
    """
    rows: dict[str, tuple[Model, ...]] = {}
    hidden: set[tuple[str, str]] = set()
    shown: dict[str, frozenset[str]] = {}
    for spec in registry.providers.values():
        wire = registry.formats.get(spec.format)
        own = (
            custom_model({**row, "id": plain_id(wire, row["id"])})
            for row in custom.get(spec.id, ())
        )
        barred = {plain_id(wire, name).casefold() for name in disabled.get(spec.id, ())}
        allowed = {plain_id(wire, name).casefold() for name in enabled.get(spec.id, ())}
        hidden.update((spec.id, name) for name in barred)
        if allowed:
            shown[spec.id] = frozenset(allowed)
        rows[spec.id] = tuple(
            row
            for row in (*spec.models, *own)
            if (name := row.id.casefold()) not in barred and (not allowed or name in allowed)
        )
    return ModelRows(rows, frozenset(hidden), shown)


def plain_id(wire: WireFormat | None, name: str) -> str:
    """A model's id without what its vendor's format may write before it."""
    prefix = wire.model_prefix if wire is not None else ""
    while prefix and name.startswith(prefix):
        name = name.removeprefix(prefix)
    return name


def custom_model(row: Mapping[str, Any]) -> Model:
    """An operator's own row: ``id``, ``kind``, ``name`` and ``capabilities``."""
    able = row.get("capabilities") or {}
    return Model(
        str(row["id"]),
        name=row.get("name"),
        kind=read_kind(row.get("kind")),
        context=able.get("contextWindow"),
        max_output=able.get("maxOutput"),
        tools=able.get("tools"),
        reasoning=able.get("reasoning"),
        vision=able.get("vision"),
    )
