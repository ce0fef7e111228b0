"""Records the plugin interface in ``plugins/extensions/kit/gateway_kit/protocols.json``.

``python tools/protocol.py`` records it for the current hook protocol and for the version in
pyproject.toml. It refuses while a name is missing that a plugin of an older protocol or of an
earlier release may use: then the interface has to keep that name, or the hook protocol gets a
new version.

The record is the same for every version of Python and contains no docstrings.
"""

import ast
import enum
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from gateway_kit.interface import KIND, Book, Interface, Release, broken

import gateway_core
from gateway_core import hookspecs
from gateway_core.plugins.protocol import CURRENT, SUPPORTED

ROOT = Path(__file__).parent.parent
FILE = ROOT / "plugins" / "extensions" / "kit" / "gateway_kit" / "protocols.json"
FURTHER = (
    "gateway_core.identity.access.Access",
    "gateway_core.pipeline.plugin_host.Host",
    "gateway_core.http.operations.Guarded",
)
"""Names of the interface from the running gateway, which ``gateway_core`` imports on demand."""


def current_interface() -> Interface:
    """The interface of this checkout."""
    names = {name: shape(getattr(gateway_core, name)) for name in gateway_core.__all__}
    for path in FURTHER:
        module, _, name = path.rpartition(".")
        names[path] = shape(getattr(import_module(module), name))
    functions = vars(hookspecs).items()
    return Interface(
        names=dict(sorted(names.items())),
        hooks={
            name: {KIND: f"-> {annotation(hook.__annotations__['return'])}", **arguments(hook)}
            for name, hook in sorted(functions)
            if inspect.isfunction(hook) and hook.__module__ == hookspecs.__name__
        },
    )


def shape(thing: Any) -> dict[str, str]:
    """The kind and the members of a name."""
    if inspect.isfunction(thing):
        return {KIND: f"function {signature(thing)}"}
    if not isinstance(thing, type):
        is_type = get_origin(thing) is not None or isinstance(thing, UnionType)
        return {KIND: f"type {annotation(thing)}" if is_type else type(thing).__name__}
    if issubclass(thing, enum.Enum):
        return {KIND: "enum", **{member.name: value(member.value) for member in thing}}
    return {KIND: kind(thing), **dict(sorted(dict(members(thing)).items()))}


def kind(thing: type) -> str:
    if issubclass(thing, msgspec.Struct):
        return "struct"
    if issubclass(thing, BaseException):
        return "error"
    return "protocol" if getattr(thing, "_is_protocol", False) else "class"


def members(thing: type) -> Iterator[tuple[str, str]]:
    """Public members of a class, and the constructor of an error."""
    if issubclass(thing, msgspec.Struct):
        for field in msgspec.structs.fields(thing):
            yield field.name, annotation(field.type) + default(field)
    fields = getattr(thing, "__struct_fields__", ())
    for home in reversed([each for each in thing.__mro__ if is_ours(each)]):
        hints = get_type_hints(home)
        own = inspect.get_annotations(home)
        attributes: dict[str, Any] = {**dict.fromkeys(own, MISSING), **vars(home)}
        for name, member in attributes.items():
            if is_public(name, member) and name not in fields:
                yield name, describe(member, hints.get(name, MISSING))


MISSING = object()


def is_ours(thing: type) -> bool:
    return thing.__module__.startswith("gateway_core")


def is_public(name: str, member: Any) -> bool:
    if name == "__init__":
        return inspect.isfunction(member) and member.__module__.endswith(".errors")
    return not name.startswith("_")


def describe(member: Any, hint: Any) -> str:
    """The text for a member that is not a field of a struct."""
    if inspect.isfunction(member):
        return signature(member)
    if isinstance(member, staticmethod | classmethod):
        return signature(member.__func__)
    if isinstance(member, property):
        return f"property -> {annotation(hints_of(member.fget).get('return', Any))}"
    if inspect.ismemberdescriptor(member):
        return "attribute"
    if hint is MISSING:
        return value(member)
    return annotation(hint) + ("" if member is MISSING else f" = {value(member)}")


def default(field: msgspec.structs.FieldInfo) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return f" = {value(field.default_factory())}"
    return "" if field.default is msgspec.NODEFAULT else f" = {value(field.default)}"


