"""The options by which commands are told how the mock vendor is to answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from .mock_vendor import Dialect


def resolve_dialect(wire: str) -> "Dialect":
    """One that the kit has words for, or an installed format can speak. Raises BadParameter."""
    from .installed_formats import build_registry, format_plugins
    from .mock_vendor import DIALECTS
    from .mock_vendor.format_dialect import dialect_from_format

    if wire in DIALECTS:
        return DIALECTS[wire]
    formats = build_registry(format_plugins()).formats
    dialect = dialect_from_format(formats[wire]) if wire in formats else None
    if dialect is None:
        check_known("--format", wire, dict.fromkeys([*DIALECTS, *formats]))
        raise click.BadParameter(f"nothing installed can answer in {wire!r}", param_hint="--format")
    return dialect


def check_fault(fault: str | None) -> None:
    """Raises BadParameter."""
    from .mock_vendor import DIALECTS, MockAnswer, UnknownFault, apply_fault

    try:
        if fault is not None:
            apply_fault(MockAnswer(dialect=DIALECTS["openai"]), fault)
    except UnknownFault as error:
        raise click.BadParameter(str(error), param_hint="--fault") from None


def check_content(says: str) -> None:
    """Raises BadParameter."""
    from .mock_vendor import CONTENTS

    check_known("--says", says, CONTENTS)


def check_known(option: str, value: str, names: Iterable[str]) -> None:
    """Raises BadParameter."""
    if value not in names:
        raise click.BadParameter(f"{value!r} is none of {', '.join(names)}", param_hint=option)
