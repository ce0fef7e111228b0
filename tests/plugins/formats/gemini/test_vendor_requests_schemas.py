"""JSON Schema and the API's own schema language, each from the other."""

from typing import Any

import msgspec
import pytest
from gateway_format_gemini.client_requests.schemas import read_schema
from gateway_format_gemini.vendor_requests.schemas import parameters_schema, response_schema

ANY = [
    *({"type": each} for each in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")),
    {"type": "ARRAY", "items": {"type": "STRING"}},
]


def rewritten(schema: Any) -> tuple[Any, list[str]]:
    made = parameters_schema(msgspec.json.encode(schema))
    return made.schema and msgspec.json.decode(made.schema), list(made.dropped)


def member(schema: Any, **more: Any) -> tuple[Any, list[str]]:
    """What becomes of one parameter."""
    made, dropped = rewritten({"type": "object", "properties": {"a": schema}, **more})
    return made["properties"]["a"], dropped


@pytest.mark.parametrize(
    ("schema", "made", "dropped"),
    [
        ({"type": "string"}, {"type": "STRING"}, []),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}, []),
        (
            {"type": ["integer", "string"], "description": "d", "minLength": 2},
            {
                "anyOf": [
                    {"type": "INTEGER", "description": "d"},
                    {"type": "STRING", "description": "d", "minLength": 2},
                ]
            },
            [],
        ),
        ({"type": "null"}, {"type": "NULL"}, []),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"]}, []),
        ({"const": 5}, {"type": "INTEGER", "minimum": 5, "maximum": 5}, []),
        (
            {"const": True},
            {"type": "BOOLEAN", "description": "(enum: [true])"},
            ["enum"],
        ),
        ({"enum": ["a", "b", None]}, {"type": "STRING", "enum": ["a", "b"], "nullable": True}, []),
        ({"type": "string", "enum": ["a", ""]}, {"type": "STRING", "enum": ["a"]}, ["enum"]),
        ({"enum": [1, 2, 3]}, {"type": "INTEGER", "minimum": 1, "maximum": 3}, []),
        (
            {"type": "integer", "enum": [1, 5], "description": "d"},
            {"type": "INTEGER", "minimum": 1, "maximum": 5, "description": "d (enum: [1,5])"},
            ["enum"],
        ),
        (
            {"enum": ["a", 1]},
            {
                "anyOf": [
                    {"type": "STRING", "enum": ["a"]},
                    {"type": "INTEGER", "minimum": 1, "maximum": 1},
                ]
            },
            [],
        ),
        (
            {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}], "default": None},
            {"type": "STRING", "maxLength": 3, "default": None, "nullable": True},
            [],
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "number"}, {"const": None}], "title": "t"},
            {
                "anyOf": [
                    {"type": "STRING", "title": "t", "nullable": True},
                    {"type": "NUMBER", "title": "t", "nullable": True},
                ]
            },
            [],
        ),
        (
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
            {"type": "STRING", "enum": ["a", "b"]},
            ["oneOf"],
        ),
        (
            {"allOf": [{"type": "string", "minLength": 1}, {"minLength": 3}], "description": "d"},
            {"type": "STRING", "minLength": 3, "description": "d"},
            [],
        ),
        (
            {"type": "string", "format": "email"},
            {"type": "STRING", "description": '(format: "email")'},
            ["format"],
        ),
        (
            {"type": "string", "format": "date-time"},
            {"type": "STRING", "format": "date-time"},
            [],
        ),
        ({"type": "integer", "format": "int64"}, {"type": "INTEGER", "format": "int64"}, []),
        (
            {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
            {"type": "INTEGER", "minimum": 1, "maximum": 9},
            [],
        ),
        (
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "NUMBER", "minimum": 0, "description": "(exclusiveMinimum: 0)"},
            ["exclusiveMinimum"],
        ),
        (
            {"type": "number", "multipleOf": 5},
            {"type": "NUMBER", "description": "(multipleOf: 5)"},
            ["multipleOf"],
        ),
        (
            {"type": "object", "additionalProperties": False, "$comment": "x"},
            {"type": "OBJECT"},
            ["additionalProperties", "$comment"],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "OBJECT", "description": '(additionalProperties: {"type":"string"})'},
            ["additionalProperties"],
        ),
        ({"type": "array"}, {"type": "ARRAY", "items": {"anyOf": ANY}}, []),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            {
                "type": "ARRAY",
                "minItems": 2,
                "maxItems": 2,
                "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            },
            ["prefixItems"],
        ),
        (True, {"anyOf": ANY}, []),
        ({}, {"anyOf": ANY}, []),
        (False, {"anyOf": ANY}, ["false"]),
        ({"type": "date"}, {"anyOf": ANY}, ["type"]),
        (
            {"type": "object", "properties": {"b": {}}, "required": ["b", "c"]},
            {"type": "OBJECT", "properties": {"b": {"anyOf": ANY}}, "required": ["b"]},
            ["required"],
        ),
        (
            {
                "type": "object",
                "properties": {"b": {"type": "string"}},
                "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
            },
            {"type": "OBJECT", "properties": {"b": {"type": "STRING"}}},
            ["anyOf"],
        ),
        ({"type": "string", "nullable": True}, {"type": "STRING", "nullable": True}, []),
        ({"minLength": 1}, {"type": "STRING", "minLength": 1}, []),
        ({"$ref": "https://example.com/x.json"}, {"anyOf": ANY}, ["$ref"]),
    ],
)
def test_a_keyword_the_vendor_refuses_is_said_otherwise(
    schema: Any, made: Any, dropped: list[str]
) -> None:
    assert member(schema) == (made, dropped)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": "é"},
        {"type": "string", "enum": False},
        {"type": "string", "minLength": 10**400},
        {"type": "object", "propertyOrdering": [["a"], {}, "b"], "properties": {"b": True}},
    ],
)
def test_a_keyword_that_makes_no_sense_is_no_error(schema: Any) -> None:
    assert member(schema)[0]["type"] == schema["type"].upper()


