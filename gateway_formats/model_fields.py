"""Finds the places of a JSON text in which a vendor's API names models."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from .json_text import AmbiguousField, JsonText, Span

_STEP = re.compile(r"(?P<name>\w+)(?P<list>\[(?:(?P<type>\w+)\*)?\])?")


class Step(Struct):
    """A member on the way to a place."""

    following: "dict[str, Step]" = {}
    place: str = ""
    """The whole way, where a model's name stands here."""
    is_list: bool = False
    type: str = ""
    """How the ``type`` of the list's elements begins that are looked at."""


class ModelField(Struct, frozen=True):
    """A model's name, or whatever stands in its place."""

    place: str
    span: Span


def find_models(
    text: JsonText, places: tuple[str, ...], beside: frozenset[str] = frozenset()
) -> Iterator[ModelField]:
    """Every model that is named at one of the places; ``null`` names none. A place is written as
    ``session.model``, ``requests[].params.model`` or ``tools[advisor*].model``: the last one is in
    elements whose ``type`` begins so.

    Raises AmbiguousField where a member on the way, or one of the members ``beside`` at the top,
    occurs twice or in another case: some readers take ``Model`` for ``model``.
    """
    yield from _find(text, text.root, _tree(places), beside)


def _find(text: JsonText, span: Span, step: Step, further: frozenset[str]) -> Iterator[ModelField]:
    members = text.members(span)
    _check_case(members, further.union(step.following))
    for name, following in step.following.items():
        value = members.get(name)
        if value is None or text.content[value.begin : value.end] == b"null":
            continue
        if following.place:
            yield ModelField(following.place, value)
        elif following.is_list:
            for element in text.elements(value):
                if _is_of_type(text, element, following.type):
                    yield from _find(text, element, following, frozenset())
        else:
            yield from _find(text, value, following, frozenset())


def _check_case(members: Iterable[str], known: frozenset[str]) -> None:
    for name in members:
        if name not in known and name.casefold() in known:
            raise AmbiguousField


def _is_of_type(text: JsonText, element: Span, beginning: str) -> bool:
    if not beginning:
        return True
    members = text.members(element)
    _check_case(members, frozenset({"type"}))
    kind = text.read(members["type"]) if "type" in members else None
    return isinstance(kind, str) and kind.startswith(beginning)


@lru_cache(maxsize=256)
def _tree(places: tuple[str, ...]) -> Step:
    root = Step()
    for place in places:
        step = root
        for word in place.split("."):
            match = _STEP.fullmatch(word)
            if match is None:
                raise ValueError(f"{place} is no place of a model")
            step = step.following.setdefault(match["name"], Step())
            step.is_list, step.type = match["list"] is not None, match["type"] or ""
        step.place = place
    return root
