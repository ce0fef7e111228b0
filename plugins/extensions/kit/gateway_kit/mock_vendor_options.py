"""The options by which commands are told how the mock vendor is to answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from .mock_vendor import Dialect


def dialect_of(wire: str) -> "Dialect":
    """One that the kit has words for, or an installed format can speak. Raises BadParameter."""
    from .installed_formats import format_plugins, registry_of
    from .mock_vendor import DIALECTS
    from .mock_vendor.format_dialect import spoken_by

    if wire in DIALECTS:
        return DIALECTS[wire]
    formats = registry_of(format_plugins()).formats
    found = spoken_by(formats[wire]) if wire in formats else None
    if found is None:
        check_known("--format", wire, dict.fromkeys([*DIALECTS, *formats]))
        raise click.BadParameter(f"nothing installed can answer in {wire!r}", param_hint="--format")
    return found


def check_fault(fault: str | None) -> None:
    """Raises BadParameter."""
    from .mock_vendor import DIALECTS, Scene, UnknownFault, spoil

    try:
        if fault is not None:
            spoil(Scene(dialect=DIALECTS["openai"]), fault)
    except UnknownFault as error:
        raise click.BadParameter(str(error), param_hint="--fault") from None


def check_says(says: str) -> None:
    """Raises BadParameter."""
    from .mock_vendor import SAYINGS

    check_known("--says", says, SAYINGS)


def check_known(option: str, given: str, names: Iterable[str]) -> None:
    """Raises BadParameter."""
    if given not in names:
        raise click.BadParameter(f"{given!r} is none of {', '.join(names)}", param_hint=option)
