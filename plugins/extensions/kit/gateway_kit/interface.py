"""The plugin author's door as it was in each version, kept in ``protocols.json``.

An interface describes in plain text what each name is made of: fields with their
types and defaults, methods with what they take and give, hooks with their
arguments. ``tools/protocol.py`` writes the present one.
"""

import ast
import hashlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec
from msgspec import Struct

from gateway_core.plugins.protocol import listed

FILE = "protocols.json"
KIND = ""
"""The member that says what a name stands for, and the answer that a hook gives."""

Shape = Mapping[str, str]
"""Members of a name, each to what it is; a field has its type, `` = `` and its default."""


class Interface(Struct, frozen=True, kw_only=True):
    """What a gateway offers to plugins."""

    names: Mapping[str, Shape]
    """What may be imported; the module stands before a name that is not of ``gateway_core``."""
    hooks: Mapping[str, Shape]

    @property
    def digest(self) -> str:
        """SHA-256, in hex, over everything it holds."""
        content = msgspec.json.encode(self, order="deterministic")
        return hashlib.sha256(content).hexdigest()


class Release(Struct, frozen=True, kw_only=True):
    """A version of the gateway."""

    speaks: tuple[int, ...]
    """The versions of the hook protocol that it understands."""
    interface: str
    """Digest of what it offers."""


class Book(Struct, frozen=True, kw_only=True):
    """Every interface that is known."""

    protocols: Mapping[str, str]
    """Versions of the hook protocol, to the digest of the interface that a plugin may count on."""
    releases: Mapping[str, Release]
    """Versions of the gateway."""
    interfaces: Mapping[str, Interface]
    """By digest."""


class KernelInterface(Struct, frozen=True, kw_only=True):
    """A gateway that a plugin is held against."""

    name: str
    speaks: tuple[int, ...]
    interface: Interface


class UnknownVersion(LookupError):
    """Nothing is known of this version. The message says of which something is."""


@cache
def book() -> Book:
    """What this version of the gateway knows."""
    return msgspec.json.decode(pkgutil.get_data(__package__, FILE) or b"", type=Book)


def gateway_of(version: str) -> KernelInterface:
    """A gateway by its own version or that of its hook protocol. Raises UnknownVersion."""
    known = book()
    if version in known.releases:
        release = known.releases[version]
        interface = known.interfaces[release.interface]
        return KernelInterface(
            name=f"model-gateway {version}", speaks=release.speaks, interface=interface
        )
    if version in known.protocols:
        # It has this version for its own, and still understands the one before.
        protocol = int(version)
        return KernelInterface(
            name=f"hook protocol {protocol}",
            speaks=tuple(n for n in (protocol - 1, protocol) if str(n) in known.protocols),
            interface=known.interfaces[known.protocols[version]],
        )
    versions = listed([*sorted(known.protocols), *sorted(known.releases)])
    raise UnknownVersion(f"Nothing is known of version {version!r}; known are {versions}.")


def interface_of(protocol: int) -> Interface | None:
    """What a plugin may count on that speaks this version; None for one that is not known."""
    digest = book().protocols.get(str(protocol))
    return None if digest is None else book().interfaces[digest]


def broken(promised: Interface, offered: Interface) -> Iterator[str]:
    """What a plugin that was written for one interface would miss in another."""
    yield from _broken("", promised.names, offered.names)
    yield from _broken("hook ", promised.hooks, offered.hooks)


def _broken(
    kind: str, promised: Mapping[str, Shape], offered: Mapping[str, Shape]
) -> Iterator[str]:
    for name, shape in promised.items():
        label = f"{kind}{name}"
        if name not in offered:
            yield f"{label} is gone"
            continue
        for member, before in shape.items():
            now = offered[name].get(member)
            if now is None:
                yield f"{label}.{member} is gone"
                continue
            is_same_type = before.partition(" = ")[0] == now.partition(" = ")[0]
            # A field that could be left out must stay so; one that becomes optional harms nobody.
            if not is_same_type or (is_optional(before) and not is_optional(now)):
                yield f"{label}{f'.{member}' if member else ''} is {now}, and was {before}"
        if shape.get(KIND) in ("struct", "protocol"):
            for member in offered[name].keys() - shape.keys():
                if not is_optional(offered[name][member]):
                    yield f"{label}.{member} is new, and must be there"


def is_optional(member: str) -> bool:
    """Whether a field may be left out."""
    return " = " in member


def takes_more(before: str, now: str) -> bool:
    """Whether a method takes all that it took, and further arguments that may be left out."""
    was, is_now = _arguments(before), _arguments(now)
    if was is None or is_now is None:
        return False
    names, rest = was
    further = [each for each in is_now[0] if each not in names]
    return (
        bool(further)
        and is_now[1] == rest
        and [each for each in is_now[0] if each in names] == names
        and all(is_optional(each) for each in further)
    )


def _arguments(member: str) -> tuple[list[str], str] | None:
    """The arguments that go by name, and the rest of a method; None for what is no method."""
    is_async = member.startswith("async ")
    source = f"async def f{member[6:]}: ..." if is_async else f"def f{member}: ..."
    try:
        method = ast.parse(source).body[0]
    except SyntaxError:
        return None
    assert isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = method.args
    named = [
        f"{ast.unparse(each)}{'' if default is None else f' = {ast.unparse(default)}'}"
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    arguments.kwonlyargs, arguments.kw_defaults = [], []
    return named, ast.unparse(method)
