"""What there is to know about a plugin, for the operator: one line of it, or the whole sheet."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from gateway_core.contracts.provider import ProviderSpec
from gateway_core.plugins.discovery import Origin
from gateway_core.plugins.files import FileDamaged, PluginFolder
from gateway_core.plugins.records import Plugin, Problem, State
from gateway_core.plugins.registry import Registry
from gateway_core.plugins.setting_fields import SettingField
from gateway_core.plugins.settings import PluginSettings
from gateway_core.plugins.switches import disabled

from .packages import Package, package_of
from .tiers import Tier, current_digest, tier_of


class PluginTrouble(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is wrong with a plugin."""

    message: str
    fatal: bool
    """True when the plugin's own code failed."""
    advice: str
    """What to do about it."""


class Row(Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin in a list."""

    name: str
    version: str | None
    distribution: str | None
    """The package that brings it; ``None`` for a file, and for what was handed over."""
    origin: Origin
    state: State
    enabled: bool
    """False when it is switched off from the next start on."""
    tier: Tier
    """How much the conformance kit has seen these very files do well."""
    protocol: int
    """Which version of the hook protocol it speaks."""
    brings: tuple[str, ...]
    """``format ID`` for each wire format, then the ids of its providers."""
    seconds: float
    """How long its import took."""
    problems: tuple[PluginTrouble, ...]


class Sheet(Row, frozen=True, kw_only=True, rename="camel"):
    """Everything about one plugin."""

    module: str
    path: str | None
    package: Package
    """What its package says about itself."""
    hooks: tuple[str, ...]
    formats: tuple[str, ...]
    providers: tuple[str, ...]
    hosts: tuple[str, ...]
    """What its providers declare that they call; an account may name further ones."""
    variables: tuple[str, ...]
    """Process variables that its providers take keys from."""
    settings: tuple[SettingField, ...]
    digest: str
    """SHA-256 over its files; empty where it has none."""


def rows(registry: Registry, folder: PluginFolder, off: frozenset[str] | None = None) -> list[Row]:
    """Every plugin that was found, in the order of loading. ``off`` are switched off.

    Raises FileDamaged when that has to be read.
    """
    off = disabled(folder) if off is None else off
    return [Row(**_row(plugin, registry, folder, off)) for plugin in registry.plugins]


def sheet(
    registry: Registry,
    settings: PluginSettings,
    folder: PluginFolder,
    name: str,
    off: frozenset[str] | None = None,
) -> Sheet | None:
    """Everything about the plugin of this name; of two, the one that has the name.

    ``off`` are switched off. Raises FileDamaged when that has to be read.
    """
    plugin = next((plugin for plugin in registry.plugins if plugin.name == name), None)
    if plugin is None:
        return None
    providers = _owned(registry.provider_plugins, plugin)
    specs = [registry.providers[id] for id in providers]
    return Sheet(
        **_row(plugin, registry, folder, disabled(folder) if off is None else off),
        module=plugin.module,
        path=plugin.path,
        package=package_of(plugin, folder),
        hooks=plugin.hooks,
        formats=_owned(registry.format_plugins, plugin),
        providers=providers,
        hosts=tuple(sorted({host for spec in specs for host in hosts_of(spec)})),
        variables=tuple(dict.fromkeys(name for spec in specs for name in spec.environment)),
        settings=settings.fields(name),
        digest=current_digest(plugin),
    )


def hosts_of(spec: ProviderSpec) -> Iterator[str]:
    """The hosts a provider declares, with a port where one is named."""
    urls = [spec.base_url, *spec.base_urls, spec.responses_url, spec.models_url]
    if (login := spec.oauth) is not None:
        urls += (login.authorize_url, login.token_url, login.device_url, login.revoke_url)
    for url in (*urls, *spec.other_formats.values()):
        if url and (host := urlsplit(url).netloc.rpartition("@")[2]):
            yield host
    yield from spec.hosts


def nearest(name: str, known: Iterable[str], what: str = "plugin") -> str:
    """A sentence that says there is no such plugin, with names that look alike."""
    alike = get_close_matches(name, sorted(set(known)), n=3)
    hint = f" Did you mean {' or '.join(alike)}?" if alike else ""
    return f"There is no {what} {name!r}.{hint}"


def trouble(problem: Problem, file: str | None = None) -> PluginTrouble:
    """A problem with what to do about it; ``file`` is that of a plugin in one."""
    name, message, advice = quote(problem.plugin), problem.message, problem.advice
    if advice:
        pass
    elif any(f"{word} 'gateway_core" in message for word in ("from", "No module named")):
        advice = f"This says what it lacks here: model-gateway plugins check {name}"
    elif "No module named" in message:
        advice = "Install what it needs, with: model-gateway plugins install"
    elif "cannot be looked through" in message:
        advice = "See that the gateway may read it; everything else is served."
    elif "did not finish within" in message:
        advice = "Disable it, or raise GATEWAY_PLUGIN_TIMEOUT_MS if its import only takes long."
    elif problem.fatal:
        better = f"Mend {file}" if file else "Install a version that works"
        advice = f"{better}, or: model-gateway plugins disable {name}"
    else:
        author = f"Mend {file}" if file else "Tell whoever wrote it"
        advice = f"{author}; whatever else it brings is served."
    return PluginTrouble(message=message, fatal=problem.fatal, advice=advice)


def others(registry: Registry) -> list[tuple[str, PluginTrouble]]:
    """What is wrong with no plugin that was found, with the name of what it is about."""
    names = {plugin.name for plugin in registry.plugins}
    return [(each.plugin, trouble(each)) for each in registry.problems if each.plugin not in names]


def file_of(plugin: Plugin | None) -> str | None:
    """The file of a plugin that is one."""
    return plugin.path if plugin and plugin.origin is Origin.FILE else None


def _row(
    plugin: Plugin, registry: Registry, folder: PluginFolder, off: frozenset[str]
) -> dict[str, Any]:
    formats = (f"format {id}" for id in _owned(registry.format_plugins, plugin))
    return {
        "name": plugin.name,
        "version": plugin.version,
        "distribution": plugin.distribution,
        "origin": plugin.origin,
        "state": plugin.state,
        "enabled": plugin.name not in off,
        "tier": tier_of(plugin, folder),
        "protocol": plugin.protocol,
        "brings": (*formats, *_owned(registry.provider_plugins, plugin)),
        "seconds": round(plugin.seconds, 3),
        "problems": tuple(
            trouble(p, file_of(plugin)) for p in registry.problems if p.plugin == plugin.name
        ),
    }


def switched_off(folder: PluginFolder) -> frozenset[str]:
    """The names that are switched off; none where that cannot be read, which loading reports."""
    try:
        return disabled(folder)
    except FileDamaged:
        return frozenset()


def _owned(owners: Mapping[str, str], plugin: Plugin) -> tuple[str, ...]:
    """Of two plugins of one name only the loaded one owns anything."""
    if plugin.state is not State.LOADED:
        return ()
    return tuple(id for id, owner in owners.items() if owner == plugin.name)
