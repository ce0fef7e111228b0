"""Whether a plugin fits a gateway, by what its source uses and what that gateway offers."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from gateway_core.plugins.discovery import Found
from gateway_core.plugins.protocol import ARGUMENTS, CURRENT, MARK, unsupported

from .interface import (
    KIND,
    Interface,
    KernelInterface,
    gateway_of,
    interface_of,
    is_optional,
    takes_more,
)
from .uses import DOOR, Hook, Taken, UseLocation, Uses, uses_of


class Weight(StrEnum):
    """What a finding means for the plugin."""

    MISSING = "missing"
    """It does not work there."""
    CHANGED = "changed"
    """It is there, and not as it was where the plugin was written for."""
    NOTE = "note"
    """It works, and somebody should know."""


class Incompatibility(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that was seen."""

    weight: Weight
    detail: str
    place: str
    """File and line; empty where there is none."""


class Comparison(Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin held against a gateway."""

    plugin: str
    protocol: int | None
    """What the plugin says it speaks; ``None`` when its source does not tell."""
    against: str
    """Which gateway."""
    speaks: tuple[int, ...]
    """The versions of the hook protocol that it understands."""
    fits: bool
    """False when something is missing."""
    findings: tuple[Incompatibility, ...]


def compared(discovered: Found, version: str = str(CURRENT)) -> Comparison:
    """Hold a plugin against a version of the gateway, or of the hook protocol.

    Raises UnknownVersion, OSError.
    """
    gateway, uses = gateway_of(version), uses_of(discovered)
    findings = findings_of(uses, gateway)
    return Comparison(
        plugin=discovered.name,
        protocol=uses.protocol,
        against=gateway.name,
        speaks=gateway.speaks,
        fits=all(each.weight is not Weight.MISSING for each in findings),
        findings=findings,
    )


def findings_of(uses: Uses, gateway: KernelInterface) -> tuple[Incompatibility, ...]:
    """What there is to tell, each once, with the place where it was seen first."""
    first: dict[str, Incompatibility] = {}
    for each in _findings(uses, gateway):
        first.setdefault(each.detail, each)
    return tuple(first.values())


def _findings(uses: Uses, gateway: KernelInterface) -> Iterator[Incompatibility]:
    for place, reason in uses.unread:
        yield _missing(reason, place)
    if uses.protocol is None:
        note = f"its source does not tell which hook protocol it speaks; write {MARK} = {CURRENT}"
        yield Incompatibility(weight=Weight.NOTE, detail=note, place="")
    elif uses.protocol not in gateway.speaks:
        detail = unsupported(uses.protocol, gateway.speaks)
        yield Incompatibility(weight=Weight.MISSING, detail=detail, place="")
    offered = gateway.interface
    for taken in uses.names:
        yield from _of_name(taken, offered)
    for call in uses.calls:
        shape = offered.names.get(call.name, {KIND: ""})
        if shape[KIND] != "struct":
            continue
        for keyword in call.keywords:
            if keyword not in shape:
                yield _missing(f"{call.name} has no {keyword}", call.place)
        # Methods and properties are members of a struct's shape too; only fields are arguments.
        required = {
            name
            for name, member in shape.items()
            if name != KIND
            and not is_optional(member)
            and not member.startswith(("(", "async (", "property "))
        }
        for name in sorted(required - set(call.keywords)) if call.is_whole else ():
            yield _missing(f"{call.name} is not made without {name}", call.place)
    for hook in uses.hooks:
        yield from _of_hook(hook, uses.protocol, offered)
    written_for = interface_of(uses.protocol) if uses.protocol else None
    if written_for is None:
        return
    for taken in uses.names:
        before = written_for.names.get(taken.name, {})
        now = offered.names.get(taken.name, {})
        for member in before.keys() & now.keys():
            if before[member] != now[member] and not takes_more(before[member], now[member]):
                name = taken.name if member == KIND else f"{taken.name}.{member}"
                detail = f"{name} is {now[member]}, and not {before[member]}"
                yield Incompatibility(weight=Weight.CHANGED, detail=detail, place=str(taken.place))


def _of_name(taken: Taken, offered: Interface) -> Iterator[Incompatibility]:
    if taken.name == "*":
        yield _note("it takes every name of the gateway, so nothing of it is checked", taken.place)
        return
    shape = offered.names.get(taken.name)
    if shape is not None:
        if shape[KIND] == "enum" and taken.member.isupper() and taken.member not in shape:
            yield _missing(f"{taken.name} has no {taken.member}", taken.place)
    elif taken.name.startswith(f"{DOOR}."):
        if f"{taken.name}.{taken.member}" not in offered.names:
            yield _note(f"{taken.name} is private: no version promises it", taken.place)
    else:
        yield _missing(f"{DOOR} has no {taken.name}", taken.place)


def _of_hook(hook: Hook, protocol: int | None, offered: Interface) -> Iterator[Incompatibility]:
    if hook.name not in offered.hooks:
        yield _missing(f"there is no hook {hook.name}", hook.place)
        return
    for argument in hook.arguments:
        versions = ARGUMENTS.get(argument, ())
        if argument not in offered.hooks[hook.name]:
            yield _missing(f"{hook.name} is given no {argument}", hook.place)
        elif protocol is not None and versions:
            usage = f"{hook.name} takes {argument}, which"
            if protocol > max(versions):
                yield _missing(f"{usage} hook protocol {protocol} has not", hook.place)
            elif protocol < min(versions):
                yield _note(f"{usage} came with hook protocol {min(versions)}: say so", hook.place)
            elif protocol < CURRENT:
                yield _note(f"{usage} goes with hook protocol {max(versions)}", hook.place)


def _missing(detail: str, place: UseLocation) -> Incompatibility:
    return Incompatibility(weight=Weight.MISSING, detail=detail, place=str(place))


def _note(detail: str, place: UseLocation) -> Incompatibility:
    return Incompatibility(weight=Weight.NOTE, detail=detail, place=str(place))
