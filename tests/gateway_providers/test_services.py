"""Where requests of services go is remembered as long as it holds."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from gateway_core import Auth, Call, Credential, Kind, Lasting, Model, ProviderSpec, Target
from gateway_providers.services import PassThroughService

SPEC = ProviderSpec(
    id="p", name="P", base_url="https://p.test/v1", auth=Auth(), models=(Model("m"),)
)
CALL = Call(
    kind=Kind.EMBEDDING, format="services", model="p/m", stream=False, body=b"{}", members={}
)


def headers(
    service: PassThroughService, credential: Credential, spec: ProviderSpec = SPEC
) -> Mapping[str, str]:
    return service.open(CALL, Target(spec, Model("m")), credential).request.headers


def test_calls_of_an_account_share_their_headers() -> None:
    service, credential = PassThroughService("/embeddings"), Credential(connection_id="a")

    assert headers(service, credential) is headers(service, credential)


@pytest.mark.parametrize("change", [{"secret": "new"}, {"data": {"baseUrl": "https://own.test"}}])
def test_an_account_that_was_changed_shows_what_it_has_now(change: dict[str, Any]) -> None:
    service, target = PassThroughService("/embeddings"), Target(SPEC, Model("m"))
    before = Credential(connection_id="a", secret="old")
    service.open(CALL, target, before)
    after = replace(before, **change)

    request = service.open(CALL, target, after).request

    assert request.headers["authorization"] == f"Bearer {after.secret}"
    assert request.url == f"{after.data.get('baseUrl', SPEC.base_url)}/embeddings"


def test_a_vendor_that_was_changed_gets_its_own_headers() -> None:
    service, credential = PassThroughService("/embeddings"), Credential(connection_id="a")
    headers(service, credential)

    assert headers(service, credential, replace(SPEC, headers={"x-a": "1"}))["x-a"] == "1"


def test_no_secret_outlives_its_account() -> None:
    service = PassThroughService("/embeddings")
    credential = Credential(connection_id="a", secret="old")
    headers(service, credential)
    held = service._destinations._held
    assert held

    del credential

    assert not held


def test_what_code_may_change_is_not_shared() -> None:
    service, credential = PassThroughService("/embeddings"), Credential(connection_id="a")
    spec = replace(SPEC, url_builder=lambda target, credential, path: "https://built.test" + path)

    found = headers(service, credential, spec)

    assert not isinstance(found, Lasting)
    assert found is not headers(service, credential, spec)
