"""Resolves ``$ref`` and ``allOf``, which the API does not know.

https://json-schema.org/draft/2020-12/json-schema-core#name-schema-references
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

Schema = dict[str, Any]
Trail = frozenset[str]
"""The references that are being followed, so that none is followed within itself."""

_STRICTER: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
}
_MOST_STEPS = 5000
"""References and joins multiply; beyond this many nothing more is looked up."""
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "example"})


class References:
    """Looks references up in the document they stand in; names what it must drop."""

    def __init__(self, root: Any, drop: Callable[[str], None]) -> None:
        self._root = root
        self._drop = drop
        self._left = _MOST_STEPS

    def resolve(self, schema: Schema, trail: Trail) -> tuple[Schema, Trail]:
        """The schema with its references followed and its ``allOf`` joined."""
        # A few references that each name the next one twice would multiply without end.
        self._left -= 1
        if self._left < 0:
            self._drop("depth")
            return {"type": "object"}, trail
        while isinstance(schema.get("$ref"), str):
            schema, trail = self._follow(schema, trail)
        joined = schema.get("allOf")
        if not isinstance(joined, list):
            return schema, trail
        whole = {name: value for name, value in schema.items() if name != "allOf"}
        followed = trail
        for each in joined:
            if isinstance(each, dict):
                branch, seen = self.resolve(each, trail)
                whole, followed = self.combine(whole, branch), followed | seen
        return whole, followed

    def combine(self, one: Schema, other: Schema) -> Schema:
        """A schema that both describe."""
        whole = dict(one)
        for name, value in other.items():
            whole[name] = self._join(name, whole[name], value) if name in whole else value
        return whole

    def _follow(self, schema: Schema, trail: Trail) -> tuple[Schema, Trail]:
        ref = schema["$ref"]
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        if ref in trail:
            # A schema within itself cannot be written out, so it ends in a note.
            self._drop("$ref")
            note = f"The same as {ref.rpartition('/')[2] or 'the whole'} again."
            if "description" in rest:
                note = f"{rest['description']} {note}"
            return {"type": "object", **rest, "description": note}, trail
        # Only JSON pointers (RFC 6901) within the document are followed.
        place: Any = self._root if ref.startswith("#") else None
        for step in unquote(ref[1:]).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and name.isdigit() and int(name) < len(place):
                place = place[int(name)]
            else:
                place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            self._drop("$ref")
            return rest, trail
        return self.combine(rest, place), trail | {ref}

    def _join(self, name: str, one: Any, other: Any) -> Any:
        if one == other or name in _ANNOTATIONS or name.startswith("$"):
            return one
        match name, one, other:
            case "properties", dict(), dict():
                shared = {key: {"allOf": [one[key], other[key]]} for key in one if key in other}
                return {**one, **other, **shared}
            case "required", list(), list():
                return [*one, *(each for each in other if each not in one)]
            case (("anyOf" | "oneOf"), list(), list()):
                self._drop(name)
                return one
            case "enum", list(), list():
                return [value for value in one if value in other] or one
            case "type", "number", "integer":
                return "integer"
            case "items", dict(), dict():
                return {"allOf": [one, other]}
        stricter = _STRICTER.get(name)
        if stricter and isinstance(one, int | float) and isinstance(other, int | float):
            return stricter(one, other)
        self._drop("allOf")
        return one
