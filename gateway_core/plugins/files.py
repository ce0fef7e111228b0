"""The folder ``DATA_DIR/plugins``, and the source files a plugin consists of.

```text
DATA_DIR/plugins/         0700
  NAME.py                 a plugin in one file
  packages/               packages that were installed here
  disabled.json           names that are switched off
  lock.json               the plugin lock
  conformance.json        what the conformance kit found
```

Nothing here imports a plugin.
"""

import ast
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import msgspec

LONGEST_FILE = 16 * 1024 * 1024
"""Bytes of a JSON file in the folder that are still read."""
_COMPILED = "__pycache__"


class FileDamaged(ValueError):
    """A file of the folder does not hold what it should. The message says which and why."""


class Sourced(Protocol):
    """A plugin whose files are asked about: one that was found, or the record of one."""

    @property
    def module(self) -> str: ...
    @property
    def path(self) -> Path | str | None: ...


class PluginFolder:
    """The folder, which need not be there before something is written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, data_dir: Path) -> "PluginFolder":
        """The one of a data directory."""
        return cls(data_dir / "plugins")

    def __repr__(self) -> str:
        return f"PluginFolder({str(self.path)!r})"

    @property
    def packages(self) -> Path:
        return self.path / "packages"

    def has(self, name: str) -> bool:
        """Whether there is a file of this name; one look."""
        return (self.path / name).exists()

    def dropins(self) -> list[Path]:
        """The files that are plugins, by name."""
        with suppress(FileNotFoundError, NotADirectoryError):
            names = sorted(os.listdir(self.path))
            return [
                self.path / name
                for name in names
                if (name.endswith(".py") and not name.startswith(("_", ".")))
            ]
        return []

    def make(self) -> None:
        """Make the folder. Raises OSError."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def read_json(self, name: str) -> Any:
        """What a file holds; None when it is not there. Raises FileDamaged."""
        return read_json(self.path / name)

    def write_json(self, name: str, value: object) -> None:
        """Put a file in place whole, readable by its owner alone. Raises OSError."""
        self.make()
        content = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
        draft = self.path / f".{name}.{uuid4().hex}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self.path / name)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it is there. Raises OSError."""
        (self.path / name).unlink(missing_ok=True)


def read_json(file: Path) -> Any:
    """What a file holds; None when it is not there. Raises FileDamaged."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(LONGEST_FILE + 1)
        if len(content) > LONGEST_FILE:
            raise FileDamaged(f"{file} is longer than {LONGEST_FILE} bytes")
        return msgspec.json.decode(content)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileDamaged(f"{file} cannot be read: {error}") from error


def program(name: str) -> str | None:
    """Where a program stands that can be called by this name."""
    return shutil.which(name)


def fault_of(path: Path) -> str | None:
    """Why code from this file or folder is not to be run, if somebody else could have put it there.

    A file of root's is as good as one's own.
    """
    try:
        state = path.stat()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    if sys.platform == "win32":
        return None
    if state.st_mode & stat.S_IWOTH:
        return f"everybody may write to {path}; run: chmod o-w {path}"
    if state.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user ({state.st_uid}); it must be your own or root's"
    return None


def not_a_file(path: Path) -> str | None:
    """Why something that is called like a plugin is none; reading it might take for ever."""
    return None if path.is_file() else f"{path} is no file"


def docstring_of(file: str) -> str | None:
    """The first line of a source file's docstring, if it can be read and has one."""
    with suppress(OSError, SyntaxError, ValueError):
        text = ast.get_docstring(ast.parse(Path(file).read_bytes()))
        return text.strip().splitlines()[0] if text else None
    return None


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of one's own until the block ends."""
    with tempfile.TemporaryDirectory(prefix="plugins-") as place:
        yield Path(place)


def write_lines(file: Path, lines: Iterable[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def remove_below(home: Path, files: Iterable[Path]) -> int:
    """Remove files that stand in ``home``, and folders that are empty then; say how many files.

    What points out of ``home`` is left alone. Raises OSError.
    """
    root = home.resolve()
    paths = {file.parent.resolve() / file.name for file in files}
    inside = sorted(file for file in paths if root in file.parents)
    for file in inside:
        file.unlink(missing_ok=True)
    for folder in sorted({folder for file in inside for folder in file.parents}, reverse=True):
        if root in folder.parents and folder.is_dir():
            shutil.rmtree(folder / _COMPILED, ignore_errors=True)
            with suppress(OSError):
                folder.rmdir()
    return len(inside)


def hashes_of(discovered: Sourced) -> dict[str, str]:
    """SHA-256, in hex, of each file a plugin consists of, by posix path from where it is imported.

    These are the files of its top-level module or package, compiled ones in
    ``__pycache__`` apart; a plugin without files has none. Raises OSError.
    """
    root, files = source_of(discovered)
    hashes = {}
    for file in files:
        with open(file, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        hashes[file.relative_to(root).as_posix()] = digest
    return hashes


def digest_of(discovered: Sourced) -> str:
    """SHA-256, in hex, over a plugin's files and their names; empty where there are none.

    Raises OSError.
    """
    hashes = hashes_of(discovered)
    if not hashes:
        return ""
    lines = "".join(f"{digest} {name}\n" for name, digest in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def source_of(discovered: Sourced) -> tuple[Path, list[Path]]:
    """Where a plugin is imported from, and its files below that, sorted. Imports nothing."""
    path = None if discovered.path is None else Path(discovered.path)
    if path is not None and path.is_file():
        return path.parent, [path]
    # As the interpreter looks, and then in the folder that it is about to look in.
    name, *deeper = discovered.module.split(".")
    spec: ModuleSpec | None = None
    for finder in sys.meta_path:
        with suppress(Exception):  # a finder may be anybody's code
            spec = finder.find_spec(name, None)
        if spec:
            break
    else:
        spec = PathFinder.find_spec(name, [str(path)]) if path else None
    # A namespace package has no code of its own: go down to the first one that has.
    while spec is not None and spec.origin is None and deeper:
        name = f"{name}.{deeper.pop(0)}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations or ()))
    if spec is None:
        return Path(), []
    if spec.submodule_search_locations:
        home = Path(next(iter(spec.submodule_search_locations))).resolve()
        # Links to folders are followed, as imports follow them, each folder once.
        files, seen = list[Path](), set[str]()
        for folder, inner, names in os.walk(home, followlinks=True):
            place = os.path.realpath(folder)
            if place not in seen:
                files += (Path(folder, name) for name in names)
            inner[:] = [name for name in inner if name != _COMPILED and place not in seen]
            inner.sort()
            seen.add(place)
        return home.parent, sorted(files)
    if spec.origin is None or not spec.has_location:
        return Path(), []
    file = Path(spec.origin).resolve()
    return file.parent, [file]
