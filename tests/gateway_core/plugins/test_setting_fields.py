"""What a plugin may declare as its settings, and how that is told."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from gateway_core.plugins.setting_fields import (
    DIALECT,
    MASK,
    Declared,
    Unsound,
    declared,
    schema,
    shown,
)


class Mood(StrEnum):
    CALM = "calm"
    BUSY = "busy"


class Door(Struct, frozen=True):
    host: str = "h"
    pin: Annotated[str, Meta(extra={"secret": True})] = ""


class Tree(Struct, frozen=True):
    branches: "tuple[Tree, ...]" = ()


class Full(Struct, frozen=True, kw_only=True, rename="camel"):
    """How Acme is called."""

    base_region: Annotated[str, Meta(description="Where it runs.", min_length=2)] = "eu"
    hidden: Annotated[str, Meta(description="Its word.", extra={"secret": True})] | None = None
    api_key: str = "canary"
    max_token: Annotated[int, Meta(extra={"secret": False}, ge=1)] = 5
    door: Door = Door()
    hosts: tuple[str, ...] = ()
    extra: dict[str, Any] = msgspec.field(default_factory=dict)
    mood: Mood = Mood.CALM
    size: Literal["s", "m"] | int = "s"
    pause: timedelta = timedelta(seconds=2)
    tree: Tree = Tree()


@pytest.fixture(scope="module")
def full() -> Declared:
    return declared("acme", Full)


def test_every_field_is_told_with_type_default_and_variable(full: Declared) -> None:
    reported = {field.name: (field.type, field.default, field.variable) for field in full.fields}

    assert reported == {
        "baseRegion": ("string", "eu", "PLUGIN_ACME_BASE_REGION"),
        "hidden": ("string or null", None, "PLUGIN_ACME_HIDDEN"),
        "apiKey": ("string", MASK, "PLUGIN_ACME_API_KEY"),
        "maxToken": ("integer", 5, "PLUGIN_ACME_MAX_TOKEN"),
        "door": ("object", MASK, "PLUGIN_ACME_DOOR"),
        "hosts": ("list of string", (), "PLUGIN_ACME_HOSTS"),
        "extra": ("object", {}, "PLUGIN_ACME_EXTRA"),
        "mood": ('"busy" or "calm"', "calm", "PLUGIN_ACME_MOOD"),
        "size": ('"m" or "s" or integer', "s", "PLUGIN_ACME_SIZE"),
        "pause": ("string", "PT2S", "PLUGIN_ACME_PAUSE"),
        "tree": ("object", {"branches": ()}, "PLUGIN_ACME_TREE"),
    }


def test_descriptions_are_told_also_from_inside_a_union(full: Declared) -> None:
    reported = {field.name: field.description for field in full.fields if field.description}

    assert reported == {"baseRegion": "Where it runs.", "hidden": "Its word."}


def test_a_field_is_secret_by_its_mark_its_name_or_what_is_inside(full: Declared) -> None:
    assert full.secrets == {"hidden", "apiKey", "door"}


@pytest.mark.parametrize(
    ("plugin", "variable"),
    [
        ("acme", "PLUGIN_ACME_PIN"),
        ("format-open.ai", "PLUGIN_FORMAT_OPEN_AI_PIN"),
    ],
)
def test_a_variable_is_made_of_the_plugin_and_the_field(plugin: str, variable: str) -> None:
    class Small(Struct, frozen=True):
        pin: int = 1

    assert declared(plugin, Small).fields[0].variable == variable


def test_the_schema_describes_and_keeps_the_defaults_of_secrets_to_itself(full: Declared) -> None:
    document = schema(full)

    assert document["$schema"] == DIALECT
    described = document["$defs"]["Full"]
    assert described["description"] == "How Acme is called."
    assert described["properties"]["baseRegion"] == {
        "description": "Where it runs.",
        "type": "string",
        "minLength": 2,
        "default": "eu",
    }
    assert described["properties"]["apiKey"] == {"type": "string", "writeOnly": True}
    assert b"canary" not in msgspec.json.encode(document)


def test_a_struct_without_fields_is_sound() -> None:
    class Empty(Struct, frozen=True):
        pass

    assert declared("acme", Empty).fields == ()


def test_a_secret_that_is_not_set_is_told_apart_from_one_that_is() -> None:
    assert [shown(value, secret=True) for value in ("", None, "word")] == [None, None, MASK]


class Loose(Struct):
    a: int = 1


class Needy(Struct, frozen=True):
    a: int


class Row(Struct, frozen=True, array_like=True):
    a: int = 1


class Tagged(Struct, frozen=True, tag="x"):
    a: int = 1


class Odd(Struct, frozen=True, rename={"a": "a b"}):
    a: int = 1


class Twins(Struct, frozen=True):
    a: int = 1
    A: int = 2


class Strange(Struct, frozen=True):
    a: complex = 1j


class Lying(Struct, frozen=True):
    a: Annotated[int, Meta(ge=2)] = 1


class Picky(Struct, frozen=True):
    a: int = 1

    def __post_init__(self) -> None:
        raise ValueError("never")


Crowd = msgspec.defstruct("Crowd", [(f"a{n}", int, n) for n in range(201)], frozen=True)


@pytest.mark.parametrize(
    ("struct", "reason"),
    [
        (None, "expected a Struct type, got NoneType"),
        (int, "expected a Struct type, got int"),
        (Mood, "expected a Struct type, got Mood"),
        (Door(), "expected a Struct type, got Door"),
        (Loose, "the struct is not frozen"),
        (Needy, "'a' has no default"),
        (Row, "the struct is no plain JSON object"),
        (Tagged, "the struct is no plain JSON object"),
        (Odd, "'a b' is no name for a setting"),
        (Twins, "'A' and 'a' have one process variable"),
        (Strange, "it cannot be written as JSON"),
        (Lying, "a default does not fit its type: Expected `int` >= 2"),
        (Picky, "never"),
        (Crowd, "there are more than 200 fields"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value)[:20],
)
def test_what_cannot_be_used_is_refused_with_a_reason(struct: object, reason: str) -> None:
    with pytest.raises(Unsound if struct is not Picky else ValueError, match=reason):
        declared("acme", struct)


def with_variable(name: object) -> Declared:
    field = Annotated[int, Meta(extra={"variable": name})]
    return declared("acme", msgspec.defstruct("S", [("limit", field, 5)], frozen=True))


def test_a_field_may_name_its_variable() -> None:
    assert with_variable("ACME_LIMIT_MS").fields[0].variable == "ACME_LIMIT_MS"


@pytest.mark.parametrize("name", ["PLUGIN_OTHER_LIMIT", "acme_limit", "", 7, "A" * 65])
def test_a_variable_has_to_be_a_name_of_its_own(name: object) -> None:
    with pytest.raises(Unsound, match="names a process variable that cannot be its own"):
        with_variable(name)
