"""LiteLLM's ``config.yaml`` as a file of this gateway.

Each deployment becomes an account (or a node, where it has an address of its own), each group of
deployments a combo or an alias, each fallback a further member. What cannot be carried over is
listed by name. See https://docs.litellm.ai/docs/proxy/configs for what a file may have.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from .documents import Document
from .imported import Imported
from .litellm_vendors import ADDRESSED, MODES, PARAMETERS, vendor_of
from .references import variable_of
from .world import World

_ENVIRONMENT = re.compile(r"os\.environ/([A-Za-z_][A-Za-z0-9_]*)")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_TOKENS = 1_000_000
_RATES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cached",
    "cache_creation_input_token_cost": "cache_creation",
}
_CAPABILITIES = {
    "max_input_tokens": "contextWindow",
    "max_output_tokens": "maxOutput",
    "supports_function_calling": "tools",
    "supports_vision": "vision",
    "supports_reasoning": "reasoning",
}
ROTATION = "round-robin"
CHAT = "llm"


class Deployment(Struct, frozen=True, kw_only=True):
    """One entry of ``model_list``."""

    model: str
    """As this gateway names it: ``provider/model``."""
    kind: str
    account: str
    weight: float | None


class Import(Imported, kw_only=True):
    """What was read so far."""

    groups: dict[str, list[Deployment]] = field(default_factory=dict)
    accounts: dict[tuple[Any, ...], str] = field(default_factory=dict)
    """The names of accounts, by provider and everything that is in them."""


def import_litellm(world: World, document: Document) -> str:
    """The file as YAML, with what was left out as comments. Raises FileRefused, CallRefused."""
    source = document.value
    if not isinstance(source, dict) or not isinstance(source.get("model_list"), list):
        raise document.fault((), "a LiteLLM configuration has a model_list")
    result = Import()
    for place, entry in enumerate(source["model_list"]):
        _read_entry(world, result, document, place, entry)
    router = _mapping(source, "router_settings")
    settings = _mapping(source, "litellm_settings")
    fallbacks = _fallbacks(result, router, settings)
    names = _name_groups(result, fallbacks)
    _read_aliases(result, router, names)
    _list_rest(result, source)
    return result.text("a LiteLLM configuration")


def _mapping(source: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = source.get(name)
    return value if isinstance(value, dict) else {}


def _read_entry(world: World, result: Import, document: Document, place: int, entry: Any) -> None:
    path = ("model_list", place)
    parameters = entry.get("litellm_params") if isinstance(entry, dict) else None
    group = entry.get("model_name") if isinstance(entry, dict) else None
    if not isinstance(parameters, dict) or not isinstance(group, str):
        raise document.fault(path, "an entry has a model_name and litellm_params")
    model = parameters.get("model")
    if not isinstance(model, str) or not model:
        raise document.fault((*path, "litellm_params"), "litellm_params have a model")
    where = f"model_list[{place}] ({group})"
    if "*" in group or "*" in model:
        result.notes.append(f"{where}: wildcards; every model is called as provider/model anyway")
        return
    prefix, name = _split(parameters, model)
    vendor = vendor_of(prefix, world.vendors)
    if vendor is None and "api_base" not in parameters:
        result.notes.append(f"{where}: there is no provider for {prefix}")
        return
    provider, account = _read_account(result, where, vendor, prefix, parameters)
    info = _mapping(entry, "model_info")
    kind = _read_model(world, result, where, provider, name, parameters, info)
    full = f"{provider}/{name}"
    weight = parameters.get("weight")
    result.groups.setdefault(group, []).append(
        Deployment(
            model=full,
            kind=kind,
            account=f"{provider}/{account}",
            weight=weight if isinstance(weight, int | float) else None,
        )
    )


def _split(parameters: Mapping[str, Any], model: str) -> tuple[str, str]:
    """LiteLLM's provider and the model there."""
    custom = parameters.get("custom_llm_provider")
    prefix, slash, name = model.partition("/")
    if isinstance(custom, str):
        return custom, name if slash and prefix == custom else model
    if slash:
        return prefix, name
    return ("anthropic" if model.startswith("claude") else "openai"), model


