"""Putting a plugin where the gateway finds plugins, so that it is loaded as it is at an operator's.

A plugin that is handed to a gateway as an object would be trusted with all of
it, and its author would not notice what others refuse.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from gateway_core.config.environment import Environment, from_environ, from_process
from gateway_core.plugins.discovery import GROUP, Found, Origin, installed
from gateway_core.plugins.files import PluginFolder, write_lines
from gateway_kit.installed_formats import FORMAT_PREFIX

DASHBOARD = "dashboard"
SETTINGS = "PLUGIN_"
"""How process variables begin that are a plugin's settings."""


def stage_plugin(plugin: Found, data_dir: Path) -> None:
    """Let the gateway of this data directory find the plugin. Raises OSError."""
    if plugin.origin is Origin.INSTALLED or _is_installed(plugin):
        return
    folder = PluginFolder.of(data_dir)
    if plugin.origin is Origin.FILE:
        folder.make()
        file = folder.path / f"{plugin.name.replace('-', '_')}.py"
        write_lines(file, _loader_lines(plugin.path))
    else:
        about = PluginFolder(folder.packages / f"{plugin.name.replace('-', '_')}-0.dist-info")
        about.make()
        write_lines(about.path / "METADATA", [f"Name: {plugin.name}", "Version: 0"])
        write_lines(about.path / "entry_points.txt", _entry_point_lines(plugin))


def environment_of(plugin: Found, data_dir: Path, more: Iterable[str] = ()) -> Environment:
    """A gateway's with this plugin, the wire formats, the management routes and no other.

    ``more`` names plugins that are handed over beside it.
    """
    others = [each.name for each in installed(lambda name, message: None)]
    companions = [name for name in others if name.startswith(FORMAT_PREFIX) or name == DASHBOARD]
    variables = from_process().variables
    settings = {name: text for name, text in variables.items() if name.startswith(SETTINGS)}
    names = ",".join(sorted({*companions, plugin.name, *more}))
    return from_environ({**settings, "DATA_DIR": str(data_dir), "GATEWAY_LOAD_PLUGINS": names})


def _is_installed(plugin: Found) -> bool:
    plugins = installed(lambda name, message: None)
    return any((each.name, each.module) == (plugin.name, plugin.module) for each in plugins)


def _entry_point_lines(plugin: Found) -> Iterator[str]:
    yield f"[{GROUP}]"
    yield f"{plugin.name} = {plugin.module}"


def _loader_lines(file: Path | None) -> Iterator[str]:
    """A module that is the author's file, whose name and lines stay in what Python tells."""
    yield '"""Stands in for a file elsewhere."""'
    yield "from pathlib import Path"
    yield f"_path = Path({str(file)!r})"
    yield 'exec(compile(_path.read_bytes(), str(_path), "exec", dont_inherit=True))'
