"""The plugin author's door as it was in each version, kept in ``protocols.json``.

An interface tells in plain text what each name is made of: fields with their
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

from .protocol import listed

FILE = "protocols.json"
KIND = ""
"""The member that tells what a name stands for, and the answer that a hook gives."""

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
        return _of_protocol(int(version))
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


def is_optional(member: str) -> bool:
    """Whether a field may be left out."""
    return " = " in member


def takes_more(before: str, now: str) -> bool:
    """Whether a method takes all that it took, and further arguments that may be left out."""
    was, is_now = _arguments(before), _arguments(now)
    if was is None or is_now is None:
        return False
    names, wanted = was
    further = [each for each in is_now[0] if each not in names]
    return (
        bool(further)
        and is_now[1] == wanted
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
    given = method.args
    named = [
        f"{ast.unparse(each)}{'' if default is None else f' = {ast.unparse(default)}'}"
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    given.kwonlyargs, given.kw_defaults = [], []
    return named, ast.unparse(method)


def _of_protocol(protocol: int) -> KernelInterface:
    """A gateway that has this version for its own, and still understands the one before."""
    known = book().protocols
    speaks = tuple(each for each in (protocol - 1, protocol) if str(each) in known)
    interface = book().interfaces[known[str(protocol)]]
    return KernelInterface(name=f"hook protocol {protocol}", speaks=speaks, interface=interface)


def _broken(
    kind: str, promised: Mapping[str, Shape], offered: Mapping[str, Shape]
) -> Iterator[str]:
    for name, shape in promised.items():
        if name not in offered:
            yield f"{kind}{name} is gone"
        else:
            yield from (
                f"{kind}{name}{difference}" for difference in _differences(shape, offered[name])
            )


def _differences(promised: Shape, offered: Shape) -> Iterator[str]:
    for member, before in promised.items():
        if member not in offered:
            yield f".{member} is gone"
        elif not _keeps(before, offered[member]):
            yield f"{f'.{member}' if member else ''} is {offered[member]}, and was {before}"
    if promised.get(KIND) in ("struct", "protocol"):
        for member in offered.keys() - promised.keys():
            if not is_optional(offered[member]):
                yield f".{member} is new, and must be there"


def _keeps(promised: str, offered: str) -> bool:
    """Whether a field is of the type it was, and may be left out if it could be."""
    return promised.partition(" = ")[0] == offered.partition(" = ")[0] and (
        is_optional(offered) or not is_optional(promised)
    )
