"""Writes what is derived from the plugin folders of this repository: ``bundled.json`` of the
kernel, and the distribution ``model-gateway-all``, which installs every format and vendor.

    .venv/bin/python tools/bundled.py

Run it after a plugin folder is added or removed. It reads each folder's name from
``pyproject.toml``, asks the plugin for its formats and vendors, and puts the empty marker
``py.typed`` beside a module that has none.
"""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import msgspec

from gateway_core.plugins import load
from gateway_core.plugins.bundled import BundledDistribution
from gateway_core.plugins.registry import build

ROOT = Path(__file__).parents[1]
FILE = Path("gateway_core", "plugins", "bundled.json")
ALL = Path("distributions", "all", "pyproject.toml")
PROJECT = """\
# Written by tools/bundled.py.
[project]
name = "model-gateway-all"
version = "0.1.0"
description = "The model gateway with every wire format and every vendor"
requires-python = ">=3.11"
dependencies = [
    "model-gateway[fast]",
{plugins}
]

[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
bypass-selection = true
"""


class PluginFolder(NamedTuple):
    """A folder of a plugin: its distribution, its entry point and that entry point's module."""

    path: Path
    distribution: str
    plugin: str
    module: str


def folders(root: Path = ROOT) -> list[PluginFolder]:
    """Every plugin folder below ``plugins``."""
    plugins = []
    for file in sorted((root / "plugins").glob("*/*/pyproject.toml")):
        project = tomllib.loads(file.read_text("utf-8"))["project"]
        for plugin, module in project["entry-points"]["model_gateway"].items():
            plugins.append(PluginFolder(file.parent, project["name"], plugin, module))
    return plugins


def bundled(root: Path = ROOT) -> bytes:
    """The file's content."""
    plugins = folders(root)
    modules = {}
    for each in plugins:
        if str(each.path) not in sys.path:
            sys.path.append(str(each.path))  # a new folder is not installed yet
        modules[each.plugin] = import_module(each.module)
    registry = build(load(entry_points=False, extra=modules))
    document = {
        each.distribution: BundledDistribution(
            formats=tuple(id for id, of in registry.format_plugins.items() if of == each.plugin),
            providers=tuple(
                id for id, of in registry.provider_plugins.items() if of == each.plugin
            ),
        )
        for each in plugins
    }
    content = msgspec.json.encode(document, order="sorted")
    return msgspec.json.format(content, indent=1) + b"\n"


def everything(root: Path = ROOT) -> str:
    """The ``pyproject.toml`` of the distribution that installs all formats and vendors."""
    kinds = {"formats", "providers"}
    names = [each.distribution for each in folders(root) if each.path.parent.name in kinds]
    return PROJECT.format(plugins="\n".join(f'    "{name}",' for name in sorted(names)))


def write(root: Path = ROOT) -> None:
    """Write the files and the markers below ``root``."""
    for each in folders(root):
        (each.path / each.module.partition(".")[0] / "py.typed").touch()
    (root / FILE).write_bytes(bundled(root))
    (root / ALL).parent.mkdir(parents=True, exist_ok=True)
    (root / ALL).write_text(everything(root), "utf-8")
    print(f"wrote {FILE}, {ALL}")


if __name__ == "__main__":
    write()
