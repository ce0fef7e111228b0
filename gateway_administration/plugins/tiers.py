"""The tier of a plugin: how much the conformance kit has seen it do well, with these very files.

```text
failing     something was seen to fail that even bronze needs
bronze      it is accepted, soundly declared and imported in peace
silver      and whatever it is asked or tells in good health is right
gold        and so it is when anything breaks, is torn or is spelled oddly
platinum    and the real vendor has been asked
unchecked   nothing is known of these files
```

Results are kept by the kit, in ``DATA_DIR/plugins/conformance.json``; those of
the plugins that come with the gateway are a file of this package. A result speaks of
a digest of files, so that none outlives a change of them and no plugin can
give itself a tier.
"""

import pkgutil
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from gateway_core.plugins.files import FileDamaged, PluginFolder, digest_of

if TYPE_CHECKING:
    from gateway_core.plugins.records import Plugin

FILE = "conformance.json"


class Tier(StrEnum):
    """From nothing to all."""

    UNCHECKED = "unchecked"
    FAILING = "failing"
    BRONZE = "bronze"
    SILVER = "silver"
    GOLD = "gold"
    PLATINUM = "platinum"


class Result(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the kit found about one plugin."""

    digest: str
    """Of the plugin's files, as they were then."""
    tier: Tier
    protocol: int
    """Version of the hook protocol that the plugin speaks."""
    kit: str
    """Version of the gateway whose kit it was."""
    cases: int
    failed: int
    seconds: float
    """How long the cases took."""
    live: bool = False
    """Whether the real vendor was asked, and answered well."""
    checked_at: str = ""
    """UTC, ISO 8601."""
    expected: int = 0
    """How many cases failed as its author said they would."""
    clients: tuple[str, ...] = ()
    """The client formats that its vendors were called in."""
    lacks: tuple[str, ...] = ()
    """What its author says that it has nothing of: no case asked for it."""


class Document(Struct, frozen=True):
    """A file of results, by plugin name."""

    plugins: Mapping[str, Result] = {}


def tier_of(plugin: "Plugin", folder: PluginFolder) -> Tier:
    """The tier of a plugin as its files are now."""
    result = result_of(plugin, folder)
    return Tier.UNCHECKED if result is None else result.tier


def result_of(plugin: "Plugin", folder: PluginFolder) -> Result | None:
    """What is known of the plugin's files as they are now; this installation's own word first."""
    known = (each.get(plugin.name) for each in (recorded(folder), shipped()))
    results = [result for result in known if result is not None]
    if not results:
        return None
    digest = plugin.digest or current_digest(plugin)
    return next((each for each in results if digest and each.digest == digest), None)


def recorded(folder: PluginFolder) -> Mapping[str, Result]:
    """What the kit found in this installation; nothing where that cannot be read."""
    try:
        return msgspec.convert(folder.read_json(FILE) or {}, Document).plugins
    except (FileDamaged, msgspec.ValidationError):
        return {}


@cache
def shipped() -> Mapping[str, Result]:
    """What is known of the plugins that come with the gateway."""
    content = pkgutil.get_data(__package__, FILE)
    return msgspec.json.decode(content or b"{}", type=Document).plugins


def current_digest(plugin: "Plugin") -> str:
    """Of the plugin's files; empty where there are none, or they cannot be read."""
    try:
        return digest_of(plugin)
    except OSError:
        return ""