def _read_account(
    result: Import, where: str, vendor: str | None, prefix: str, parameters: Mapping[str, Any]
) -> tuple[str, str]:
    """Add the account of an entry, unless it is there. Returns its provider and its name."""
    address = parameters.get("api_base") or parameters.get("base_url")
    data: dict[str, Any] = {}
    provider = vendor or ""
    if isinstance(address, str) and (vendor in (None, "openai") or prefix in ADDRESSED):
        provider = _add_node(result, prefix, address)
    elif isinstance(address, str):
        data[PARAMETERS.get(vendor or "", {}).get("api_base", "baseUrl")] = _text(result, address)
    for member, ours in PARAMETERS.get(vendor or "", {}).items():
        if member != "api_base" and isinstance(parameters.get(member), str):
            data[ours] = _text(result, parameters[member])
    key = parameters.get("api_key")
    key = key if isinstance(key, str) else None
    identity = (provider, key, tuple(sorted(data.items())))
    if identity not in result.accounts:
        taken = [name for (of, *_), name in result.accounts.items() if of == provider]
        name = "litellm" if not taken else f"litellm-{len(taken) + 1}"
        result.accounts[identity] = name
        fields: dict[str, Any] = {}
        if key:
            fields["apiKey"] = _secret(result, where, provider, name, key)
        elif provider == vendor:
            result.notes.append(f"{where}: no api_key; the account {provider}/{name} needs one")
            fields["apiKey"] = result.variable(variable_of(provider, name, "apiKey"), where)
        for member, value in _hidden_literals(data):
            data[member] = _secret(result, where, provider, f"{name} {member}", value)
        if data:
            fields["providerSpecificData"] = data
        result.put(fields, "connections", provider, name)
    return provider, result.accounts[identity]


