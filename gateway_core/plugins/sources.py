"""Every place a plugin may come from, looked through in one order.

    given ▶ installed ▶ folder ▶ file      and by name within each

Of two plugins that claim one name, or one id, the first in this order has it.
What stands in the data directory may bring what the installation lacks, and
never replaces any of it: its packages are the last place imports look at.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.metadata import Distribution, distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from zlib import crc32

from msgspec.structs import replace

from .discovery import Besides, Found, Origin, declared, handed_over, installation, installed
from .files import PluginFolder, fault_of, not_a_file

CORE = "model-gateway"
"""The distribution that the gateway itself is."""
_ORDER = {origin: place for place, origin in enumerate(Origin)}

Report = Callable[[str, str], None]


def find(
    report: Report,
    *,
    extra: Mapping[str, object] = {},
    folder: PluginFolder | None = None,
    entry_points: bool = True,
) -> list[Found]:
    """All plugins, in the order in which they are loaded. Imports none of them.

    ``entry_points=False`` looks at ``extra`` alone. What is wrong with a place
    goes to ``report``, with the name of the plugin or package.
    """
    candidates = [*handed_over(extra)]
    if entry_points:
        candidates += installed(report)
    if entry_points and folder is not None:
        try:
            candidates += [*in_packages(folder, report), *dropins(folder)]
        except PermissionError as error:
            report("plugins", f"{folder.path} cannot be looked through: {error.strerror}")
    return sorted(
        candidates, key=lambda each: (_ORDER[each.origin], each.name, each.distribution or "")
    )


def dropins(folder: PluginFolder) -> Iterator[Found]:
    """The plugins of one file each. One that others may write to has a fault."""
    files = folder.dropins()
    shared = fault_of(folder.path) if files else None
    for file in files:
        # No import statement can spell it, and no file in another folder has it.
        module = f"plugin-file-{file.stem}-{crc32(bytes(file.absolute())):08x}"
        yield Found(
            name=file.stem.replace("_", "-"),
            module=module,
            load=partial(_run, module, file),
            origin=Origin.FILE,
            path=file,
            fault=shared or fault_of(file) or not_a_file(file),
        )


def in_packages(folder: PluginFolder, report: Report) -> Iterator[Found]:
    """The plugins of packages that were installed into the data directory."""
    place = folder.packages
    if not place.is_dir():
        return
    fault = fault_of(folder.path) or fault_of(place)
    if fault is None and str(place) not in sys.path:
        # Imports look here last, so that nothing of the installation is replaced.
        sys.path.append(Besides(place))
    for each in declared(distributions(path=[str(place)]), report, Origin.FOLDER, place):
        if (each.distribution or "").lower().replace("_", "-").replace(".", "-") == CORE:
            report(each.name, f"{place} holds a copy of {CORE}, which is ignored; remove it")
        else:
            yield replace(each, fault=fault, load=partial(_from, place, each))


def distribution_of(name: str, origin: Origin, folder: PluginFolder) -> Distribution | None:
    """The installed package of this name, in the place that the origin means."""
    path = [str(folder.packages)] if origin is Origin.FOLDER else installation()
    return next(iter(distributions(name=name, path=path)), None)


def _from(place: Path, discovered: Found) -> object:
    """Import a plugin of the place. Raises ImportError when another of its module's name is used.

    The installation has one, or a gateway of this process that has another data directory.
    A module that the place does not have is its author's, who works on it somewhere else.
    """
    plugin = discovered.load()
    file = getattr(sys.modules.get(discovered.module), "__file__", None)
    is_elsewhere = file is not None and place.resolve() not in Path(file).resolve().parents
    if is_elsewhere and PathFinder.find_spec(discovered.module.partition(".")[0], [str(place)]):
        raise ImportError(
            f"the module {discovered.module} is that of {file}, not the one in {place}"
        )
    return plugin


def _run(name: str, file: Path) -> ModuleType:
    """Run the file as a module that its own classes can be looked up in."""
    spec = spec_from_file_location(name, file, loader=_AsWritten(name, str(file)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


class _AsWritten(SourceFileLoader):
    """Runs what the file says now, and leaves nothing compiled beside it."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def plain(name: str) -> str:
    """A package's name in the one spelling that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()
