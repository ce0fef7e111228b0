"""Rewrites JSON Schema as the subset of OpenAPI 3.0 that function parameters are declared in.

The API refuses a request for any keyword it does not know, for references, for lists of types and
for enums of anything but strings. So what has another form gets that, what has none is noted in the
description, and every keyword that was dropped is named.
https://ai.google.dev/api/caching#Schema
"""

import math
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import BadRequest

from .._schema_cache import remember
from .schema_references import References, Schema, Trail
from .schema_values import (
    add_notes,
    any_value,
    covers_all,
    is_null,
    is_number,
    is_typed,
    is_whole,
    join_any_of,
    join_enums,
    make_nullable,
    narrow,
    resolve_const,
    type_of,
)

_TEXTS = frozenset({"title", "description", "pattern"})
_COUNTS = frozenset(f"{end}{of}" for end in ("min", "max") for of in ("Items", "Length"))
_SIZES = _COUNTS | {"minProperties", "maxProperties"}
_FORMATS = {
    "STRING": frozenset({"date-time"}),
    "NUMBER": frozenset({"float", "double"}),
    "INTEGER": frozenset({"int32", "int64"}),
}
_HANDLED = frozenset(
    {"type", "properties", "items", "required", "enum", "format", "exclusiveMinimum"}
    | {"exclusiveMaximum", "examples", "example", "prefixItems", "propertyOrdering", "nullable"}
    | {"$defs", "definitions", "anyOf", "oneOf"}
)
"""Keywords that have a rule of their own below, or are resolved already."""
_SILENT = frozenset({"$schema", "$id", "$anchor", "$comment", "id", "discriminator", "deprecated"})
"""Dropped keywords that tell a model nothing, and so are not repeated in the description."""
_SHAPING = frozenset({"properties", "items", "enum", "required", "pattern", "prefixItems"})
_PLAIN = (("additionalProperties", True),)
_DEEPEST = 40
_MOST_NODES = 4000
"""References multiply; beyond this many places the rest is left undescribed."""

_encode = msgspec.json.encode


class RewrittenSchema(Struct, frozen=True):
    schema: bytes | None
    """``None`` for a function without parameters, which must not describe them."""
    dropped: tuple[str, ...] = ()


def parameters_schema(schema: bytes) -> RewrittenSchema:
    """A function's parameters; always an object. Raises BadRequest."""
    try:
        return remember(rewrite_parameters, schema)
    except RecursionError:
        return RewrittenSchema(None, ("depth",))


def response_schema(schema: bytes) -> RewrittenSchema:
    """The schema of an answer, its members in their own order. Raises BadRequest."""
    try:
        return remember(rewrite_response, schema)
    except RecursionError:
        return RewrittenSchema(b'{"type":"OBJECT"}', ("depth",))


def rewrite_parameters(schema: bytes) -> RewrittenSchema:
    rewriter = SchemaRewriter(_read(schema))
    made = rewriter.whole()
    if "anyOf" in made:
        made = rewriter.one_object(made)
    empty = made.get("type") == "OBJECT" and not made.get("properties")
    return RewrittenSchema(None if empty else _encode(made), tuple(rewriter.dropped))


def rewrite_response(schema: bytes) -> RewrittenSchema:
    rewriter = SchemaRewriter(_read(schema), ordered=True)
    return RewrittenSchema(_encode(rewriter.whole()), tuple(rewriter.dropped))


def _read(schema: bytes) -> Any:
    try:
        return msgspec.json.decode(schema)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadRequest("A schema of the request cannot be read") from None


