"""Where an Azure deployment is called, by what the account says."""

import pytest
from gateway_provider_azure_openai import AZURE_OPENAI
from gateway_provider_azure_openai.addresses import address

from gateway_core import Credential, Model, Target, UpstreamError

HOST = "https://resource.openai.azure.com"
CHAT = "/chat/completions"


def url(path: str = CHAT, model: str = "gpt-4o", **data: object) -> str:
    credential = Credential(connection_id="a", secret="k", data=data)
    return address(Target(AZURE_OPENAI, Model(model)), credential, path)


@pytest.mark.parametrize("version", [None, "", "v1", "latest"])
def test_without_a_dated_version_the_undated_api_is_called(version: str | None) -> None:
    found = url(azureEndpoint=HOST, apiVersion=version)

    assert found == f"{HOST}/openai/v1/chat/completions"


def test_what_is_being_tried_out_is_asked_for_by_a_query() -> None:
    found = url(azureEndpoint=HOST, apiVersion="preview")

    assert found == f"{HOST}/openai/v1/chat/completions?api-version=preview"


def test_a_dated_version_names_the_deployment_in_the_path() -> None:
    found = url(azureEndpoint=HOST, apiVersion="2024-10-21", model="my model")

    assert found == (
        f"{HOST}/openai/deployments/my%20model/chat/completions?api-version=2024-10-21"
    )


def test_an_account_with_a_deployment_is_called_for_no_other_model() -> None:
    mine = {"azureEndpoint": HOST, "apiVersion": "2024-10-21", "deployment": "mine"}

    assert url(model="mine", **mine) == (
        f"{HOST}/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    )
    with pytest.raises(UpstreamError, match="deployment mine only") as refused:
        url(model="gpt-4o", **mine)
    assert refused.value.status == 404


def test_a_deployment_without_a_version_gets_the_last_dated_one() -> None:
    found = url(model="mine", azureEndpoint=HOST, deployment="mine")

    assert found == (
        f"{HOST}/openai/deployments/mine/chat/completions?api-version=2025-04-01-preview"
    )


def test_responses_have_no_deployment_in_their_path() -> None:
    assert url("/responses", azureEndpoint=HOST) == f"{HOST}/openai/v1/responses"
    assert url("/responses", azureEndpoint=HOST, apiVersion="2025-04-01-preview") == (
        f"{HOST}/openai/responses?api-version=2025-04-01-preview"
    )


@pytest.mark.parametrize("ending", ["", "/", "/openai", "/openai/", "/openai/v1", "/openai/v1/"])
def test_an_endpoint_may_be_written_in_many_ways(ending: str) -> None:
    assert url(azureEndpoint=HOST + ending) == f"{HOST}/openai/v1/chat/completions"


def test_an_address_of_the_account_wins() -> None:
    found = url(azureEndpoint=HOST, baseUrl="https://proxy.example/azure/", apiVersion="2024-10-21")

    assert found == "https://proxy.example/azure/chat/completions"


@pytest.mark.parametrize("endpoint", [None, "", " ", 5])
def test_an_account_without_a_resource_is_told_what_to_save(endpoint: object) -> None:
    with pytest.raises(UpstreamError, match="azureEndpoint"):
        url(azureEndpoint=endpoint)


@pytest.mark.parametrize("path", ["/embeddings", "/images/edits", "/audio/speech"])
def test_services_of_a_dated_version_are_below_the_deployment(path: str) -> None:
    found = url(path, azureEndpoint=HOST, apiVersion="2024-10-21")

    assert found == f"{HOST}/openai/deployments/gpt-4o{path}?api-version=2024-10-21"
    assert url(path, azureEndpoint=HOST) == f"{HOST}/openai/v1{path}"