def signature(function: Callable[..., Any]) -> str:
    """The parameters and the return type of a function."""
    hints, parts, has_star = hints_of(function), [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            parts.append("*")
        has_star = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        parts.append(parameter_text(parameter, hints))
    start = "async " if inspect.iscoroutinefunction(function) else ""
    return f"{start}({', '.join(parts)}) -> {annotation(hints.get('return', Any))}"


def parameter_text(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> str:
    if parameter.name == "self":
        return "self"
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    text = f"{stars}{parameter.name}: {annotation(hints.get(parameter.name, Any))}"
    return text if parameter.default is parameter.empty else f"{text} = {value(parameter.default)}"


def arguments(hook: Callable[..., Any]) -> dict[str, str]:
    annotations = hook.__annotations__.items()
    return {name: annotation(hint) for name, hint in annotations if name != "return"}


def hints_of(function: Any) -> dict[str, Any]:
    return get_type_hints(function, include_extras=False)


def annotation(hint: Any) -> str:
    """A type as text that is the same in every version of Python."""
    if hint is None or hint is NoneType:
        return "None"
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        return ast.unparse(ast.parse(hint, mode="eval"))
    if hint is Ellipsis:
        return "..."
    if isinstance(hint, list):
        return f"[{', '.join(map(annotation, hint))}]"
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " | ".join(map(annotation, inner))
    if origin is Annotated:
        return annotation(inner[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(value, inner))}]"
    if origin is not None:
        return f"{annotation(origin)}[{', '.join(map(annotation, inner))}]"
    return str(getattr(hint, "__name__", type(hint).__name__))


def value(constant: Any) -> str:
    """A constant as text that is the same in every version of Python."""
    if isinstance(constant, enum.Enum):
        return f"{type(constant).__name__}.{constant.name}"
    if constant is None or isinstance(constant, str | int | float | bytes):
        return repr(constant)
    if isinstance(constant, tuple | list):
        return f"({', '.join(map(value, constant))})"
    if isinstance(constant, Mapping):
        return f"{{{', '.join(f'{value(k)}: {value(v)}' for k, v in constant.items())}}}"
    if isinstance(constant, msgspec.Struct):
        fields = ((name, getattr(constant, name)) for name in constant.__struct_fields__)
        return f"{type(constant).__name__}({', '.join(f'{n}={value(v)}' for n, v in fields)})"
    return "..." if callable(constant) else type(constant).__name__


def version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def promises(known: Book) -> Iterator[tuple[str, Interface]]:
    """The interfaces to keep: those of earlier releases and of older protocols."""
    for number, digest in known.protocols.items():
        if int(number) in SUPPORTED and int(number) != CURRENT:
            yield f"hook protocol {number}", known.interfaces[digest]
    for name, release in known.releases.items():
        if name != version() and CURRENT in release.speaks:
            yield f"release {name}", known.interfaces[release.interface]


def faults(known: Book, present: Interface) -> list[str]:
    """What a promised interface has and the current one lacks."""
    return [
        f"{fault} (promised by {name})"
        for name, promised in promises(known)
        for fault in broken(promised, present)
    ]


def rewritten(known: Book, present: Interface) -> Book:
    """The book with the current interface, without interfaces that nothing refers to."""
    protocols = {**known.protocols, str(CURRENT): present.digest}
    release = Release(speaks=SUPPORTED, interface=present.digest)
    releases = {**known.releases, version(): release}
    wanted = {*protocols.values(), *(each.interface for each in releases.values())}
    interfaces = {**known.interfaces, present.digest: present}
    return Book(
        protocols=protocols,
        releases=releases,
        interfaces={digest: interfaces[digest] for digest in sorted(wanted)},
    )


def main() -> None:
    known = msgspec.json.decode(FILE.read_bytes(), type=Book)
    present = current_interface()
    missing = faults(known, present)
    if missing:
        sys.exit("\n".join([*missing, "Keep these, or raise CURRENT."]))
    book = rewritten(known, present)
    content = msgspec.json.encode(book, order="deterministic")
    FILE.write_bytes(msgspec.json.format(content, indent=1) + b"\n")
    print(f"wrote {FILE.relative_to(ROOT)}: hook protocol {CURRENT} is {present.digest[:12]}")


if __name__ == "__main__":
    main()
