"""What a plugin takes from the gateway, read from its source. Nothing is run.

What is looked up by a name that only exists at run time, with ``getattr`` for
one, cannot be seen here.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from gateway_core.plugins.discovery import Found
from gateway_core.plugins.files import source_of
from gateway_core.plugins.protocol import MARK, UNSAID

DOOR = "gateway_core"
MARKER = "hookimpl"
T = TypeVar("T")


class UseLocation(Struct, frozen=True):
    """A line of a plugin's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Taken(Struct, frozen=True):
    """A name of the door that is imported or reached."""

    name: str
    """With its module where that is not the door's top."""
    place: UseLocation
    member: str = ""
    """What is taken of it, such as one of an enumeration."""


class UsedCall(Struct, frozen=True):
    """A name of the door that is called, mostly to make one of it."""

    name: str
    keywords: tuple[str, ...]
    is_whole: bool
    """True when every argument can be seen."""
    place: UseLocation


class Hook(Struct, frozen=True):
    """A hook that is implemented."""

    name: str
    arguments: tuple[str, ...]
    place: UseLocation


class Uses(Struct, frozen=True, kw_only=True):
    """Everything that was seen."""

    protocol: int | None
    """What the plugin says it speaks; ``None`` when its source does not tell."""
    names: tuple[Taken, ...]
    calls: tuple[UsedCall, ...]
    hooks: tuple[Hook, ...]
    unread: tuple[tuple[UseLocation, str], ...]
    """Files that are no Python, with the reason."""


class _File(Struct, frozen=True):
    module: str
    path: str
    nodes: tuple[ast.AST, ...]
    top: tuple[ast.stmt, ...]
    bound: Mapping[str, str]
    """Names in this file, to what they stand for in the door."""

    def place(self, node: ast.AST) -> UseLocation:
        return UseLocation(self.path, getattr(node, "lineno", 1))


def uses_of(discovered: Found) -> Uses:
    """Read every source file of a plugin. Raises OSError."""
    root, paths = source_of(discovered)
    files: list[_File] = []
    unread: list[tuple[UseLocation, str]] = []
    for path in paths:
        if path.suffix == ".py":
            name = path.relative_to(root)
            try:
                files.append(_file(name, path))
            except (SyntaxError, ValueError, ImportError) as error:
                # A syntax error's text repeats the line, which stands beside it already.
                line = getattr(error, "lineno", None) or 1
                reason = error.msg if isinstance(error, SyntaxError) else error
                location = UseLocation(name.as_posix(), line)
                unread.append((location, f"it is no Python that can be read: {reason}"))
    return Uses(
        protocol=_protocol(files, discovered.module),
        names=_every(files, _names),
        calls=_every(files, _calls),
        hooks=_every(files, _hooks),
        unread=tuple(unread),
    )


def _every(files: Iterable[_File], read: Callable[[_File], Iterator[T]]) -> tuple[T, ...]:
    return tuple(each for file in files for each in read(file))


def _file(name: Path, path: Path) -> _File:
    """Read a file as an import would. Raises SyntaxError, ValueError, ImportError, OSError."""
    parts = name.with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    loader = SourceFileLoader(module, str(path))
    tree = ast.parse(loader.get_source(module) or "")
    nodes = tuple(ast.walk(tree))
    bound = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias, full in _imported(node):
                bound[alias.asname or alias.name] = full
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _is_door(alias.name):
                    bound[alias.asname or DOOR] = alias.name if alias.asname else DOOR
    return _File(module, name.as_posix(), nodes, tuple(tree.body), bound)


def _imported(node: ast.ImportFrom) -> Iterator[tuple[ast.alias, str]]:
    """The names that one statement takes from the door, in full."""
    module = node.module or ""
    if node.level == 0 and _is_door(module):
        for name in node.names:
            yield name, name.name if module == DOOR else f"{module}.{name.name}"


def _is_door(module: str) -> bool:
    return module == DOOR or module.startswith(f"{DOOR}.")


def _names(file: _File) -> Iterator[Taken]:
    for node in file.nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (Taken(full, file.place(node)) for _, full in _imported(node))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            # ``gateway_core.Model``, or ``Kind.LLM``.
            holder = file.bound.get(node.value.id)
            if holder == DOOR:
                yield Taken(node.attr, file.place(node))
            elif holder is not None:
                yield Taken(holder, file.place(node), node.attr)


def _calls(file: _File) -> Iterator[UsedCall]:
    for node in file.nodes:
        name = _meaning(file, node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name is not None:
            keywords = tuple(word.arg for word in node.keywords if word.arg is not None)
            is_whole = not node.args and len(keywords) == len(node.keywords)
            yield UsedCall(name, keywords, is_whole, file.place(node))


def _meaning(file: _File, node: ast.expr) -> str | None:
    """The name of the door that an expression is."""
    if isinstance(node, ast.Name):
        return file.bound.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if file.bound.get(node.value.id) == DOOR else None
    return None


def _hooks(file: _File) -> Iterator[Hook]:
    for node in file.nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        positional = (*node.args.posonlyargs, *node.args.args)
        # The gateway passes the arguments that have no default.
        passed = positional[: len(positional) - len(node.args.defaults)]
        arguments = tuple(argument.arg for argument in passed if argument.arg != "self")
        for mark in node.decorator_list:
            name, keywords, marker = node.name, list[ast.keyword](), mark
            if isinstance(mark, ast.Call):
                marker, keywords = mark.func, mark.keywords
            for keyword in keywords:
                if keyword.arg == "specname" and isinstance(keyword.value, ast.Constant):
                    name = str(keyword.value.value)
            if _meaning(file, marker) == MARKER:
                yield Hook(name, arguments, file.place(node))


def _protocol(files: list[_File], module: str) -> int | None:
    """What the plugin's own module says; ``None`` when it says something that is not plain."""
    own = [file for file in files if len(files) == 1 or file.module == module]
    is_imported, values = False, list[ast.expr | None]()
    for node in (node for file in own for node in file.top):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == MARK for target in targets):
                values.append(node.value)
        elif isinstance(node, ast.ImportFrom):
            is_imported = is_imported or MARK in {name.asname or name.name for name in node.names}
    if not values:
        return None if is_imported else UNSAID
    value = values[-1].value if isinstance(values[-1], ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
