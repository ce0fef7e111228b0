"""Small config snapshots built by hand, for tests of look-ups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_core import Call, Credential, Kind, Model, ProviderSpec, Target, WireFormat
from gateway_core.config.settings import read_settings
from gateway_core.plugins.registry import Registry, with_providers
from gateway_core.routing.snapshot import Account, ConfigSnapshot
from gateway_core.storage.stores.combos import Combo


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def provider(id: str, *models: Model | str, **fields: Any) -> ProviderSpec:
    rows = tuple(Model(row) if isinstance(row, str) else row for row in models)
    return ProviderSpec(**{"id": id, "name": id.title(), "models": rows, **fields})


def target(spec: ProviderSpec | None = None, model: Model | str = "m") -> Target:
    return Target(spec or provider("acme"), Model(model) if isinstance(model, str) else model)


def account(id: str, provider: str = "acme", **fields: Any) -> Account:
    credential = Credential(connection_id=id, secret=f"secret of {id}")
    return Account(
        **{"id": id, "provider": provider, "name": id, "credential": credential, **fields}
    )


def combo(name: str, *models: str, **fields: Any) -> Combo:
    made = {"id": f"id of {name}", "created_at": "", "updated_at": ""}
    return Combo(**{**made, "name": name, "models": models, **fields})


def call(body: bytes = b"{}", members: Mapping[str, Any] = {}, **fields: Any) -> Call:
    usual = {"kind": Kind.LLM, "format": "plain", "model": "m", "stream": False}
    return Call(**{**usual, "body": body, "members": members, **fields})


def registry_of(specs: Sequence[ProviderSpec], nodes: Sequence[ProviderSpec] = ()) -> Registry:
    """Providers of plugins, and an operator's nodes after them."""
    names = {alias: spec.id for spec in specs for alias in (spec.alias, *spec.aliases) if alias}
    registry = Registry(
        providers={spec.id: spec for spec in specs},
        names={**names, **{spec.id: spec.id for spec in specs}},
        provider_plugins={spec.id: "a plugin" for spec in specs},
        formats=FORMATS,
    )
    return with_providers(registry, nodes) if nodes else registry


def snapshot_of(
    *specs: ProviderSpec,
    nodes: Sequence[ProviderSpec] = (),
    accounts: Sequence[Account] | None = None,
    combos: Sequence[Combo] = (),
    settings: Mapping[str, Any] = {},
    **fields: Any,
) -> ConfigSnapshot:
    """Every provider has one account, unless ``accounts`` is passed."""
    registry = registry_of(specs, nodes)
    if accounts is None:
        accounts = [account(f"{id}-1", id) for id in registry.providers]
    by_provider: dict[str, tuple[Account, ...]] = {}
    for each in accounts:
        by_provider[each.provider] = (*by_provider.get(each.provider, ()), each)
    usual = {
        "aliases": {},
        "models": {spec.id: spec.models for spec in registry.providers.values()},
        "hidden": frozenset(),
        "versions": {},
    }
    return ConfigSnapshot(
        registry=registry,
        settings=read_settings(settings),
        accounts=by_provider,
        combos={each.name: each for each in combos},
        **{**usual, **fields},
    )


class _Vendor:
    """A vendor side of a format that is never called."""

    def _never(self, *given: Any) -> Any:
        raise AssertionError("nobody is to be called here")

    write_request = read_reply = stream_reader = read_error = path = relay = _never


def _formats() -> dict[str, Any]:
    return {
        id: WireFormat(
            id=id,
            dialect=id,
            vendor=_Vendor(),
            plain_models=id == "gemini",
            model_in_body=id != "gemini",
            model_prefix="models/" if id == "gemini" else "",
        )
        for id in ("openai", "openai-responses", "claude", "gemini")
    }


FORMATS = _formats()