def test_references_are_put_in_their_place() -> None:
    made, dropped = member(
        {"$ref": "#/$defs/Person", "description": "who"},
        **{"$defs": {"Person": {"type": "object", "properties": {"name": {"$ref": "#/x~1y/0"}}}}},
        **{"x/y": [{"type": "string"}]},
    )

    assert made == {
        "type": "OBJECT",
        "description": "who",
        "properties": {"name": {"type": "STRING"}},
    }
    assert dropped == ["x/y"]


def test_a_schema_within_itself_is_described_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/definitions/Node"}}}

    made, dropped = member({"$ref": "#/definitions/Node"}, definitions={"Node": node})

    assert made == {
        "type": "OBJECT",
        "properties": {"next": {"type": "OBJECT", "description": "The same as Node again."}},
    }
    assert dropped == ["$ref"]


def test_references_that_multiply_come_to_an_end() -> None:
    steps = {
        f"s{number}": {
            "type": "object",
            "properties": {
                side: {"$ref": f"#/$defs/s{number + 1}"} for side in ("left", "middle", "right")
            },
        }
        for number in range(20)
    }
    steps["s20"] = {"type": "string"}

    made = parameters_schema(
        msgspec.json.encode(
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": steps}
        )
    )

    assert "depth" in made.dropped
    assert made.schema is not None
    assert len(made.schema) < 1_000_000


def test_joins_that_multiply_come_to_an_end() -> None:
    steps = {
        f"s{number}": {"allOf": [{"$ref": f"#/$defs/s{number + 1}"}] * 3} for number in range(40)
    }

    made, dropped = member({"$ref": "#/$defs/s0"}, **{"$defs": {**steps, "s40": {}}})

    assert made["type"] == "OBJECT"
    assert "depth" in dropped


@pytest.mark.parametrize("name", [b"allOf", b"anyOf", b"items", b"properties"])
def test_a_schema_of_many_floors_is_cut(name: bytes) -> None:
    floor = b'{"type":"object","%b":' % name
    start, end = (floor + b"[", b"]}") if name.endswith(b"Of") else (floor, b"}")
    start, end = (floor + b'{"a":', b"}}") if name == b"properties" else (start, end)
    deep = start * 300 + b'{"type":"string"}' + end * 300

    for made in (parameters_schema(deep), response_schema(deep)):
        assert len(made.schema or b"") < len(deep)


def test_long_schemas_are_rewritten_all_the_same() -> None:
    long = {"type": "string", "description": "x" * 20_000}

    assert member(long) == ({"type": "STRING", "description": "x" * 20_000}, [])


@pytest.mark.parametrize("schema", [{"type": "object", "properties": {}}, {}, True])
def test_a_function_without_parameters_does_not_describe_them(schema: Any) -> None:
    assert rewritten(schema)[0] is None


def test_parameters_that_are_one_of_several_objects_are_one_object() -> None:
    made, dropped = rewritten(
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "a"}, "x": {"type": "number"}},
                    "required": ["kind", "x"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "a"}, "y": {"type": "number"}},
                    "required": ["kind"],
                },
            ]
        }
    )

    assert list(made["properties"]) == ["kind", "x", "y"]
    assert made["required"] == ["kind"]
    assert dropped == ["anyOf"]


def test_an_answer_s_members_keep_their_order() -> None:
    made = response_schema(
        b'{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}'
    )

    assert made.schema is not None
    assert msgspec.json.decode(made.schema)["propertyOrdering"] == ["b", "a"]


def test_the_vendor_s_schema_language_is_read_as_json_schema() -> None:
    own = {
        "type": "OBJECT",
        "properties": {
            "any_of": {"type": 1, "nullable": True, "enum": ["a"], "format": "enum"},
            "list": {"type": "ARRAY", "items": {"type": "INTEGER"}, "min_items": "2"},
            "either": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": True},
            "free": {"type": "TYPE_UNSPECIFIED", "example": 3},
        },
        "propertyOrdering": ["any_of", "list", "either", "free"],
        "required": ["list"],
    }

    assert msgspec.json.decode(read_schema(msgspec.json.encode(own))) == {
        "type": "object",
        "properties": {
            "any_of": {"type": ["string", "null"], "enum": ["a", None]},
            "list": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            "free": {"examples": [3]},
        },
        "required": ["list"],
    }