def _hidden_literals(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    secret = ("secret", "token", "credentials", "serviceaccount")
    return [
        (member, value)
        for member, value in data.items()
        if any(word in member.lower() for word in secret) and not value.startswith("${")
    ]


def _add_node(result: Import, prefix: str, address: str) -> str:
    """The prefix of the node at an address."""
    url = _text(result, address)
    nodes = result.tree.setdefault("nodes", {})
    for name, node in nodes.items():
        if node["baseUrl"] == url:
            return str(name)
    host = (urlsplit(address).hostname or "") if "://" in address else ""
    base = _NOT_IN_NAMES.sub("-", f"{prefix}-{host}".lower()).strip("-.")[:48] or "node"
    name = base if base not in nodes else f"{base}-{len(nodes) + 1}"
    nodes[name] = {"name": host or name, "type": "openai-compatible", "baseUrl": url}
    return name


def _text(result: Import, text: str) -> str:
    """Text with LiteLLM's reference as one of ours."""
    match = _ENVIRONMENT.fullmatch(text)
    if match is None:
        return text.replace("${", "$${")
    return result.variable(match[1], "as before")


def _secret(result: Import, where: str, provider: str, name: str, value: str) -> str:
    if value.startswith("${"):
        return value
    if _ENVIRONMENT.fullmatch(value):
        return _text(result, value)
    variable = variable_of(provider, name, "apiKey")
    result.notes.append(f"{where}: a secret was written in clear; put it into {variable}")
    return result.variable(variable, f"{provider}/{name}")


def _read_model(
    world: World,
    result: Import,
    where: str,
    provider: str,
    name: str,
    parameters: Mapping[str, Any],
    info: Mapping[str, Any],
) -> str:
    """Add what is known of a model: abilities, prices and limits of time. Returns its kind."""
    facts = {**parameters, **info}
    mode = info.get("mode", "chat")
    kind = MODES.get(mode) if isinstance(mode, str) else None
    if kind is None:
        result.notes.append(f"{where}: model_info.mode {mode}; the model is taken for chat")
        kind = CHAT
    capabilities = {
        ours: facts[theirs]
        for theirs, ours in _CAPABILITIES.items()
        if isinstance(facts.get(theirs), bool if theirs.startswith("supports") else int)
    }
    if (provider, name, kind) not in world.models or capabilities:
        fields = {"capabilities": capabilities} if capabilities else {}
        result.put(fields, "customModels", provider, kind, name)
    rates = {
        ours: round(float(facts[theirs]) * _TOKENS, 6)
        for theirs, ours in _RATES.items()
        if isinstance(facts.get(theirs), int | float)
    }
    if rates:
        # What LiteLLM has no price for costs nothing there; here both have to be named.
        rates = {"input": 0, "output": 0, **rates}
        result.put(rates, "prices", provider, name)
    timeout = parameters.get("timeout")
    if isinstance(timeout, int | float) and timeout > 0:
        limits = {"timeoutMs": int(timeout * 1000)}
        result.put(limits, "settings", "modelTimeouts", f"{provider}/{name}")
    read = {"model", "api_key", "api_base", "base_url", "weight", "timeout", "custom_llm_provider"}
    read |= {*PARAMETERS.get(provider, {}), *_RATES, *_CAPABILITIES, "mode", "id"}
    left = sorted(set(parameters) | {f"model_info.{each}" for each in info if each not in read})
    left = [each for each in left if each not in read]
    if left:
        result.notes.append(f"{where}: {', '.join(left)}")
    return kind


def _fallbacks(
    result: Import, router: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, list[str]]:
    """What each group falls back to."""
    found: dict[str, list[str]] = {}
    for title, part in (("router_settings", router), ("litellm_settings", settings)):
        entries = part.get("fallbacks")
        for entry in entries if isinstance(entries, list) else ():
            for group, others in entry.items() if isinstance(entry, dict) else ():
                if group == "*" or not isinstance(others, list):
                    result.notes.append(f"{title}.fallbacks of {group}")
                    continue
                listed = found.setdefault(group, [])
                listed.extend(each for each in others if isinstance(each, str))
    return found


def _name_groups(result: Import, fallbacks: Mapping[str, list[str]]) -> dict[str, str]:
    """Make a combo of each group. Returns the name of each."""
    names = {group: _combo_name(result, group) for group in result.groups}
    for group in (each for each in fallbacks if each not in names):
        result.notes.append(f"fallbacks of {group}, which is not in the model_list")
    for group, deployments in result.groups.items():
        others = [names[each] for each in fallbacks.get(group, ()) if each in names]
        for missing in (each for each in fallbacks.get(group, ()) if each not in names):
            result.notes.append(f"the fallback of {group} to {missing}")
        models = list(dict.fromkeys(each.model for each in deployments))
        pool = names[group] if not others else f"{names[group]}-pool"
        combo = _combo(result, deployments, models)
        if others and len(models) == 1 and len(combo) == 1:
            result.put({"models": [*models, *others]}, "combos", names[group])
            continue
        result.put(combo, "combos", pool)
        if len(models) > 1:
            strategy = "weighted" if "members" in combo else ROTATION
            result.put({"fallbackStrategy": strategy}, "settings", "comboStrategies", pool)
        if others:
            kind = {"kind": combo["kind"]} if "kind" in combo else {}
            result.put({"models": [pool, *others], **kind}, "combos", names[group])
    return names


def _combo_name(result: Import, group: str) -> str:
    name = _NOT_IN_NAMES.sub("-", group).strip("-") or "group"
    if name != group:
        result.notes.append(f"{group} is called {name}: other characters have a meaning in names")
    return name


def _combo(result: Import, deployments: Iterable[Deployment], models: list[str]) -> dict[str, Any]:
    listed = list(deployments)
    combo: dict[str, Any] = {"models": models}
    if listed[0].kind != CHAT:
        combo["kind"] = listed[0].kind
    weights = {each.model: each.weight for each in listed if each.weight is not None}
    if weights and len(models) > 1:
        combo["members"] = [{"model": each, "weight": weights.get(each, 1)} for each in models]
    accounts = list(dict.fromkeys(each.account for each in listed))
    providers = {each.partition("/")[0] for each in accounts}
    everyone = {f"{of}/{name}" for (of, *_), name in result.accounts.items() if of in providers}
    if everyone != set(accounts):
        combo["allowedConnections"] = accounts
    return combo


def _read_aliases(result: Import, router: Mapping[str, Any], names: Mapping[str, str]) -> None:
    for alias, target in _mapping(router, "model_group_alias").items():
        group = target.get("model") if isinstance(target, dict) else target
        combo = names.get(group) if isinstance(group, str) else None
        if combo is None or "/" in alias or " " in alias or alias in names.values():
            result.notes.append(f"router_settings.model_group_alias.{alias}")
            continue
        result.put(combo, "aliases", alias)


def _list_rest(result: Import, source: Mapping[str, Any]) -> None:
    """List by name what nothing was made of."""
    read = {"model_list", "router_settings.fallbacks", "router_settings.model_group_alias"}
    read |= {"litellm_settings.fallbacks", "general_settings.master_key"}
    if "master_key" in _mapping(source, "general_settings"):
        result.notes.append(
            "general_settings.master_key: make gateway keys in their own right (section keys)"
        )
    result.notes.extend(name for name in _names(source) if name not in read)


def _names(source: Mapping[str, Any]) -> Iterator[str]:
    for name, value in source.items():
        if name.endswith("_settings") and isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name
