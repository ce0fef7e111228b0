"""Compares values with the types their class declares.

Structs are not checked when they are made, so a plugin can put anything
anywhere. What it declares is therefore compared once, when it registers, with
the annotations of the contract it fills in: every field, down to the rows and
services inside, without a second list of what a field may hold.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

Check = Callable[[object], bool]


def misfits(value: Struct, kind: type[Struct], where: str = "") -> Iterator[str]:
    """Say which fields of ``value`` do not hold what ``kind`` declares: ``models[2].kind must …``.

    ``where`` is written before each field's name.
    """
    for name, check, annotation in _fields(kind):
        member = getattr(value, name)
        if not check(member):
            yield from _explained(where + name, member, annotation)


def _explained(where: str, value: object, annotation: Any) -> Iterator[str]:
    """Go down to the innermost place that is wrong."""
    inner = get_args(annotation)
    if get_origin(annotation) is tuple and isinstance(value, tuple):
        for index, member in enumerate(value):
            if not check_of(inner[0])(member):
                yield from _explained(f"{where}[{index}]", member, inner[0])
        return
    for option in (annotation, *inner):
        if isinstance(value, Struct) and option is type(value):
            yield from misfits(value, type(value), f"{where}.")
            return
    yield f"{where} must be {_wording(annotation)}"


@cache
def check_of(annotation: Any) -> Check:
    """A function that checks whether a value fits an annotation.

    Understands classes, structs, protocols, unions, words, ``tuple[X, ...]``,
    mappings and callables, which is what the contracts are made of.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return lambda value: True
    if origin in (Union, UnionType):
        # Plain classes first and in one go: nearly every union is a class or ``None``.
        plain = tuple(
            option
            for option in inner
            if isinstance(option, type)
            and option is not Any
            and get_origin(option) is None
            and not issubclass(option, Struct)
            and not getattr(option, "_is_protocol", False)
        )
        is_plain = _instance(*plain)
        others = tuple(check_of(option) for option in inner if option not in plain)
        if not others:
            return is_plain
        return lambda value: is_plain(value) or any(check(value) for check in others)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in inner
    if origin is tuple:
        fits = check_of(inner[0])
        return lambda value: isinstance(value, tuple) and all(map(fits, value))
    if origin is Callable:
        return callable
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, member = map(check_of, inner)
        return lambda value: (
            isinstance(value, Mapping) and all(map(key, value)) and all(map(member, value.values()))
        )
    if getattr(annotation, "_is_protocol", False):
        return _protocol(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _struct(annotation)
    return _instance(annotation)


def _instance(*kinds: Any) -> Check:
    classes = (*kinds, int) if float in kinds else kinds
    return lambda value: isinstance(value, classes)


def _protocol(kind: type) -> Check:
    """A protocol is kept by having its methods, and its attributes with their types."""
    methods = [
        name
        for name, member in vars(kind).items()
        if (callable(member) and not name.startswith("_"))
    ]
    attributes = [(name, check_of(hint)) for name, hint in get_type_hints(kind).items()]
    return lambda value: (
        not isinstance(value, type)
        and all(callable(getattr(value, name, None)) for name in methods)
        and all(hasattr(value, name) and check(getattr(value, name)) for name, check in attributes)
    )


def _struct(kind: type[Struct]) -> Check:
    def fits(value: object) -> bool:
        if not isinstance(value, kind):
            return False
        # A loop, because every row of every provider comes through here at the start.
        for name, check, _ in _fields(kind):  # noqa: SIM110
            if not check(getattr(value, name)):
                return False
        return True

    return fits


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, Check, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((name, check_of(hints[name]), hints[name]) for name in kind.__struct_fields__)


def _wording(annotation: Any) -> str:
    """The annotation in the words of the contract: ``str | None``, ``tuple[Model, ...]``."""
    inner = get_args(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return " | ".join(_wording(option) for option in inner)
    if annotation is NoneType:
        return "None"
    if not inner:
        return getattr(annotation, "__name__", str(annotation))
    if get_origin(annotation) is Callable:
        return "a function"
    if get_origin(annotation) is Literal:
        return " or ".join(map(repr, inner))
    words = ", ".join("..." if option is Ellipsis else _wording(option) for option in inner)
    return f"{get_origin(annotation).__name__}[{words}]"
