"""From JSON Schema to the cut-down OpenAPI 3.0 that function parameters are declared in.

The API refuses a request for any keyword it does not know, for references,
for lists of types and for enums of anything but strings. So what can be said
otherwise is said otherwise, what can only be told is told in the description,
and every keyword that was given up is named.
https://ai.google.dev/api/caching#Schema
"""

import math
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import BadRequest

from .._schema_cache import remembered
from .schema_references import References, Schema, Trail
from .schema_values import (
    anything,
    as_nullable,
    either,
    is_null,
    is_number,
    is_run,
    is_typed,
    is_whole,
    noted,
    of_type,
    shared_words,
    type_of,
    valued,
)

_TEXTS = frozenset({"title", "description", "pattern"})
_COUNTS = frozenset(f"{end}{of}" for end in ("min", "max") for of in ("Items", "Length"))
_SIZES = _COUNTS | {"minProperties", "maxProperties"}
_FORMATS = {
    "STRING": frozenset({"date-time"}),
    "NUMBER": frozenset({"float", "double"}),
    "INTEGER": frozenset({"int32", "int64"}),
}
_SEEN_TO = frozenset(
    {"type", "properties", "items", "required", "enum", "format", "exclusiveMinimum"}
    | {"exclusiveMaximum", "examples", "example", "prefixItems", "propertyOrdering", "nullable"}
    | {"$defs", "definitions", "anyOf", "oneOf"}
)
"""Keywords that have a rule of their own below, or have done their work."""
_SILENT = frozenset({"$schema", "$id", "$anchor", "$comment", "id", "discriminator", "deprecated"})
"""Dropped keywords that tell a model nothing, and so are not repeated in the description."""
_SHAPING = frozenset({"properties", "items", "enum", "required", "pattern", "prefixItems"})
_PLAIN = (("additionalProperties", True),)
_DEEPEST = 40
_MOST_NODES = 4000
"""References multiply; beyond this many places the rest is left undescribed."""

_encode = msgspec.json.encode


class Rewritten(Struct, frozen=True):
    schema: bytes | None
    """``None`` for a function without parameters, which must not describe them."""
    dropped: tuple[str, ...] = ()


def parameters_schema(schema: bytes) -> Rewritten:
    """A function's parameters; always an object. Raises BadRequest."""
    try:
        return remembered(_parameters, schema)
    except RecursionError:
        return Rewritten(None, ("depth",))


def response_schema(schema: bytes) -> Rewritten:
    """The schema of an answer, its members in the order they were given in. Raises BadRequest."""
    try:
        return remembered(_response, schema)
    except RecursionError:
        return Rewritten(b'{"type":"OBJECT"}', ("depth",))


def _parameters(schema: bytes) -> Rewritten:
    rewriter = _Rewriter(_read(schema))
    made = rewriter.whole()
    if "anyOf" in made:
        made = rewriter.one_object(made)
    empty = made.get("type") == "OBJECT" and not made.get("properties")
    return Rewritten(None if empty else _encode(made), tuple(rewriter.dropped))


def _response(schema: bytes) -> Rewritten:
    rewriter = _Rewriter(_read(schema), ordered=True)
    return Rewritten(_encode(rewriter.whole()), tuple(rewriter.dropped))


def _read(schema: bytes) -> Any:
    try:
        return msgspec.json.decode(schema)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadRequest("A schema of the request cannot be read") from None


