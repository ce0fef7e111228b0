"""Finding a plugin by its name, module, file or folder."""

import importlib
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gateway_administration.plugins.about import nearest
from gateway_core.plugins.discovery import GROUP, Found, Origin
from gateway_core.plugins.files import PluginFolder
from gateway_core.plugins.sources import dropins
from gateway_core.plugins.sources import find as find_all


class NotFound(LookupError):
    """There is no such plugin. The message says what was looked for."""


def find(plugin: str, folder: PluginFolder | None = None) -> Found:
    """A plugin that is installed, in ``folder`` or at a path. Raises NotFound."""
    path = Path(plugin)
    if path.is_file() and path.name in ("__init__.py", "pyproject.toml"):
        path = path.parent
    if path.suffix == ".py" and path.is_file():
        # A file that could be dropped into the folder of plugins.
        home = PluginFolder(path.resolve().parent)
        dropin = next((each for each in dropins(home) if each.path == path.resolve()), None)
        if dropin is None:
            raise NotFound(f"{path} is no plugin: its name begins with an underscore or a dot.")
        return dropin
    if path.is_dir() and (len(path.parts) > 1 or not find_spec_of(plugin)):
        return _find_folder(path)
    known = find_all(lambda name, message: None, folder=folder)
    for each in known:
        if plugin in (each.name, each.module):
            return each
    # A bundled plugin's entry point is named by what it is: ``extension-valkey``. It is meant even
    # where a library of the short name can be imported.
    ends = [each for each in known if each.name.endswith(f"-{plugin}")]
    if len(ends) == 1:
        return ends[0]
    try:
        is_there = find_spec(plugin) is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        names = (each.name for each in known)
        raise NotFound(nearest(plugin, names, "plugin, module, file or folder"))
    return _of_module(plugin, plugin)


def find_spec_of(module: str) -> bool:
    """Whether a module of this name can be imported."""
    try:
        return module.isidentifier() and find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _find_folder(path: Path) -> Found:
    """A package's project, or the package itself."""
    path = path.resolve()
    if (path / "__init__.py").is_file():
        _add_to_path(path.parent)
        return _of_module(path.name, path.name)
    name, module = _read_entry_point(path)
    _add_to_path(path / "src" if (path / "src").is_dir() else path)
    return _of_module(name, module)


def _read_entry_point(path: Path) -> tuple[str, str]:
    """The first plugin that a project declares. Raises NotFound."""
    try:
        text = (path / "pyproject.toml").read_text("utf-8")
        project: Mapping[str, Any] = tomllib.loads(text)
        entries = project["project"]["entry-points"][GROUP]
        name, value = next(iter(entries.items()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NotFound(f"{path / 'pyproject.toml'} cannot be read: {error}") from None
    except (OSError, LookupError, AttributeError, TypeError, StopIteration):
        message = f"{path} holds neither a package nor a pyproject.toml with a plugin of {GROUP}."
        raise NotFound(message) from None
    return name, str(value).partition(":")[0].strip()


def _of_module(name: str, module: str) -> Found:
    return Found(
        name=name,
        module=module,
        load=partial(importlib.import_module, module),
        origin=Origin.GIVEN,
    )


def _add_to_path(place: Path) -> None:
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))
