"""How one process variable is declared: its name, what it accepts and how its text is read."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, get_type_hints

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields

from .errors import ConfigError


class Reading(Struct, frozen=True):
    """Turns a variable's text into a value; ``read`` raises ValueError for what it refuses."""

    accepts: str
    """What is accepted, in words that fit behind a colon."""
    read: Callable[[str], Any]


class Variable(Struct, frozen=True, kw_only=True):
    """One declared variable."""

    field: str
    name: str
    description: str
    reading: Reading
    secret: bool
    default: Any
    shown_default: str | None

    def value(self, text: str) -> Any:
        """Read the variable's text. Raises ConfigError."""
        try:
            return self.reading.read(text.strip())
        except ValueError as error:
            shown = "the given value" if self.secret else repr(text[:100])
            raise ConfigError(
                f"{self.name} does not accept {shown}: it takes {self.reading.accepts}."
            ) from error


def variable(
    name: str,
    description: str,
    reading: Reading,
    *,
    secret: bool = False,
    shown_default: str | None = None,
) -> Meta:
    """Declare the variable behind a field; ``shown_default`` is for readers only."""
    traits = {
        "name": name,
        "reading": reading,
        "secret": secret,
        "shown_default": shown_default,
    }
    return Meta(description=description, extra=traits)


def declared(owner: type[Struct]) -> tuple[Variable, ...]:
    """The variables a struct declares, in its own order."""
    hints = get_type_hints(owner, include_extras=True)
    variables = []
    for field in fields(owner):
        meta = next((m for m in getattr(hints[field.name], "__metadata__", ()) if m.extra), None)
        if meta is not None:
            default = None if field.default is NODEFAULT else field.default
            variables.append(
                Variable(
                    field=field.name, description=meta.description, default=default, **meta.extra
                )
            )
    return tuple(variables)


def whole(low: int, high: int | None = None) -> Reading:
    """A number written in decimal digits only, from ``low`` to ``high``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 100:
            raise ValueError("not decimal digits")
        number = int(text)
        if number < low or (high is not None and number > high):
            raise ValueError("out of range")
        return number

    limits = f"of {low} or more" if high is None else f"from {low} to {high}"
    return Reading(f"a whole number {limits}", read)


def choice(options: type[StrEnum]) -> Reading:
    """One word of an enumeration, in any case."""
    words = {option.value.lower(): option for option in options}

    def read(text: str) -> StrEnum:
        try:
            return words[text.lower()]
        except KeyError as error:
            raise ValueError("not an option") from error

    return Reading("one of " + ", ".join(option.value for option in options), read)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _switch(text: str) -> bool:
    word = text.lower()
    if word not in (*_ON, *_OFF):
        raise ValueError("neither on nor off")
    return word in _ON


_ON = ("true", "1", "yes", "on")
_OFF = ("false", "0", "no", "off")
TEXT = Reading("any text", str)
LIST = Reading("names with commas between", _words)
SWITCH = Reading("true or false", _switch)
