import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.identity.keys import ALPHABET, Key, KeyTable, Mint, by_header, key_of
from gateway_core.storage.stores.keys import ApiKey

MACHINE = "0123456789abcdef"
MINT = Mint("secret", MACHINE, b"k" * 32, random.Random(5).choice)
PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)


def row(identity: str = "k1", text: str = "sk-11111111", **more: Any) -> ApiKey:
    fields: dict[str, Any] = {
        "id": identity,
        "name": identity,
        "machine_id": MACHINE,
        "digest": MINT.digest(text).hex(),
        "is_active": True,
        "expires_at": None,
        "allowed_combos": (),
        "policy": {},
        "daily_limit_tokens": None,
        "provider_connection_ids": (),
        "created_at": "2031-01-01T00:00:00.000Z",
        "updated_at": "2031-01-01T00:00:00.000Z",
        "version": 1,
        **more,
    }
    return ApiKey(**fields)


def test_a_check_is_the_beginning_of_a_keyed_hash() -> None:
    mint = Mint("s3cret", "m", b"", lambda letters: letters[0])

    # printf maaaaaa | openssl dgst -sha256 -hmac s3cret
    assert mint.new() == "sk-m-aaaaaa-e8ef8a21"


@given(seed=st.integers(), machine=st.text("0123456789abcdef", min_size=16, max_size=16))
def test_every_new_key_is_well_formed(seed: int, machine: str) -> None:
    mint = Mint("secret", machine, b"", random.Random(seed).choice)

    text = mint.new()

    prefix, machine_id, key_id, crc = text.split("-")
    assert (prefix, machine_id, len(key_id), len(crc)) == ("sk", machine, 6, 8)
    assert set(key_id) <= set(ALPHABET)
    assert mint.is_well_formed(text)
    assert not Mint("other", machine, b"", random.choice).is_well_formed(text)


@given(seed=st.integers(), place=st.integers(0, 33), letter=PRINTABLE)
def test_no_changed_character_is_overlooked(seed: int, place: int, letter: str) -> None:
    text = Mint("secret", MACHINE, b"", random.Random(seed).choice).new()
    other = text[:place] + letter + text[place + 1 :]

    assert MINT.is_well_formed(other) is (other == text)


@given(seed=st.integers(), place=st.integers(0, 33))
def test_no_lost_character_is_overlooked(seed: int, place: int) -> None:
    text = Mint("secret", MACHINE, b"", random.Random(seed).choice).new()

    assert not MINT.is_well_formed(text[:place] + text[place + 1 :])


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("sk-0a1b2c3d", True),
        ("sk-", False),
        ("sk", False),
        ("", False),
        ("sk--", False),
        ("sk-a-b", False),
        ("sk-a-b-c-d", False),
        ("SK-0a1b2c3d", False),
        ("sk_placeholder", False),
        ("sk-ключ", False),
        ("sk-a\x00", False),
        ("sk-a\n", False),
        ("sk-" + "a" * 253, True),
        ("sk-" + "a" * 254, False),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_older_keys_have_two_parts_and_nothing_else_has_the_shape(text: str, is_key: bool) -> None:
    assert MINT.is_well_formed(text) is is_key


@given(text=st.text())
def test_any_text_can_be_looked_for(text: str) -> None:
    table = KeyTable(MINT)
    table.take([row()])

    assert (table.find(text) is not None) is (text == "sk-11111111")


def test_a_key_with_a_broken_check_is_not_found_even_when_it_is_stored() -> None:
    old = Mint("an older secret", MACHINE, b"k" * 32, random.Random(1).choice).new()
    table = KeyTable(MINT)
    table.take([row(text=old), row("k2", "sk-22222222", version=2)])

    assert table.find(old) is None
    assert table.find("sk-22222222") is not None


def test_a_table_follows_what_is_written() -> None:
    table = KeyTable(MINT)
    table.take([row(version=3), row("k2", "sk-22222222", version=2)])
    table.take([row(text="sk-33333333", version=4, name="new")])

    assert (len(table), table.version) == (2, 4)
    assert table.find("sk-11111111") is None
    assert table.find("sk-33333333") == table.get("k1")
    table.replace([row("k3", version=9)])
    assert (len(table), table.version, table.get("k1")) == (1, 9, None)
    assert table.find("sk-22222222") is None


def test_a_key_that_was_found_before_is_not_found_once_it_has_changed() -> None:
    table = KeyTable(MINT)
    table.take([row(), row("k2", "sk-22222222")])
    before = [table.find(text) for text in ("sk-11111111", "sk-11111111", "sk-22222222")]

    table.take([row(version=2, is_active=False)])
    paused = table.find("sk-11111111")
    table.replace([row(version=3)])

    assert [key and key.id for key in before] == ["k1", "k1", "k2"]
    assert paused is not None
    assert not paused.is_active
    assert table.find("sk-22222222") is None


@pytest.mark.parametrize(
    ("more", "now", "is_good"),
    [
        ({}, 0, True),
        ({"is_active": False}, 0, False),
        ({"expires_at": "1970-01-01T00:01:00.000Z"}, 59.999, True),
        ({"expires_at": "1970-01-01T00:01:00.000Z"}, 60, False),
        ({"is_active": False, "expires_at": "1970-01-01T00:01:00.000Z"}, 0, False),
    ],
    ids=["open", "paused", "not yet", "now", "both"],
)
def test_a_key_is_good_until_it_is_paused_or_its_time_has_come(
    more: dict[str, Any], now: float, is_good: bool
) -> None:
    assert key_of(row(**more)).is_good(now) is is_good


@pytest.mark.parametrize(
    "more",
    [
        {"expires_at": "2031-01-01T00:00:00.000Z"},
        {"allowed_combos": ("best",)},
        {"provider_connection_ids": ("a",)},
        {"daily_limit_tokens": 1},
        {"policy": {"rpmLimit": 1}},
        {"policy": {"maxCostUsd": 0}},
        {"policy": {"allowAutoCombos": False}},
        {"policy": {"allowedModels": ["a/b"]}},
        {"policy": {"modelAccess": {"mode": "allow", "patterns": []}}},
        {"policy": {"modelAccess": "broken"}},
    ],
    ids=repr,
)
def test_whatever_narrows_a_key_makes_it_restricted(more: dict[str, Any]) -> None:
    assert key_of(row(**more)).is_restricted
    assert not key_of(row(policy={"own": 1, "rpmLimit": None})).is_restricted


def test_keys_in_memory_do_not_hold_their_text() -> None:
    table = KeyTable(MINT)
    table.take([row(text="sk-canary12")])

    found = table.get("k1")

    assert isinstance(found, Key)
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("headers", "texts"),
    [
        ({}, []),
        ({"authorization": "Bearer a"}, ["a"]),
        ({"authorization": "bEaReR  a "}, ["a"]),
        ({"authorization": "Basic a"}, []),
        ({"authorization": "Bearer "}, []),
        ({"x-api-key": " "}, []),
        (
            {
                "x-goog-api-key": "d",
                "x-alt-api-key": "c",
                "x-api-key": "b",
                "authorization": "Bearer a",
            },
            ["a", "b", "c", "d"],
        ),
    ],
    ids=repr,
)
def test_headers_count_in_their_order(headers: dict[str, str], texts: list[str]) -> None:
    assert list(by_header(headers)) == texts
