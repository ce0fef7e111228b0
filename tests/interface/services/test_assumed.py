"""Rerank and moderations of vendors that speak the completions format and say nothing of them."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse
from served_gateway import Served

from gateway_core import Kind

ROOT = Path(__file__).parents[3]
BODIES: dict[str, dict[str, Any]] = {
    "rerank": {"query": "q", "documents": ["a"]},
    "moderations": {"input": "hi"},
}


@pytest.mark.parametrize("word", BODIES)
def test_a_completions_vendor_is_asked_beside_its_chat(
    connected: Any, http: httpx2.Client, word: str
) -> None:
    here: Served = connected(lambda received: MockResponse((b'{"results":[]}',)), "deepseek")
    body = {"model": "deepseek/some-model", **BODIES[word]}

    found = http.post(f"{here.url}/v1/{word}", json=body)

    [received] = here.vendors["vendor"].received
    assert (found.status_code, found.json()) == (200, {"results": []})
    assert received.path == f"/v1/{word}"
    assert received.json() == {**body, "model": "some-model"}


@pytest.mark.parametrize("word", BODIES)
def test_a_vendor_of_another_format_is_not(connected: Any, http: httpx2.Client, word: str) -> None:
    here: Served = connected(lambda received: MockResponse(), "anthropic")

    found = http.post(f"{here.url}/v1/{word}", json={"model": "anthropic/x", **BODIES[word]})

    title = "rerank" if word == "rerank" else "moderations"
    assert found.status_code == 400
    assert found.json()["error"]["message"] == f"Provider 'anthropic' does not support {title}."


@pytest.mark.parametrize("word", BODIES)
def test_a_chat_model_is_no_model_for_it(connected: Any, http: httpx2.Client, word: str) -> None:
    here: Served = connected(lambda received: MockResponse(), "deepseek")
    providers = here.gateway.core.snapshot.registry.providers
    chat = next(row.id for row in providers["deepseek"].models if row.kind == Kind.LLM)

    found = http.post(f"{here.url}/v1/{word}", json={"model": f"deepseek/{chat}", **BODIES[word]})

    assert found.status_code == 400
    assert "is not a model for" in found.json()["error"]["message"]


def test_a_model_without_a_provider_goes_to_nobody_who_is_only_assumed(
    connected: Any, http: httpx2.Client
) -> None:
    here: Served = connected(lambda received: MockResponse(), "deepseek")

    found = http.post(f"{here.url}/v1/rerank", json={"model": "some-model", **BODIES["rerank"]})

    assert found.status_code == 400
    assert here.vendors["vendor"].received == []


def test_the_list_of_services_leaves_them_out() -> None:
    page = (ROOT / "docs/reference/formats-and-vendors.md").read_text()
    vendors, services = page.partition("## Services")[::2]

    assert "| `deepseek` |" in vendors
    assert "| `deepseek` |" not in services.partition("## Notes")[0]
