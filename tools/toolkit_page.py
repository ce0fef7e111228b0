"""The reference page of ``gateway_formats``: every public name of each module, from its source."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from contracts_page import prose, signature_of

FOLDER = Path(__file__).parent.parent / "gateway_formats"
INTRODUCTION = """# Toolkit of formats

The functions and classes of `gateway_formats`, for authors of
[wire formats](../writing-a-format.md), module by module. They are versioned with the gateway
([compatibility](../compatibility.md)). [Contracts](contracts.md) has what `gateway_core` exports,
and the order of [a stream's events](contracts.md#streamed-replies).
"""


def page() -> str:
    """The whole page."""
    modules = [path for path in sorted(FOLDER.glob("*.py")) if path.name != "__init__.py"]
    return "\n".join([INTRODUCTION, *map(_module, modules)])


def _module(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    about = prose(ast.get_docstring(tree) or "")
    parts = [f"## `gateway_formats.{path.stem}`\n", f"{_block(about)}\n"]
    parts += [section for node in tree.body for section in _name(node)]
    return "\n".join(parts)


def _name(node: ast.stmt) -> Iterator[str]:
    """The section of a public name; none for anything else."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
        return
    about = _block(prose(ast.get_docstring(node) or ""))
    if isinstance(node, ast.FunctionDef):
        yield f"### `{node.name}`\n\n`{signature_of(node)}`\n\n{about}\n".replace("\n\n\n", "\n")
        return
    yield f"### `{node.name}`\n\n{about}\n"
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        if method.name == "__init__":
            arguments = signature_of(method).removeprefix("__init__").removesuffix(" -> None")
            yield f"`{node.name}{arguments}`\n"
        elif not method.name.startswith("_"):
            text = _block(prose(ast.get_docstring(method) or ""))
            yield f"`{signature_of(method)}`\n\n{text}\n" if text else f"`{signature_of(method)}`\n"


def _block(text: str) -> str:
    """Prose whose indented pieces are blocks."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```text\n{inspect.cleandoc(each)}\n```" if each.startswith("    ") else each
        for each in paragraphs
    )
