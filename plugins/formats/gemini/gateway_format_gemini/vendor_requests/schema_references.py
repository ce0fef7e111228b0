"""Schemas without ``$ref`` and ``allOf``: what they point at and join, put in their place."""

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

    def flat(self, schema: Schema, trail: Trail) -> tuple[Schema, Trail]:
        """The schema with its references followed and its ``allOf`` joined."""
        self._left -= 1
        if self._left < 0:
            self._drop("depth")
            return {"type": "object"}, trail
        while isinstance(schema.get("$ref"), str):
            schema, trail = self._followed(schema, trail)
        joined = schema.get("allOf")
        if not isinstance(joined, list):
            return schema, trail
        whole = {name: value for name, value in schema.items() if name != "allOf"}
        followed = trail
        for each in joined:
            if isinstance(each, dict):
                branch, seen = self.flat(each, trail)
                whole, followed = self.combined(whole, branch), followed | seen
        return whole, followed

    def combined(self, one: Schema, other: Schema) -> Schema:
        """A schema that both describe."""
        whole = dict(one)
        for name, value in other.items():
            whole[name] = self._both(name, whole[name], value) if name in whole else value
        return whole

    def _followed(self, schema: Schema, trail: Trail) -> tuple[Schema, Trail]:
        ref = schema["$ref"]
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        if ref in trail:
            self._drop("$ref")
            again = f"The same as {ref.rpartition('/')[2] or 'the whole'} again."
            said = f"{rest['description']} {again}" if "description" in rest else again
            return {"type": "object", **rest, "description": said}, trail
        target = self._found(ref)
        if target is None:
            self._drop("$ref")
            return rest, trail
        return self.combined(rest, target), trail | {ref}

    def _found(self, ref: str) -> Schema | None:
        """Follow a JSON pointer within the document."""
        if not ref.startswith("#"):
            return None
        place = self._root
        for step in unquote(ref[1:]).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and name.isdigit() and int(name) < len(place):
                place = place[int(name)]
            elif isinstance(place, dict) and name in place:
                place = place[name]
            else:
                return None
        return place if isinstance(place, dict) else None

    def _both(self, name: str, one: Any, other: Any) -> Any:
        if one == other or name in _ANNOTATIONS or name.startswith("$"):
            return one
        match name, one, other:
            case "properties", dict(), dict():
                shared = {key: {"allOf": [one[key], other[key]]} for key in one if key in other}
                return {**one, **other, **shared}
            case (("required" | "anyOf" | "oneOf"), list(), list()):
                return self._lists(name, one, other)
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

    def _lists(self, name: str, one: list[Any], other: list[Any]) -> list[Any]:
        if name == "required":
            return [*one, *(each for each in other if each not in one)]
        self._drop(name)
        return one
