"""The checks for plugin authors find what they look for."""

from typing import Any

import pytest

from gateway_core import ProviderSpec, UpstreamRequest
from gateway_providers.testing import (
    dependency_faults,
    docstring_faults,
    naming_faults,
    request_faults,
    variable_faults,
)


def project(**changes: Any) -> dict[str, Any]:
    return {
        "project": {
            "name": "model-gateway-provider-acme-one",
            "dependencies": ["model-gateway"],
            "entry-points": {"model_gateway": {"acme-one": "gateway_provider_acme_one"}},
            **changes,
        },
        "tool": {
            "uv": {"build-backend": {"module-name": "gateway_provider_acme_one", "module-root": ""}}
        },
    }


def test_a_plugin_whose_names_agree_is_without_fault() -> None:
    assert list(naming_faults("provider", "acme-one", project())) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "acme"},
        {"entry-points": {}},
        {"entry-points": {"model_gateway": {"acme": "gateway_provider_acme_one"}}},
        {"entry-points": {"model_gateway": {"acme-one": "acme"}}},
    ],
    ids=["name", "no entry point", "key", "module"],
)
def test_a_name_that_differs_is_told(changes: dict[str, Any]) -> None:
    assert len(list(naming_faults("provider", "acme-one", project(**changes)))) == 1


def test_a_module_that_is_not_named_for_the_build_is_told() -> None:
    bare = {"project": project()["project"]}

    assert len(list(naming_faults("provider", "acme-one", bare))) == 2


def test_a_formats_key_says_that_it_is_one() -> None:
    names = project(
        name="model-gateway-format-acme",
        **{"entry-points": {"model_gateway": {"format-acme": "gateway_format_acme"}}},
    )
    names["tool"]["uv"]["build-backend"]["module-name"] = "gateway_format_acme"

    assert list(naming_faults("format", "acme", names)) == []


@pytest.mark.parametrize(
    ("needed", "faults"),
    [
        (["model-gateway"], 1),
        (["model-gateway>=1", "signer[fast]>=2; python_version < '4'"], 0),
        (["signer"], 1),
        (["model-gateway", "signer~=2.0", "requests"], 1),
    ],
    ids=["too few", "as meant", "no host", "too many"],
)
def test_dependencies_are_those_that_are_known(needed: list[str], faults: int) -> None:
    found = list(dependency_faults(project(dependencies=needed), {"signer"}))

    assert len(found) == faults


@pytest.mark.parametrize("text", [None, "", "Acme: see http://acme.example"])
def test_a_docstring_without_a_link_is_told(text: str | None) -> None:
    assert len(list(docstring_faults(text))) == 1


def test_a_docstring_with_a_link_is_fine() -> None:
    assert list(docstring_faults("Acme: https://acme.example/api")) == []


def test_variables_are_told_that_are_misspelled_or_read_twice() -> None:
    spec = ProviderSpec(
        id="acme",
        name="Acme",
        environment=("ACME_KEY", "acme_key", "ACME-KEY"),
        environment_data={"ACME_KEY": "region"},
    )

    assert len(list(variable_faults(spec))) == 3


def received(**changes: Any) -> UpstreamRequest:
    usual = {
        "url": "https://acme.example/chat",
        "headers": {"authorization": "Bearer s3cret"},
        "body": b'{"model":"m-1"}',
    }
    return UpstreamRequest(**{**usual, **changes})


@pytest.mark.parametrize(
    "request_",
    [received(), received(url="https://acme.example/models/a%2Fm-1:chat", body=b"{}")],
    ids=["model in the body", "model in the path"],
)
def test_a_call_that_is_as_it_should_be_is_without_fault(request_: UpstreamRequest) -> None:
    assert list(request_faults(request_, model="m-1", secret="s3cret")) == []


@pytest.mark.parametrize(
    "request_",
    [
        received(headers={}),
        received(headers={"authorization": "Bearer s3cret", "x-api-key": "s3cret"}),
        received(headers={"Authorization": "Bearer s3cret"}),
        received(url="https://acme.example/chat?key=s3cret"),
        received(body=b'{"model":"m-1","key":"s3cret"}'),
        received(body=b'{"model":"acme/m-1"}'),
    ],
    ids=["no key", "two keys", "upper case", "key in the URL", "key in the body", "wrong model"],
)
def test_a_call_that_is_not_is_told(request_: UpstreamRequest) -> None:
    assert len(list(request_faults(request_, model="m-1", secret="s3cret"))) == 1
