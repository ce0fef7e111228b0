"""The two members of a body that routing needs."""

import pytest
from msgspec import Raw

from gateway_core import BadRequest, Intake
from gateway_formats.intake import read_flag, read_routing, read_text


def members(**given: bytes) -> dict[str, Raw]:
    return {name: Raw(value) for name, value in given.items()}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (members(model=b'"m"', stream=b"true"), Intake("m", True)),
        (members(model=b'"caf\\u00e9"', stream=b"false"), Intake("café", False)),
        (members(model=b"null", stream=b"null"), Intake("", False)),
        ({}, Intake("", False)),
    ],
    ids=["both", "escaped", "null", "neither"],
)
def test_model_and_stream_are_read(given: dict[str, Raw], expected: Intake) -> None:
    assert read_routing({}, {}, given) == expected


@pytest.mark.parametrize("value", [b"7", b"[]", b"{}", b"true", b'"a\xff"'], ids=repr)
def test_a_model_must_be_text(value: bytes) -> None:
    with pytest.raises(BadRequest, match="model must be a string"):
        read_text(members(model=value), "model")


@pytest.mark.parametrize("value", [b"1", b"0", b'"true"', b"[]", b"{}"], ids=repr)
def test_a_flag_must_be_true_or_false(value: bytes) -> None:
    with pytest.raises(BadRequest, match="stream must be true or false"):
        read_flag(members(stream=value), "stream")


def test_what_is_not_there_has_its_default() -> None:
    assert read_text({}, "model", "usual") == "usual"
    assert read_flag(members(stream=b"null"), "stream", True)
