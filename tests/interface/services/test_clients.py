"""Clients that others wrote: of vendors whose vectors and rankings are the gateway's too, and of a
framework."""

from collections.abc import Callable, Iterator
from typing import Any

import cohere
import httpx
import pytest
import requests
import voyageai
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from langchain_openai import OpenAIEmbeddings
from served_gateway import Served

DOCUMENTS = ["Carson City", "Saipan", "Charlotte Amalie", "Washington", "Capital punishment"]


def recorded(folder: str, vendor: str, beginning: str = "", path: str = "") -> Item:
    """The first recording of a vendor whose name and path begin so."""
    return next(
        i
        for i in items(folder)
        if i["vendor"] == vendor and i["id"].startswith(beginning) and path in i["endpoint"]
    )


def replaying(item: Item) -> Any:
    return lambda received: MockResponse((answer(item),))


@pytest.fixture
def voyage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Served], voyageai.Client]]:
    """Makes clients whose connections end with the test."""
    with requests.Session() as session:
        monkeypatch.setattr(voyageai, "requestssession", session)
        yield lambda here: voyageai.Client("none", base_url=f"{here.url}/v1")


def test_cohere_ranks(connected: Any) -> None:
    item = recorded("rerank", "cohere", path="/v2/rerank")
    here: Served = connected(replaying(item), "cohere")

    with httpx.Client() as connection:
        client = cohere.Client("none", base_url=here.url, httpx_client=connection)
        ranked = client.rerank(model="cohere/rerank-v3.5", query="capital", documents=DOCUMENTS)

    [received] = here.vendors["vendor"].received
    assert ranked.results[0].relevance_score > 0.5
    assert received.json()["model"] == "rerank-v3.5"
    assert received.json()["documents"] == DOCUMENTS
    # What the vendor bills is a search.
    assert here.rows()[0].units == {"queries": 1}


def test_voyage_ranks(connected: Any, voyage: Any) -> None:
    item = recorded("rerank", "voyage")
    here: Served = connected(replaying(item), "voyage-ai")

    ranked = voyage(here).rerank("capital", DOCUMENTS, "voyage-ai/rerank-2.5")

    [received] = here.vendors["vendor"].received
    assert ranked.results[0].document in DOCUMENTS
    assert received.json()["model"] == "rerank-2.5"
    assert here.rows()[0].input_tokens == ranked.total_tokens


def test_voyage_embeds(connected: Any, voyage: Any) -> None:
    item = recorded("openai_embeddings", "voyage")
    here: Served = connected(replaying(item), "voyage-ai")

    found = voyage(here).embed(["Paris", "London"], "voyage-ai/voyage-3.5", input_type="query")

    [received] = here.vendors["vendor"].received
    assert len(found.embeddings) == 2
    assert received.json()["model"] == "voyage-3.5"
    assert received.json()["input_type"] == "query"
    assert here.rows()[0].input_tokens == found.total_tokens


def test_langchain_embeds(connected: Any) -> None:
    def vectors(received: ReceivedRequest) -> MockResponse:
        return MockResponse((answer(VECTORS),))

    here: Served = connected(vectors)

    with httpx.Client() as connection:
        embeddings = OpenAIEmbeddings(
            model="openai/text-embedding-3-small",
            base_url=f"{here.url}/v1",
            api_key="none",
            http_client=connection,
            # Otherwise it counts tokens of the vendor's own models, with tables from the web.
            check_embedding_ctx_length=False,
        )
        found = embeddings.embed_documents(["Hello, world!"])

    assert [len(each) for each in found] == [128]
    assert here.vendors["vendor"].received[-1].json()["model"] == "text-embedding-3-small"
    assert here.rows()[0].input_tokens == 4


VECTORS = recorded("openai_embeddings", "openai", "openai-pydantic-ai-testopenai-test-instrument")
