"""What Python reads and runs by itself when it starts, and which packages that belongs to.

These are the ``.pth`` files, and the modules ``sitecustomize`` and ``usercustomize``.
"""

import os
import site
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from msgspec import Struct

from .files import hashes_of
from .sources import plain

SUFFIX = ".pth"
MODULES = ("sitecustomize", "usercustomize")


class StartupFile(Struct, frozen=True):
    """A file in the shape in which its hash can be asked for."""

    path: Path
    module: str = ""


def startup_files(*more: Path) -> dict[str, str]:
    """SHA-256, in hex, of each such file by path, in the places of packages and in ``more``.

    Raises OSError.
    """
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    hashes: dict[str, str] = {}
    for place in dict.fromkeys([*map(Path, (*site.getsitepackages(), *user)), *more]):
        files = []
        with suppress(OSError):
            files = [
                place / name
                for name in sorted(os.listdir(place))
                if name.endswith(SUFFIX) or name.partition(".")[0] in MODULES
            ]
            files += [place / name / "__init__.py" for name in MODULES]
            files = [file for file in files if file.is_file()]
        for file in files:
            hashes |= {str(file): digest for digest in hashes_of(StartupFile(file)).values()}
    return hashes


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """What became of files, by name: ``new``, ``changed`` or ``gone``."""
    kinds = dict.fromkeys(before.keys() - now.keys(), "gone")
    kinds |= dict.fromkeys(now.keys() - before.keys(), "new")
    kinds |= {name: "changed" for name in before.keys() & now.keys() if before[name] != now[name]}
    return dict(sorted(kinds.items()))


def owners(files: Iterable[str]) -> dict[str, str]:
    """The package that each of these files belongs to, plainly spelled; no stray ones."""
    paths, owned = set(files), dict[str, str]()
    for package in distributions(path=sorted({os.path.dirname(file) for file in paths})):
        with suppress(Exception):  # a damaged package fails in whatever way it is damaged
            listed = {str(file.locate()) for file in package.files or ()}
            owned |= dict.fromkeys(listed & paths, plain(package.name))
    return owned