class _Rewriter:
    def __init__(self, root: Any, *, ordered: bool = False) -> None:
        self.dropped: dict[str, None] = {}
        self._root = root
        self._ordered = ordered
        self._references = References(root, self.drop)
        self._left = _MOST_NODES

    def drop(self, keyword: str) -> None:
        self.dropped[keyword] = None

    def whole(self) -> Schema:
        return self._node(self._root, frozenset(), 0)

    def one_object(self, union: Schema) -> Schema:
        """Parameters that are one of several objects, as one object of all their members."""
        self.drop("anyOf")
        branches = [each for each in union["anyOf"] if each.get("type") == "OBJECT"]
        properties: Schema = {}
        for each in branches:
            for name, value in each.get("properties", {}).items():
                properties.setdefault(name, value)
        needed = [set(each.get("required", ())) for each in branches]
        always = set.intersection(*needed) if needed else set()
        required = [name for name in properties if name in always]
        made: Schema = {"type": "OBJECT", "properties": properties}
        return {**made, "required": required} if required else made

    def _node(self, schema: Any, trail: Trail, depth: int) -> Schema:
        self._left -= 1
        if not isinstance(schema, dict):
            if schema is not True:
                self.drop("false")
            return anything()
        if depth > _DEEPEST or self._left < 0:
            self.drop("depth")
            return {"type": "OBJECT"}
        flat, trail = self._references.flat(schema, trail)
        flat = valued(flat)
        nullable, branches = self._branches(flat)
        if len(branches) > 1:
            return self._union(flat, branches, nullable, trail, depth)
        if branches:
            alone = self._references.combined(_beside(flat, branches[0]), branches[0])
            made = self._node(alone, trail, depth + 1)
            return as_nullable(made) if nullable else made
        made = self._plain(flat, trail, depth)
        return as_nullable(made) if nullable else made

    def _branches(self, flat: Schema) -> tuple[bool, list[Schema]]:
        """Whether null is allowed, and the alternatives; none for a schema of one type."""
        said, words = flat.get("type"), flat.get("enum")
        nullable = flat.get("nullable") is True or (isinstance(words, list) and None in words)
        for name in ("anyOf", "oneOf"):
            if isinstance(flat.get(name), list) and flat[name]:
                return self._alternatives(name, flat, nullable)
        if isinstance(said, list):
            types = [each for each in said if each != "null"]
            if types:
                alone = [{"type": types[0]}]
                several = [of_type(flat, each) for each in types]
                return nullable or "null" in said, several if len(types) > 1 else alone
        return nullable, []

    def _alternatives(self, name: str, flat: Schema, nullable: bool) -> tuple[bool, list[Schema]]:
        given = [each for each in flat[name] if isinstance(each, dict)]
        branches = [each for each in given if not is_null(each)]
        nullable = nullable or len(branches) < len(given)
        if name == "oneOf" and len(branches) > 1:
            self.drop("oneOf")
        if len(branches) > 1 and (_SHAPING & flat.keys() or not all(map(is_typed, branches))):
            # The API takes no keyword beside anyOf, and the schema itself says more.
            self.drop(name)
            return nullable, []
        return nullable, branches or [{"type": "null"}]

    def _union(
        self, flat: Schema, branches: list[Schema], nullable: bool, trail: Trail, depth: int
    ) -> Schema:
        words = shared_words(branches)
        told = _told(flat)
        if words is not None:
            made: Schema = {"type": "STRING", **told, "enum": words}
            return as_nullable(made) if nullable else made
        self._give_up_beside_union(flat)
        made = either([self._node({**told, **each}, trail, depth + 1) for each in branches])
        return as_nullable(made) if nullable else made

    def _give_up_beside_union(self, flat: Schema) -> None:
        kept = _SEEN_TO | {"title", "description"} | _SIZES | {"pattern", "minimum", "maximum"}
        for name in flat:
            if name not in kept:
                self.drop(name)

    def _plain(self, flat: Schema, trail: Trail, depth: int) -> Schema:
        said = type_of(flat)
        if said is None:
            if isinstance(flat.get("type"), str):
                self.drop("type")
            told = _told(flat)
            self._give_up_beside_union(flat)
            return anything(told)
        made: Schema = {"type": said.upper()}
        notes: Schema = {}
        for name, value in flat.items():
            self._keyword(name, value, made, notes)
        self._bounds(flat, made, notes)
        self._enum(flat, made, notes)
        self._format(flat, made, notes)
        if said == "object":
            self._object(flat, made, trail, depth)
        if said == "array":
            made["items"] = self._items(flat, made, trail, depth)
        return noted(made, notes)

    def _keyword(self, name: str, value: Any, made: Schema, notes: Schema) -> None:
        if name in _SEEN_TO:
            return
        if name in _TEXTS and isinstance(value, str):
            made[name] = value
        elif name in _SIZES and is_whole(value):
            made[name] = int(value)
        elif (name in ("minimum", "maximum") and is_number(value)) or name == "default":
            made[name] = value
        else:
            self.drop(name)
            if name not in _SILENT and value is not False and (name, value) not in _PLAIN:
                notes[name] = value

    def _bounds(self, flat: Schema, made: Schema, notes: Schema) -> None:
        """Exclusive bounds of whole numbers have an inclusive neighbour."""
        for name, plain, step in (
            ("exclusiveMinimum", "minimum", 1),
            ("exclusiveMaximum", "maximum", -1),
        ):
            value = flat.get(name)
            bound = made.get(plain) if value is True else value
            if bound is None or not is_number(bound):
                continue
            if made["type"] == "INTEGER":
                near = math.floor(bound) if step > 0 else math.ceil(bound)
                made[plain] = near + step
                continue
            self.drop(name)
            notes[name] = bound
            made.setdefault(plain, bound)

    def _enum(self, flat: Schema, made: Schema, notes: Schema) -> None:
        given = flat.get("enum")
        if not isinstance(given, list):
            return
        values = [value for value in given if value is not None]
        if made["type"] == "STRING":
            words = [value for value in values if isinstance(value, str) and value]
            if words:
                made["enum"] = words
            if len(words) < len(values):
                self.drop("enum")
            return
        numbers = [value for value in values if is_number(value)]
        if made["type"] in ("INTEGER", "NUMBER") and numbers:
            made["minimum"], made["maximum"] = min(numbers), max(numbers)
        if values and not is_run(made["type"], values):
            self.drop("enum")
            notes["enum"] = values

    def _format(self, flat: Schema, made: Schema, notes: Schema) -> None:
        said = flat.get("format")
        if not isinstance(said, str):
            return
        if said in _FORMATS.get(made["type"], ()):
            made["format"] = said
            return
        self.drop("format")
        notes["format"] = said

    def _object(self, flat: Schema, made: Schema, trail: Trail, depth: int) -> None:
        given = flat.get("properties")
        properties = given if isinstance(given, dict) else {}
        if properties:
            made["properties"] = {
                name: self._node(each, trail, depth + 1) for name, each in properties.items()
            }
        required = flat.get("required")
        needed = required if isinstance(required, list) else []
        kept = [name for name in needed if isinstance(name, str) and name in properties]
        if kept:
            made["required"] = kept
        if "required" in flat and kept != required:
            self.drop("required")
        order = flat.get("propertyOrdering")
        if isinstance(order, list):
            made["propertyOrdering"] = [
                name for name in order if isinstance(name, str) and name in properties
            ]
        elif self._ordered and len(properties) > 1:
            made["propertyOrdering"] = list(properties)

    def _items(self, flat: Schema, made: Schema, trail: Trail, depth: int) -> Schema:
        items = flat.get("items", True)
        places = flat.get("prefixItems", items)
        if not isinstance(places, list):
            return self._node(items, trail, depth + 1)
        self.drop("prefixItems" if "prefixItems" in flat else "items")
        made.setdefault("minItems", len(places))
        made.setdefault("maxItems", len(places))
        found = [self._node(each, trail, depth + 1) for each in places]
        return either(found) if found else anything()


def _told(flat: Schema) -> Schema:
    return {name: flat[name] for name in ("title", "description") if name in flat}


def _beside(flat: Schema, branch: Schema) -> Schema:
    """What stands beside the only alternative there is."""
    left = {name: each for name, each in flat.items() if name not in ("anyOf", "oneOf", "nullable")}
    if isinstance(left.get("type"), list) or is_typed(branch):
        left.pop("type", None)
    return left
