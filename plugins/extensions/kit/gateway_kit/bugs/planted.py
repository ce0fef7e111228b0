"""A bug as one replacement in a plugin's source."""

import shutil
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct


class PlantedBug(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``old`` occurs exactly once in ``file``, and ``new`` stands in its place."""

    name: str
    breaks: str
    """What goes wrong, in words."""
    old: str
    new: str
    append: str = ""
    """Put behind the whole file, for a bug that needs more than one place."""
    file: str = "__init__.py"
    """Below the plugin's folder."""


class _Table(Struct, frozen=True):
    bug: list[PlantedBug]


class NoSuchPlace(ValueError):
    """The text to be replaced is not there once. The message says how often."""


def read_bugs(table: Path) -> list[PlantedBug]:
    """The bugs of a TOML file with ``[[bug]]`` tables. Raises msgspec.ValidationError."""
    return msgspec.convert(tomllib.loads(table.read_text("utf-8")), _Table).bug


def plant(plugin: Path, bug: PlantedBug, into: Path) -> Path:
    """A copy of the plugin's folder, or file, with the bug in it. Raises NoSuchPlace."""
    copy = into / plugin.name
    if plugin.is_dir():
        # Modules beside the package, such as its dialect, are imported from where they were.
        shutil.copytree(plugin, copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        source = copy / bug.file
    else:
        source = Path(shutil.copy(plugin, copy))
    text = source.read_text("utf-8")
    if (count := text.count(bug.old)) != 1:
        raise NoSuchPlace(f"{bug.name}: what it replaces occurs {count} times")
    source.write_text(text.replace(bug.old, bug.new) + bug.append, "utf-8")
    return copy
