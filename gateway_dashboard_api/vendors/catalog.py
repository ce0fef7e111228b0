"""Every vendor that the gateway knows, as a gallery shows it."""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import OAuth, ProviderSpec
from gateway_core.plugins import bundled
from gateway_core.plugins.registry import Registry
from gateway_core.routing.model_resolver import serves_chat

from ..admin_context import AdminContext
from .account_schema import account_schema

_LINK = re.compile(r"https?://[^\s<>()]+[^\s<>().,;:]")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Vendor(Struct, frozen=True, kw_only=True, rename="camel"):
    """A vendor. Of one whose plugin is not loaded no more is known than its id and its package."""

    id: str
    name: str
    installed: bool
    """False where its plugin is not installed, or did not load."""
    distribution: str | None
    """The package that brings it."""
    plugin: str | None
    alias: str | None = None
    aliases: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """What it can be asked for: ``llm`` for chat, ``embedding``, ``image`` and so on."""
    formats: tuple[str, ...] = ()
    """The wire formats it speaks, its usual one first."""
    auth_type: str = "apikey"
    """``apikey``, ``optional`` (a key may be saved), ``none``, ``cookie`` or ``oauth``."""
    has_oauth: bool = False
    login_flows: tuple[str, ...] = ()
    """How a person may sign in: ``browser``, ``code`` (which is typed in), both or neither."""
    has_web_login: bool = False
    is_free: bool = False
    is_local: bool = False
    """Its usual address is on the gateway's own machine."""
    keys_url: str | None = None
    """Where a person makes a key."""
    docs_url: str | None = None
    variables: tuple[str, ...] = ()
    """Process variables that make an account when the gateway starts."""
    models: int = 0
    """How many models are known."""
    accounts: int = 0
    """How many accounts are stored, switched off or not."""
    connected: bool = False
    """Whether it can be called now."""
    account_schema: Mapping[str, Any] = {}
    """JSON Schema of an account's ``providerSpecificData``."""


async def list_vendors(admin: AdminContext) -> tuple[Vendor, ...]:
    """Return every vendor, by name; nodes are the operator's own and no vendors."""
    accounts = Counter(each.provider for each in await admin.stores.connections.list())
    providers = admin.snapshot.registry.providers
    known = [
        describe(admin, spec, accounts[spec.id]) for spec in providers.values() if not spec.is_node
    ]
    absent = _absent(providers)
    return tuple(sorted((*known, *absent), key=lambda row: (row.name.casefold(), row.id)))


def describe(admin: AdminContext, spec: ProviderSpec, accounts: int) -> Vendor:
    snapshot = admin.snapshot
    registry = snapshot.registry
    plugin = registry.provider_plugins.get(spec.id)
    record = next((each for each in registry.plugins if each.name == plugin), None)
    chat = (str(Kind.LLM),) if serves_chat(snapshot, spec) else ()
    others = (str(each.kind) for each in spec.services if not each.is_assumed)
    return Vendor(
        id=spec.id,
        name=spec.name,
        installed=True,
        distribution=None if record is None else record.distribution,
        plugin=plugin,
        alias=spec.alias,
        aliases=spec.aliases,
        kinds=tuple(dict.fromkeys((*chat, *others))),
        formats=(spec.format, *spec.further_formats()),
        auth_type=spec.auth.type or ("oauth" if spec.oauth else "apikey"),
        has_oauth=spec.oauth is not None,
        login_flows=() if spec.oauth is None else login_flows(spec.oauth),
        has_web_login=spec.web_login is not None,
        is_free=spec.free,
        is_local=urlsplit(spec.base_url or "").hostname in _HERE,
        keys_url=spec.keys_url,
        docs_url=_docs_url(registry, plugin),
        variables=(*spec.environment, *spec.environment_data),
        models=len(snapshot.models.get(spec.id, spec.models)),
        accounts=accounts,
        connected=snapshot.connected(spec.id),
        account_schema=account_schema(spec),
    )


def login_flows(login: OAuth) -> tuple[str, ...]:
    browser = () if login.flow == "device" else ("browser",)
    return browser if login.device_url is None else (*browser, "code")


def _docs_url(registry: Registry, plugin: str | None) -> str | None:
    """Return the first link of a plugin's docstring, which is its vendor's reference."""
    module = next((each.module for each in registry.plugins if each.name == plugin), "")
    text = getattr(sys.modules.get(module), "__doc__", None)
    link = _LINK.search(text) if isinstance(text, str) else None
    return None if link is None else link.group()


def _absent(providers: Mapping[str, ProviderSpec]) -> Iterator[Vendor]:
    """Bundled vendors whose plugins are not loaded."""
    for distribution, brings in bundled.distributions().items():
        for id in brings.providers:
            if id not in providers:
                yield Vendor(
                    id=id, name=id, installed=False, distribution=distribution, plugin=None
                )
