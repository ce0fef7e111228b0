"""The members of a system message beside its content, which instructions have no place for.

Instructions are texts, so the first text of a message carries its other members, each under its
place in the message.
"""

from collections.abc import Iterable, Mapping

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Text

ON_MESSAGE = "messages."
"""Marks, in the ``extra`` of an instruction, a member of the message around it."""


def put_on_texts(
    texts: Iterable[Text], members: Mapping[str, Raw], *, cache: str | None = None
) -> list[Text]:
    """The texts of a system message, which carry its other members and its cache breakpoint."""
    carrying = list(texts)
    if carrying and members:
        first = carrying[0]
        marked = {f"{ON_MESSAGE}{name}": raw for name, raw in members.items()}
        carrying[0] = replace(first, extra={**first.extra, **marked})
    if carrying and cache is not None and carrying[-1].cache is None:
        carrying[-1] = replace(carrying[-1], cache=cache)
    return carrying


def take_from_text(text: Text) -> tuple[Text, dict[str, Raw]]:
    """A text without what it carries of its message, and those members."""
    members = {
        name.removeprefix(ON_MESSAGE): raw
        for name, raw in text.extra.items()
        if name.startswith(ON_MESSAGE)
    }
    if not members:
        return text, members
    own = {name: raw for name, raw in text.extra.items() if not name.startswith(ON_MESSAGE)}
    return replace(text, extra=own), members
