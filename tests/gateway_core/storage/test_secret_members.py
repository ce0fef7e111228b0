from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.storage.secret_members import is_sealed, is_secret, join, part

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
