"""What a plugin's package says about itself."""

from email.message import Message
from importlib.metadata import Distribution
from typing import cast

from msgspec import Struct

from .discovery import Origin
from .files import PluginFolder, docstring_of
from .records import Plugin
from .sources import distribution_of

_HOMES = ("home page", "homepage", "home", "repository", "source", "source code", "documentation")
"""What projects call the address that people should look at, the best first."""


class Package(Struct, frozen=True, kw_only=True, rename="camel"):
    """A package's own words. A plugin in one file has only its docstring's first line."""

    summary: str | None = None
    home: str | None = None
    """An address to read more at."""
    license: str | None = None
    author: str | None = None
    requires: tuple[str, ...] = ()
    """What it needs, as its metadata has it."""


def package_of(plugin: Plugin, folder: PluginFolder) -> Package:
    if plugin.origin is Origin.FILE and plugin.path:
        return Package(summary=docstring_of(plugin.path))
    found = None
    if plugin.distribution:
        found = distribution_of(plugin.distribution, plugin.origin, folder)
    return Package() if found is None else _describe(found)


def _describe(package: Distribution) -> Package:
    metadata = cast(Message, package.metadata)
    named = dict(_address(line) for line in metadata.get_all("Project-URL") or ())
    named["home page"] = metadata.get("Home-page", "")
    return Package(
        summary=metadata.get("Summary"),
        home=next((named[name] for name in _HOMES if named.get(name)), None),
        license=metadata.get("License-Expression") or metadata.get("License"),
        author=metadata.get("Author") or metadata.get("Author-email"),
        requires=tuple(package.requires or ()),
    )


def _address(line: str) -> tuple[str, str]:
    name, _, url = line.partition(",")
    return name.strip().lower(), url.strip()
