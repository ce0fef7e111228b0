"""Where a model of a cloud project is called."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_provider_vertex import VERTEX
from gateway_provider_vertex.addresses import address

from gateway_core import Credential, Model, Target, UpstreamError

PATH = "/models/gemini-2.5-pro:generateContent"
TOKEN = "ya29.a0Example"
KeyFile = Callable[..., dict[str, Any]]


def url(secret: str | None = TOKEN, **data: object) -> str:
    credential = Credential(connection_id="a", secret=secret, data=data)
    return address(Target(VERTEX, Model("gemini-2.5-pro")), credential, PATH)


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("us", "aiplatform.us.rep.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_each_location_has_a_host_of_its_own(location: str, host: str) -> None:
    found = url(project="p-1", location=location)

    assert found == (f"https://{host}/v1/projects/p-1/locations/{location}/publishers/google{PATH}")


def test_without_a_location_the_whole_world_is_meant() -> None:
    assert url(project="p-1") == url(project="p-1", location="global")


def test_the_project_may_be_the_service_accounts_own(key_file: KeyFile) -> None:
    found = url(secret=msgspec.json.encode(key_file(project_id="own-1")).decode())

    assert "/projects/own-1/locations/global/" in found


@pytest.mark.parametrize("key", ["AIzaSyExample", "AQ.Example"])
def test_an_api_key_without_a_project_is_used_in_express_mode(key: str) -> None:
    assert url(secret=key) == f"https://aiplatform.googleapis.com/v1/publishers/google{PATH}"


def test_an_api_key_may_belong_to_a_project() -> None:
    assert "/projects/p-1/locations/us-east1/" in url(
        secret="AIzaSyExample", project="p-1", location="us-east1"
    )


def test_an_address_of_the_account_wins() -> None:
    assert url(baseUrl="https://proxy.example/vertex/") == f"https://proxy.example/vertex{PATH}"


def test_an_account_without_a_project_is_told_what_to_save() -> None:
    with pytest.raises(UpstreamError, match="project"):
        url()


@pytest.mark.parametrize("location", ["evil.example/", "a@b", "Europe", "eu/../x"])
def test_a_location_cannot_name_another_host(location: str) -> None:
    with pytest.raises(UpstreamError, match="location"):
        url(project="p-1", location=location)


def test_a_project_stays_one_piece_of_the_path() -> None:
    assert "/projects/a%2Fb/locations/" in url(project="a/b")
