"""A 9router export (its database as JSON) as a file of this gateway.

The shape is that of ``exportDb`` in https://github.com/decolua/9router (``src/lib/db/index.js``):
lists of accounts, nodes, proxy pools, keys, combos and custom models, and tables of aliases and
prices. The two gateways have most words in common; what cannot be carried over is listed by name.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core.storage.stores.secret_members import is_secret

from .documents import Document
from .id_collections import DATA, POOL, Connections
from .imported import Imported
from .references import variable_of, without_secrets
from .sections import SECTIONS
from .world import World

KEYED = ("apikey", "cookie", "none")
CARRIED = ("isActive", "priority", "globalPriority", "defaultModel")
RATES = ("input", "output", "cached", "reasoning", "cache_creation")
SETTINGS = (
    *("fallbackStrategy", "stickyRoundRobinLimit", "providerStrategies", "comboStrategy"),
    *("comboStrategies", "comboStickyRoundRobinLimit", "requireApiKey"),
)
LISTS = ("providerNodes", "proxyPools", "providerConnections", "combos", "customModels", "apiKeys")
TABLES = ("modelAliases", "pricing", "settings")
Row = Mapping[str, Any]


def import_9router(world: World, document: Document) -> str:
    """The file as YAML, with what was left out as comments. Raises FileRefused, CallRefused."""
    source = document.value
    if not isinstance(source, dict) or not isinstance(source.get("providerConnections"), list):
        raise document.fault((), "a 9router export has providerConnections")
    result = Imported()
    nodes = _nodes(result, _rows(source, "providerNodes"))
    pools = _proxies(result, _rows(source, "proxyPools"))
    for row in _rows(source, "providerConnections"):
        _connection(world, result, row, nodes, pools)
    for row in _rows(source, "customModels"):
        _custom_model(world, result, row, nodes)
    _names(world, result, source, nodes)
    _prices(world, result, _table(source, "pricing"), nodes)
    _settings(world, result, _table(source, "settings"))
    for row in _rows(source, "apiKeys"):
        result.put({"isActive": row.get("isActive") is not False}, "keys", _name(row))
        result.notes.append(f"the text of the key {_name(row)}: the gateway makes a new one")
    result.notes.extend(each for each, value in source.items() if value and each not in _READ)
    return result.text("a 9router export")


_READ = (*LISTS, *TABLES)


def _rows(source: Row, name: str) -> list[Row]:
    value = source.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _table(source: Row, name: str) -> Row:
    value = source.get(name)
    return value if isinstance(value, dict) else {}


def _name(row: Row) -> str:
    return str(row.get("name") or row.get("email") or row.get("id"))


def _nodes(result: Imported, rows: list[Row]) -> dict[str, str]:
    """Add the nodes. Returns their prefixes by id."""
    prefixes = {}
    for row in rows:
        prefix = row.get("prefix")
        if not isinstance(prefix, str) or not prefix:
            result.notes.append(f"the node {_name(row)}, which has no prefix")
            continue
        prefixes[str(row.get("id"))] = prefix
        fields = {
            member: row[member]
            for member in ("name", "type", "apiType", "baseUrl")
            if isinstance(row.get(member), str)
        }
        result.put(without_secrets(fields, ("nodes", prefix), result.variables), "nodes", prefix)
    return prefixes


def _proxies(result: Imported, rows: list[Row]) -> dict[str, str]:
    """Add the proxies that this gateway can call through. Returns their names by id."""
    names = {}
    for row in rows:
        if row.get("type", "http") not in ("http", "socks5"):
            result.notes.append(f"the proxy {_name(row)} of type {row['type']}")
            continue
        names[str(row.get("id"))] = _name(row)
        members = ("proxyUrl", "noProxy", "isActive", "strictProxy")
        fields = {member: row[member] for member in members if row.get(member) is not None}
        written = without_secrets(fields, ("proxies", _name(row)), result.variables)
        result.put(written, "proxies", _name(row))
    return names


def _provider(world: World, name: Any, nodes: Mapping[str, str]) -> str | None:
    """What this gateway calls a provider; ``None`` for one that it does not know."""
    found = nodes.get(str(name)) or world.provider_name(str(name))
    known = found in world.vendors or found in nodes.values()
    return found if known else None


def _connection(
    world: World,
    result: Imported,
    row: Row,
    nodes: Mapping[str, str],
    pools: Mapping[str, str],
) -> None:
    provider, title = _provider(world, row.get("provider"), nodes), _name(row)
    where = f"the account {row.get('provider')}/{title}"
    if provider is None or row.get("authType") not in KEYED:
        reason = "no such provider" if provider is None else "a person has to log in again"
        result.notes.append(f"{where}: {reason}")
        return
    there = result.tree.get("connections", {}).get(provider, {})
    name = title if title not in there else f"{title} {row.get('id')}"
    fields = {member: row[member] for member in CARRIED if row.get(member) is not None}
    data = {**_table(row, DATA)}
    pool = str(data.pop(POOL, None))
    if pool in pools:
        fields["proxyPool"] = pools[pool]
    if provider in nodes.values():
        data = {each: value for each, value in data.items() if each not in Connections.copied}
    fields |= {each: data.pop(each) for each in Connections.lifted if data.get(each) is not None}
    secret = {each: value for each, value in data.items() if is_secret(each)}
    if plain := {each: value for each, value in data.items() if each not in secret}:
        fields[DATA] = plain
    fields = without_secrets(fields, (provider, name), result.variables)
    if row.get("apiKey"):
        variable = variable_of(provider, name, "apiKey")
        fields["apiKey"] = result.variable(variable, f"{provider}/{name}")
    for each in secret:
        variable = variable_of(provider, name, each)
        fields.setdefault(DATA, {})[each] = result.variable(variable, f"{provider}/{name}")
    result.put(fields, "connections", provider, name)


def _custom_model(world: World, result: Imported, row: Row, nodes: Mapping[str, str]) -> None:
    provider, id_ = _provider(world, row.get("providerAlias"), nodes), row.get("id")
    if provider is None or not isinstance(id_, str):
        result.notes.append(f"the custom model {row.get('providerAlias')}/{id_}")
        return
    named = isinstance(row.get("name"), str) and row["name"] != id_
    fields = {"name": row["name"]} if named else {}
    result.put(fields, "customModels", provider, str(row.get("type") or "llm"), id_)


def _names(world: World, result: Imported, source: Row, nodes: Mapping[str, str]) -> None:
    """Add combos and aliases, without members that this gateway could not resolve."""
    combos = {_name(row): row for row in _rows(source, "combos")}
    aliases = {
        alias: _renamed(world, model, nodes)
        for alias, model in _table(source, "modelAliases").items()
        if isinstance(model, str)
    }
    for alias, model in aliases.items():
        if model is None or alias in combos or "/" in alias or " " in alias:
            result.notes.append(f"the alias {alias}")
        else:
            result.put(model, "aliases", alias)
    for name, row in combos.items():
        models = []
        listed = row.get("models")
        for member in map(str, listed if isinstance(listed, list) else ()):
            is_name = member in combos or member in result.tree.get("aliases", {})
            model = member if is_name else _renamed(world, member, nodes)
            if model is None:
                result.notes.append(f"the member {member} of the combo {name}")
            else:
                models.append(model)
        kind = {"kind": row["kind"]} if isinstance(row.get("kind"), str) else {}
        result.put({"models": list(dict.fromkeys(models)), **kind}, "combos", name)


def _renamed(world: World, model: Any, nodes: Mapping[str, str]) -> str | None:
    """A model with its provider as this gateway has it; ``None`` where there is none."""
    if not isinstance(model, str):
        return None
    prefix, slash, name = model.partition("/")
    provider = _provider(world, prefix, nodes) if slash else None
    return None if provider is None else f"{provider}/{name}"


def _prices(world: World, result: Imported, table: Row, nodes: Mapping[str, str]) -> None:
    for name in table:
        provider = _provider(world, name, nodes)
        if provider is None:
            result.notes.append(f"the prices of {name}")
            continue
        for model, rates in _table(table, name).items():
            known = {rate: rates[rate] for rate in RATES if rate in rates}
            result.put({"input": 0, "output": 0, **known}, "prices", provider, model)


def _settings(world: World, result: Imported, table: Row) -> None:
    from jsonschema import Draft202012Validator  # slow to import; see plan.py

    schema = SECTIONS["settings"].schema(world, new=False) or {}
    whole = {**schema, "components": world.document["components"]}
    for name, value in table.items():
        is_known = name in SETTINGS and value is not None
        if is_known and Draft202012Validator(whole).is_valid({name: value}):
            result.put(value, "settings", name)
        else:
            result.notes.append(f"settings.{name}")
