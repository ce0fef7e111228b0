"""Bugs that are made from a plugin's own source: each turns one small thing into another."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .planted import PlantedBug

_OPPOSITES: dict[type[ast.AST], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_LEFT_ALONE = frozenset({"GATEWAY_PROTOCOL", "CONFORMANCE", "__all__"})


def mutations(plugin: Path, most: int) -> list[PlantedBug]:
    """Bugs for a package or a file, evenly spread over its source. The same ones each time."""
    files = [plugin] if plugin.is_file() else sorted(plugin.rglob("*.py"))
    every: list[PlantedBug] = []
    for file in files:
        inside = file.name if plugin.is_file() else str(file.relative_to(plugin))
        if not inside.startswith("tests"):
            every += _of_file(file.read_text("utf-8"), inside)
    step = max(1.0, len(every) / most)
    return [every[int(number * step)] for number in range(min(most, len(every)))]


def _of_file(source: str, file: str) -> Iterator[PlantedBug]:
    tree = ast.parse(source)
    skipped = {
        id(inner) for node in ast.walk(tree) if _is_left_alone(node) for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for what, text in _changes(node):
            changed = _replaced(source, node, text)
            if changed is not None:
                line = getattr(node, "lineno", 0)
                yield PlantedBug(
                    name=f"{file}:{line}: {what}", breaks=what, old=source, new=changed, file=file
                )


def _is_left_alone(node: ast.AST) -> bool:
    """Annotations, imports, docstrings and what the kit itself reads."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.arg):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    names = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(name, ast.Name) and name.id in _LEFT_ALONE for name in names)


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What may become of a node: in words, and as source."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITES:
            opposite = _OPPOSITES[type(op)]
            yield (
                f"{opposite} in the place of its opposite",
                f"({ast.unparse(left)} {opposite} {ast.unparse(right)})",
            )
        case ast.BoolOp(op=op, values=values):
            word = "or" if isinstance(op, ast.And) else "and"
            text = f" {word} ".join(f"({ast.unparse(value)})" for value in values)
            yield f"{word} in the place of its opposite", f"({text})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not is left out", f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield f"{not value} in the place of {value}", str(not value)
        case ast.Constant(value=int(value)):
            yield f"{value + 1} in the place of {value}", str(value + 1)
        case ast.Constant(value=str(value)) if value and value.isidentifier():
            yield f"another word than {value!r}", repr(f"{value}_x")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield "only the first of a sum", f"({ast.unparse(left)})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "nothing is returned", "return None"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "a call is left out", "pass"
        case ast.AugAssign():
            yield "nothing is added", "pass"
        case ast.Starred(value=value, ctx=ast.Load()):
            yield "all but the first are left out", f"*list({ast.unparse(value)})[:1]"


def _replaced(source: str, node: Any, text: str) -> str | None:
    """The source with another text for a node; ``None`` where that is no Python."""
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    raw = source.encode()
    changed = (raw[:start] + text.encode() + raw[end:]).decode()
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    return changed if changed != source else None