class SchemaRewriter:
    def __init__(self, root: Any, *, ordered: bool = False) -> None:
        self.dropped: dict[str, None] = {}
        self._root = root
        self._ordered = ordered
        self._references = References(root, self.drop)
        self._left = _MOST_NODES

    def drop(self, keyword: str) -> None:
        self.dropped[keyword] = None

    def whole(self) -> Schema:
        return self._rewrite(self._root, frozenset(), 0)

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

    def _rewrite(self, schema: Any, trail: Trail, depth: int) -> Schema:
        self._left -= 1
        if not isinstance(schema, dict):
            if schema is not True:
                self.drop("false")
            return any_value()
        if depth > _DEEPEST or self._left < 0:
            self.drop("depth")
            return {"type": "OBJECT"}
        flat, trail = self._references.resolve(schema, trail)
        flat = resolve_const(flat)
        nullable, branches = self._split(flat)
        if len(branches) > 1:
            return self._write_union(flat, branches, nullable, trail, depth)
        if branches:
            # Of one alternative and what stands beside it, one schema is made.
            apart = ("anyOf", "oneOf", "nullable")
            beside = {name: each for name, each in flat.items() if name not in apart}
            if isinstance(beside.get("type"), list) or is_typed(branches[0]):
                beside.pop("type", None)
            alone = self._references.combine(beside, branches[0])
            made = self._rewrite(alone, trail, depth + 1)
            return make_nullable(made) if nullable else made
        made = self._write_typed(flat, trail, depth)
        return make_nullable(made) if nullable else made

    def _split(self, flat: Schema) -> tuple[bool, list[Schema]]:
        """Whether null is allowed, and the alternatives; none for a schema of one type."""
        kind, words = flat.get("type"), flat.get("enum")
        nullable = flat.get("nullable") is True or (isinstance(words, list) and None in words)
        for name in ("anyOf", "oneOf"):
            if isinstance(flat.get(name), list) and flat[name]:
                schemas = [each for each in flat[name] if isinstance(each, dict)]
                branches = [each for each in schemas if not is_null(each)]
                nullable = nullable or len(branches) < len(schemas)
                if name == "oneOf" and len(branches) > 1:
                    self.drop("oneOf")
                is_shaped = _SHAPING & flat.keys() or not all(map(is_typed, branches))
                if len(branches) > 1 and is_shaped:
                    # The API takes no keyword beside anyOf, and the schema itself says more.
                    self.drop(name)
                    return nullable, []
                return nullable, branches or [{"type": "null"}]
        if isinstance(kind, list):
            types = [each for each in kind if each != "null"]
            if types:
                alone = [{"type": types[0]}]
                several = [narrow(flat, each) for each in types]
                return nullable or "null" in kind, several if len(types) > 1 else alone
        return nullable, []

    def _write_union(
        self, flat: Schema, branches: list[Schema], nullable: bool, trail: Trail, depth: int
    ) -> Schema:
        words = join_enums(branches)
        texts = _select_texts(flat)
        if words is not None:
            made: Schema = {"type": "STRING", **texts, "enum": words}
            return make_nullable(made) if nullable else made
        self._drop_beside_union(flat)
        made = join_any_of(
            [self._rewrite({**texts, **each}, trail, depth + 1) for each in branches]
        )
        return make_nullable(made) if nullable else made

    def _drop_beside_union(self, flat: Schema) -> None:
        kept = _HANDLED | {"title", "description"} | _SIZES | {"pattern", "minimum", "maximum"}
        for name in flat:
            if name not in kept:
                self.drop(name)

    def _write_typed(self, flat: Schema, trail: Trail, depth: int) -> Schema:
        kind = type_of(flat)
        if kind is None:
            if isinstance(flat.get("type"), str):
                self.drop("type")
            texts = _select_texts(flat)
            self._drop_beside_union(flat)
            return any_value(texts)
        made: Schema = {"type": kind.upper()}
        notes: Schema = {}
        for name, value in flat.items():
            if name in _HANDLED:
                continue
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
        self._write_bounds(flat, made, notes)
        self._write_enum(flat, made, notes)
        form = flat.get("format")
        if isinstance(form, str) and form in _FORMATS.get(made["type"], ()):
            made["format"] = form
        elif isinstance(form, str):
            self.drop("format")
            notes["format"] = form
        if kind == "object":
            self._write_object(flat, made, trail, depth)
        if kind == "array":
            items = flat.get("items", True)
            # An array of a fixed form: each place has a schema of its own.
            places = flat.get("prefixItems", items)
            if isinstance(places, list):
                self.drop("prefixItems" if "prefixItems" in flat else "items")
                made.setdefault("minItems", len(places))
                made.setdefault("maxItems", len(places))
                schemas = [self._rewrite(each, trail, depth + 1) for each in places]
                made["items"] = join_any_of(schemas) if schemas else any_value()
            else:
                made["items"] = self._rewrite(items, trail, depth + 1)
        return add_notes(made, notes)

    def _write_bounds(self, flat: Schema, made: Schema, notes: Schema) -> None:
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

    def _write_enum(self, flat: Schema, made: Schema, notes: Schema) -> None:
        enum = flat.get("enum")
        if not isinstance(enum, list):
            return
        values = [value for value in enum if value is not None]
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
        if values and not covers_all(made["type"], values):
            self.drop("enum")
            notes["enum"] = values

    def _write_object(self, flat: Schema, made: Schema, trail: Trail, depth: int) -> None:
        properties = flat.get("properties")
        if not isinstance(properties, dict):
            properties = {}
        if properties:
            made["properties"] = {
                name: self._rewrite(each, trail, depth + 1) for name, each in properties.items()
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


def _select_texts(flat: Schema) -> Schema:
    return {name: flat[name] for name in ("title", "description") if name in flat}
