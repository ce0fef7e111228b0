"""The reference page of the plugin interface: every exported name, and every field of each.

The meaning of a field is the string below it in the source.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import UnionType
from typing import Any, NamedTuple

import msgspec

import gateway_core

HEADINGS = {
    "provider": "Vendors",
    "model": "Models and prices",
    "usage": "Models and prices",
    "kinds": "Models and prices",
    "exchange": "Requests to a vendor",
    "web_login": "Signing in at a vendor",
    "sockets": "Sockets",
    "conversation": "The conversation",
    "events": "Streamed replies",
    "wire": "Wire formats",
    "seal": "Signatures",
    "interceptor": "Extensions",
    "answer_filter": "Extensions",
    "plugin_host": "Extensions",
    "operations": "Extensions",
    "access": "Extensions",
    "errors": "Errors",
}
"""Titles in the page's order, by the module of ``gateway_core.contracts`` that a name is from."""

PACKAGES = {"plugin_host": "pipeline", "operations": "http", "access": "identity"}
"""The package of ``gateway_core`` that a module is in, if not ``contracts``."""


class Field(NamedTuple):
    """One field of an exported class, as declared in the source."""

    owner: str
    name: str
    type: str
    default: str
    meaning: str


class Entry(NamedTuple):
    """One exported name."""

    name: str
    module: str
    value: Any


def entries() -> list[Entry]:
    """The exported names with their modules, in the order of the source."""
    all_entries = [_entry(name, getattr(gateway_core, name)) for name in gateway_core.__all__]
    titles = list(HEADINGS)
    return sorted(
        (each for each in all_entries if each.module in HEADINGS),
        key=lambda each: (titles.index(each.module), _line(each)),
    )


def _entry(name: str, value: Any) -> Entry:
    if isinstance(value, UnionType):
        return Entry(name, value.__args__[0].__module__.rpartition(".")[2], value)
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or not home.startswith("gateway_core."):
        home = "gateway_core.contracts.conversation" if name == "Finish" else ""
    return Entry(name, home.rpartition(".")[2], value)


def _line(entry: Entry) -> int:
    node = _nodes(entry.module).get(entry.name)
    return 0 if node is None else node.lineno


@cache
def _nodes(module: str) -> dict[str, ast.stmt]:
    source = inspect.getsource(
        import_module(f"gateway_core.{PACKAGES.get(module, 'contracts')}.{module}")
    )
    return {name: node for node in ast.parse(source).body if (name := _name_of(node)) is not None}


def _name_of(node: ast.stmt) -> str | None:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def fields(entry: Entry) -> Iterator[Field]:
    """The fields of a class and those it inherits from another exported or internal one."""
    node = _nodes(entry.module).get(entry.name)
    if not isinstance(node, ast.ClassDef):
        return
    for base in node.bases:
        parent = _nodes(entry.module).get(ast.unparse(base))
        if isinstance(parent, ast.ClassDef):
            yield from _own_fields(entry.name, parent)
    yield from _own_fields(entry.name, node)


def _own_fields(owner: str, node: ast.ClassDef) -> Iterator[Field]:
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield Field(
                owner,
                statement.target.id,
                ast.unparse(statement.annotation).strip("'\""),
                "" if statement.value is None else ast.unparse(statement.value),
                _text(after),
            )


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split()).replace("``", "`")
    return ""


def methods(entry: Entry) -> Iterator[tuple[str, str]]:
    """Signatures and meanings of a class's public methods."""
    node = _nodes(entry.module).get(entry.name)
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        is_method = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_method and not statement.name.startswith("_"):
            yield signature_of(statement), ast.get_docstring(statement) or ""


def signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    if any(ast.unparse(mark) == "property" for mark in node.decorator_list):
        return f"{node.name}{returns}"
    return f"{word}{node.name}({arguments}){returns}"


def page() -> str:
    """The whole page."""
    parts, title = [], ""
    for entry in entries():
        if HEADINGS[entry.module] != title:
            title = HEADINGS[entry.module]
            parts.append(f"## {title}\n")
            if entry.module == "events":
                parts.append(_order_of_events())
        parts.append(_section(entry))
    return (
        "# Contracts\n\n"
        "Every name that a plugin may import from `gateway_core`. A field without a default is "
        "required. `Raw` is JSON text that is not decoded. [Hooks](hooks.md) lists the functions "
        "that a plugin implements, and [compatibility](../compatibility.md) what may change.\n\n"
        + "\n".join(parts)
    )


def _order_of_events() -> str:
    """What the module of events promises, with its grammar as a block."""
    about = inspect.getdoc(import_module("gateway_core.contracts.events")) or ""
    before, _, rest = about.partition("::\n\n")
    grammar, _, after = rest.partition("\n\n")
    return f"{prose(before)}:\n\n```text\n{inspect.cleandoc(grammar)}\n```\n\n{prose(after)}\n"


def _section(entry: Entry) -> str:
    parts = [f"### `{entry.name}`\n", _about(entry)]
    rows = [_row(field) for field in fields(entry)]
    if rows and _is_keyword_only(entry):
        parts.append("Fields are given by keyword.\n")
    if rows:
        parts.append("| field | type | default | meaning |\n| --- | --- | --- | --- |")
        parts[-1] += "\n" + "\n".join(rows) + "\n"
    for signature, about in methods(entry):
        parts.append(f"`{signature}`\n\n{prose(about)}\n" if about else f"`{signature}`\n")
    return "\n".join(part for part in parts if part)


def _is_keyword_only(entry: Entry) -> bool:
    """Whether no field of a struct can be given by its position."""
    try:
        return issubclass(entry.value, msgspec.Struct) and not _takes_positions(entry.value)
    except TypeError:
        return False


def _takes_positions(struct: type[msgspec.Struct]) -> bool:
    kinds = {each.kind for each in inspect.signature(struct).parameters.values()}
    return inspect.Parameter.POSITIONAL_OR_KEYWORD in kinds


def _row(field: Field) -> str:
    cells = (f"`{field.name}`", _code(field.type), _code(field.default), _cell(field.meaning))
    return f"| {' | '.join(cells)} |"


def _about(entry: Entry) -> str:
    if isinstance(entry.value, UnionType):
        return f"One of {', '.join(f'`{kind.__name__}`' for kind in entry.value.__args__)}.\n"
    node = _nodes(entry.module).get(entry.name)
    if isinstance(node, ast.FunctionDef):
        return f"`{signature_of(node)}`\n\n{prose(ast.get_docstring(node) or '')}\n"
    if isinstance(node, ast.ClassDef):
        return f"{prose(ast.get_docstring(node) or '')}\n" + _members(entry)
    return f"`{ast.unparse(node.value)}`\n" if isinstance(node, ast.Assign) else ""


def _members(entry: Entry) -> str:
    """The members of an enumeration."""
    words = getattr(entry.value, "__members__", {})
    return f"\n{', '.join(f'`{name}`: `{word.value}`' for name, word in words.items())}\n" * bool(
        words
    )


def prose(text: str) -> str:
    return inspect.cleandoc(text).replace("``", "`").replace("::\n", ":\n")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def untold() -> list[str]:
    """Fields of exported classes without a meaning."""
    return [
        f"{field.owner}.{field.name}"
        for entry in entries()
        if isinstance(entry.value, type)
        for field in fields(entry)
        if not field.meaning
    ]
