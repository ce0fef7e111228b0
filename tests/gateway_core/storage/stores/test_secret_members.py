from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from gateway_core.storage.stores.secret_members import (
    holds,
    is_sealed,
    is_secret,
    join,
    part,
    parted,
)

names = st.sampled_from(
    ["apiKey", "region", "clientSecret", "providerSpecificData", "sessionCookie", "model", "a"]
)
documents = st.recursive(
    st.one_of(st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2)),
    lambda inner: st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "name",
    [
        *("apiKey", "accessToken", "refreshToken", "idToken", "sessionToken", "firecrawlHeaders"),
        *("clientSecret", "cookie", "sessionCookie", "password", "secretAccessKey", "private_key"),
    ],
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret(name)
    assert is_sealed(name)


@pytest.mark.parametrize(
    "name",
    [
        *("tokenType", "expiresAt", "accountId", "accessKeyId", "baseUrl", "testStatus"),
        *("modelLock_acme-token", "maxTokens", "organization", "cookieJar"),
    ],
)
def test_other_members_are_no_secrets(name: str) -> None:
    assert not is_secret(name)
    assert not is_sealed(name)


def test_a_proxy_address_is_sealed_but_shown() -> None:
    assert is_sealed("connectionProxyUrl")
    assert not is_secret("connectionProxyUrl")


def test_secrets_are_parted_in_their_places() -> None:
    document = {"apiKey": "k", "b": 1, "providerSpecificData": {"region": "r", "cookie": "c"}}

    assert part(document, is_secret) == (
        {"b": 1, "providerSpecificData": {"region": "r"}},
        {"apiKey": "k", "providerSpecificData": {"cookie": "c"}},
    )


@given(st.dictionaries(names, documents, max_size=5))
def test_the_parts_make_the_whole_again(document: dict[str, Any]) -> None:
    rest, taken = part(document, is_secret)

    assert join(rest, taken) == document
    assert part(rest, is_secret) == (rest, {})


def test_what_is_nested_too_deeply_is_taken_as_a_secret() -> None:
    document: dict[str, Any] = {"apiKey": "canary"}
    for _ in range(500):
        document = {"a": document}

    rest, taken = part(document, is_secret)

    assert "canary" not in str(rest)
    assert join(rest, taken) == document


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": {"b": [{"apiKey": 1}]}}, True),
        ([[{"cookie": None}]], True),
        ({"a": [1, "apiKey"], "b": {"region": "x"}}, False),
        ("apiKey", False),
        (None, False),
    ],
)
def test_a_secret_is_found_however_deep_it_is(value: Any, expected: bool) -> None:
    assert holds(value, is_secret) is expected


def test_what_is_too_deep_to_look_into_counts_as_a_secret() -> None:
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]

    assert holds(deep, is_secret)


values = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(st.dictionaries(names, inner, max_size=3), st.lists(inner, max_size=3)),
    max_leaves=12,
)


@given(values)
def test_a_value_is_parted_without_loss_and_nothing_secret_is_left(value: Any) -> None:
    rest, taken = parted(value, is_secret)

    assert not holds(rest, is_secret)
    one = {} if rest is UNSET else {"key": rest}
    other = {} if taken is UNSET else {"key": taken}
    assert join(one, other) == {"key": value}
