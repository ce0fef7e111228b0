"""Services with JSON both ways: clients that others wrote, and recorded answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_core import Kind, Model, ProviderSpec
from gateway_providers import openai_compatible

KEY = "sk-vendor-0123456789"


def recorded(folder: str, beginning: str) -> Item:
    """The recording whose name begins so."""
    return next(item for item in items(folder) if item["id"].startswith(beginning))


VECTORS = recorded("openai_embeddings", "openai-pydantic-ai-testopenai-test-instrumentation")
NO_MODEL = recorded("openai_embeddings", "openai-pydantic-ai-testopenai-test-embed-error")
FLAGGED = recorded("openai_moderations", "openai-dd-trace-py-v1-moderation")
RANKED = recorded("rerank", "together-vercelai-togetherai-reranking-1")
PAINTED = recorded("openai_images", "openai-rubyllm-image-basic-functionality-openai-gpt-image-1")
BY_PATH = {
    "/v1/embeddings": VECTORS,
    "/v1/moderations": FLAGGED,
    "/v1/rerank": RANKED,
    "/v1/images/generations": PAINTED,
}


def replay(received: ReceivedRequest) -> MockResponse:
    item = BY_PATH[received.path]
    if received.json().get("model") == "nonexistent":
        item = NO_MODEL
    return MockResponse((answer(item),), status=item["response_status"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def specs(vendors: Any) -> list[ProviderSpec]:
        ranking = ProviderSpec(
            id="ranker",
            name="Ranker",
            base_url=f"{vendors['vendor'].url}/v1",
            models=(Model("rank-1", kind=Kind.RERANK),),
        )
        return [openai_compatible(ranking, services=("rerank",))]

    folder = Path(tmp_path_factory.mktemp("gateway"))
    with serve_gateway(folder, {"vendor": replay}, specs=specs) as running:
        yield running


@pytest.fixture(scope="module")
def connected(here: Served) -> str:
    from gateway_core.storage.stores.connection import NewConnection

    async def work() -> str:
        core = here.gateway.core
        base = f"{here.vendors['vendor'].url}/v1"
        data = {"apiKey": KEY, "providerSpecificData": {"baseUrl": base}}
        ranker = NewConnection(provider="ranker", name="r", data={"apiKey": KEY})
        await core.stores.connections.create(ranker)
        new = NewConnection(provider="openai", name="main", data=data)
        connection = await core.stores.connections.create(new)
        await core.refresh()
        return connection.id

    return here.do(work())


@pytest.fixture
def client(here: Served, connected: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_embeddings_pass_through_with_the_model_alone_replaced(
    here: Served, client: openai.OpenAI
) -> None:
    received = {"input": ["Hello, world!"], "dimensions": 128, "encoding_format": "base64"}

    found = client.embeddings.create(model="openai/text-embedding-3-small", **received)  # type: ignore[call-overload]

    sent = here.vendors["vendor"].received[-1]
    assert found.usage.prompt_tokens == 4
    assert isinstance(found.data[0].embedding, str)
    assert sent.json() == {"model": "text-embedding-3-small", **received}
    assert sent.headers["authorization"] == f"Bearer {KEY}"


def test_the_vendors_bytes_reach_the_client_as_they_came(
    here: Served, client: openai.OpenAI, http: httpx2.Client
) -> None:
    body = {"model": "openai/text-embedding-3-small", "input": "hi", "made_up": {"x": 1.50}}

    response = http.post(f"{here.url}/v1/embeddings", json=body)

    assert response.content == answer(VECTORS)
    assert response.headers["content-type"] == "application/json"
    assert (
        here.vendors["vendor"]
        .received[-1]
        .body.endswith(b'"made_up":{"x":1.5},"model":"text-embedding-3-small"}')
    )


def test_a_call_leaves_one_row_with_its_tokens_and_its_cost(
    here: Served, client: openai.OpenAI
) -> None:
    before = len(here.rows())

    client.embeddings.create(model="openai/text-embedding-3-small", input="hi")

    rows = here.rows()
    assert len(rows) == before + 1
    assert (rows[0].provider, rows[0].model_sent) == ("openai", "text-embedding-3-small")
    assert (rows[0].endpoint, rows[0].input_tokens) == ("/v1/embeddings", 4)
    assert rows[0].status == "ok"
    assert not rows[0].estimated
    assert rows[0].cost is not None


def test_a_vendors_refusal_keeps_its_status_and_words(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.embeddings.create(model="openai/nonexistent", input="hi")

    assert "does not exist" in caught.value.message
    assert caught.value.code == "model_not_found"


def test_moderations_need_no_model(here: Served, client: openai.OpenAI) -> None:
    found = client.moderations.create(input="i want to kill them.")

    assert found.results[0].flagged
    assert here.vendors["vendor"].received[-1].json()["model"] == "omni-moderation-latest"


def test_images_count_their_tokens_and_pictures(here: Served, client: openai.OpenAI) -> None:
    found = client.images.generate(model="gpt-image-1", prompt="a siamese cat", size="1024x1024")

    row = here.rows()[0]
    assert found.data is not None
    assert found.data[0].b64_json
    assert (row.input_tokens, row.output_tokens) == (10, 4160)
    assert row.units == {"images/1024x1024": 1}


def test_rerank_is_served_by_whoever_declares_it(
    here: Served, connected: str, http: httpx2.Client
) -> None:
    body = {"model": "ranker/rank-1", "query": "q", "documents": ["a", "b"]}

    response = http.post(f"{here.url}/v1/rerank", json=body)

    assert response.json()["results"]
    assert here.rows()[0].units == {"documents": 2}


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (
            "/v1/embeddings",
            {"model": "openai/text-embedding-3-small"},
            "Missing required field: input",
        ),
        (
            "/v1/rerank",
            {"model": "ranker/rank-1", "query": "q"},
            "Missing required field: documents",
        ),
        ("/v1/images/generations", {"model": "gpt-image-1"}, "Missing required field: prompt"),
        (
            "/v1/embeddings",
            {"model": "gpt-4o", "input": "x"},
            "openai/gpt-4o is not a model for embedding",
        ),
        (
            "/v1/rerank",
            {"model": "anthropic/x", "query": "q", "documents": ["a"]},
            "Provider 'anthropic' does not support rerank.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(
    here: Served, connected: str, http: httpx2.Client, path: str, body: Any, message: str
) -> None:
    before = len(here.vendors["vendor"].received)

    response = http.post(f"{here.url}{path}", json=body)

    assert response.status_code == 400
    assert response.json()["error"]["message"] == message
    assert len(here.vendors["vendor"].received) == before


def test_a_kind_without_a_provider_says_so(tmp_path: Path, http: httpx2.Client) -> None:
    with serve_gateway(tmp_path, {}) as running:
        response = http.post(f"{running.url}/v1/embeddings", json={"input": "hi"})

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "no_provider_for_kind"
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_another_method_is_refused_in_the_completions_style(
    here: Served, http: httpx2.Client
) -> None:
    response = http.get(f"{here.url}/v1/embeddings")

    assert response.status_code == 405
    assert response.headers["allow"] == "POST, OPTIONS"
    assert response.json()["error"]["code"] == "method_not_allowed"
