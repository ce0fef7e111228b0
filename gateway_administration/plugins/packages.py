"""What a plugin's package says about itself."""

from email.message import Message
from typing import cast

from msgspec import Struct

from gateway_core.plugins.discovery import Origin
from gateway_core.plugins.files import PluginFolder, docstring_of
from gateway_core.plugins.records import Plugin
from gateway_core.plugins.sources import distribution_of

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
    """What the metadata of a plugin's package says; of a single file, what its docstring does."""
    if plugin.origin is Origin.FILE and plugin.path:
        return Package(summary=docstring_of(plugin.path))
    name = plugin.distribution
    package = distribution_of(name, plugin.origin, folder) if name else None
    if package is None:
        return Package()
    metadata = cast(Message, package.metadata)
    homes = {}
    # https://packaging.python.org/en/latest/specifications/core-metadata/#project-url-multiple-use
    for line in metadata.get_all("Project-URL") or ():
        label, _, url = line.partition(",")
        homes[label.strip().lower()] = url.strip()
    homes["home page"] = metadata.get("Home-page", "")
    return Package(
        summary=metadata.get("Summary"),
        home=next((homes[name] for name in _HOMES if homes.get(name)), None),
        license=metadata.get("License-Expression") or metadata.get("License"),
        author=metadata.get("Author") or metadata.get("Author-email"),
        requires=tuple(package.requires or ()),
    )
