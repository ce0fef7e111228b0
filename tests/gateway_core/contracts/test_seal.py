"""What is sealed comes back; what is damaged is left out and never raises."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import (
    Reasoning,
    readable_by,
    seal,
    seal_base64,
    seal_id,
    unseal,
    unseal_base64,
    unseal_id,
)
from gateway_core.contracts.seal import MARK, MARKS, is_marked

origins = st.from_regex(r"~?[a-z0-9.-]{1,20}", fullmatch=True)
ids = st.from_regex(r"[A-Za-z0-9-]{0,40}", fullmatch=True)
texts = st.text(max_size=300)
ascii_texts = st.text(st.characters(max_codepoint=127), max_size=60)
thoughts = st.lists(
    st.builds(
        Reasoning,
        text=texts,
        sealed=st.none() | texts,
        id=st.none() | texts,
        summary=st.booleans(),
        signature=st.none() | texts,
        origin=origins,
    ),
    max_size=4,
).map(tuple)


@given(origins, texts)
def test_a_sealed_value_comes_back(origin: str, value: str) -> None:
    assert unseal(seal(origin, value)) == (origin, value)
    assert unseal_base64(seal_base64(origin, value)) == (origin, value)


@given(origins, texts)
def test_a_base64_seal_is_base64(origin: str, value: str) -> None:
    sealed = seal_base64(origin, value)

    assert base64.b64encode(base64.b64decode(sealed, validate=True)).decode() == sealed


@given(ids, origins, st.none() | texts, thoughts)
def test_a_sealed_id_comes_back(
    id: str, origin: str, signature: str | None, reasoning: tuple[Reasoning, ...]
) -> None:
    sealed = seal_id(id, origin, signature, reasoning)

    if signature is None and not reasoning:
        assert sealed == id
    else:
        assert unseal_id(sealed) == (id, origin, signature, reasoning)


@given(ids, origins, texts, thoughts)
def test_a_sealed_id_keeps_to_the_letters_that_ids_may_have(
    id: str, origin: str, signature: str, reasoning: tuple[Reasoning, ...]
) -> None:
    sealed = seal_id(id, origin, signature, reasoning)

    assert re.fullmatch(r"[A-Za-z0-9_-]+", sealed)
    assert sealed.startswith(id)


def test_a_long_thought_is_packed_tightly() -> None:
    reasoning = (Reasoning(text="round and round " * 10_000),)

    sealed = seal_id("call_1", "acme", None, reasoning)

    assert len(sealed) < 2_000
    assert unseal_id(sealed) == ("call_1", "acme", None, reasoning)


@given(ids, st.text(max_size=60))
def test_a_damaged_id_still_gives_the_plain_id(id: str, rubbish: str) -> None:
    found = unseal_id(f"{id}{MARK}{rubbish}")

    assert found[0] == id


@given(ids, origins, texts, thoughts, st.data())
def test_a_cut_id_never_raises(
    id: str, origin: str, signature: str, reasoning: tuple[Reasoning, ...], data: st.DataObject
) -> None:
    sealed = seal_id(id, origin, signature, reasoning)
    cut = data.draw(st.integers(len(id) + len(MARK), len(sealed) - 1))

    assert unseal_id(sealed[:cut])[0] == id


@given(ascii_texts)
def test_damaged_seals_never_raise(rubbish: str) -> None:
    for text in (rubbish, MARK + rubbish, MARKS[1].decode() + rubbish):
        for found in (unseal(text), unseal_base64(text)):
            assert found is None or len(found) == 2


@given(texts.filter(lambda text: MARK not in text))
def test_what_was_not_sealed_here_is_left_alone(text: str) -> None:
    assert unseal(text) is None
    assert unseal_id(text) == (text, "", None, ())
    if not text.startswith(MARKS[1].decode()):
        assert unseal_base64(text) is None


def test_a_value_that_inflates_without_end_is_damaged() -> None:
    import zlib

    bomb = base64.urlsafe_b64encode(b"z" + zlib.compress(bytes(1 << 23), 9)).decode()

    assert unseal_id(f"call{MARK}{bomb.rstrip('=')}") == ("call", "", None, ())


@given(origins, texts)
def test_a_body_with_anything_sealed_is_marked(origin: str, value: str) -> None:
    for sealed in (
        seal(origin, value),
        seal_base64(origin, value),
        seal_id("call", origin, value, ()),
    ):
        assert is_marked(b'{"x":"' + sealed.encode() + b'"}')
    assert not is_marked(b'{"x":"y"}')


FILLINGS = [
    "plain words ",
    "snake_case_ and more_ ",
    "_S",
    'X"',
    "S_gwS1",
    '"X2d3UzF',
    "_gwS1 X2d3UzF",
]


@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("size", [10, 1000, 20_000, 200_000])
@pytest.mark.parametrize("place", [0.0, 0.01, 0.5, 1.0])
def test_a_seal_is_found_in_whatever_stands_around_it(
    filling: str, size: int, place: float
) -> None:
    around = (filling * (size // len(filling) + 1)).encode()[:size]
    at = int(place * len(around))

    for sealed in (seal("o", "v"), seal_base64("o", "v"), seal_id("call", "o", "v", ())):
        value = b'"' + sealed.encode() + b'"'
        assert is_marked(around[:at] + value + around[at:])
    assert not is_marked(around)


@given(
    st.lists(st.sampled_from(["_", "S", "X", '"', "_gwS1", "X2d3UzF", "f", "_gwS1_", "plain"])),
    st.integers(0, 300),
)
def test_a_long_body_is_marked_as_a_short_one_is(parts: list[str], size: int) -> None:
    body = "".join(parts).encode()
    marked = b"_gwS1_" in body or b'"X2d3UzFf' in body

    assert is_marked(body) is marked
    assert is_marked(b"-" * size * 100 + body + b"-" * 30_000) is marked


@pytest.mark.parametrize(
    ("origin", "readable"),
    [("acme", True), ("~claude", True), ("claude", False), ("~acme", False), ("", False)],
)
def test_a_proof_is_for_its_own_provider_or_dialect(origin: str, readable: bool) -> None:
    assert readable_by(origin, "acme", "claude") is readable
