"""Vectors and ranking: what each vendor is asked, and what the client gets of its answer.

Voyage's questions and answers are recorded; its own library asked the questions. Those of the
others are written after their documentation, which each plugin names.
"""

import struct
from base64 import b64decode
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from corpus import Item, answer, items, named, question
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

VECTORS = [i for i in items("openai_embeddings") if i["vendor"] == "voyage"]
ANSWERED = [i for i in VECTORS if i["response_status"] == 200 and question(i)]
RANKED = [i for i in items("rerank") if i["vendor"] == "voyage" and question(i)]
[REFUSED] = [i for i in VECTORS if i["response_status"] == 400]
FLOATS = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.25]}],
    "model": "m",
    "usage": {"prompt_tokens": 3, "total_tokens": 3},
}
RESULTS = {
    "model": "m",
    "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}],
    "usage": {"total_tokens": 21},
}


def say(value: Any, status: int = 200) -> MockResponse:
    return MockResponse((msgspec.json.encode(value),), status=status)


def post(here: Served, path: str, name: str, /, **members: Any) -> httpx2.Response:
    return httpx2.post(f"{here.url}/v1/{path}", json={**members, "model": name})


@pytest.mark.parametrize("item", ANSWERED, ids=named)
def test_the_vendors_own_library_gets_vectors(connected: Any, item: Item) -> None:
    here: Served = connected(lambda received: MockResponse((answer(item),)), "voyage-ai")
    members = item["request_body"]

    got = post(here, "embeddings", f"voyage/{members['model']}", **members)

    [received] = here.vendors["vendor"].received
    recorded = msgspec.json.decode(answer(item))
    total = recorded["usage"]["total_tokens"]
    assert received.path == "/v1/embeddings"
    assert received.headers["authorization"] == "Bearer sk-vendor-0123456789"
    assert received.json() == members
    assert got.status_code == 200
    assert got.json()["data"] == recorded["data"]
    assert got.json()["usage"] == {"prompt_tokens": total, "total_tokens": total}
    [row] = here.rows()
    assert (row.endpoint, row.input_tokens) == ("/v1/embeddings", total)


def test_the_completions_sdk_gets_vectors(connected: Any) -> None:
    item = next(i for i in ANSWERED if i["model"] == "voyage-3.5")
    here: Served = connected(lambda received: MockResponse((answer(item),)), "voyage-ai")

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        got = client.embeddings.create(
            model="voyage-ai/voyage-3.5", input=["Hello, world!"], dimensions=1024, user="me"
        )

    [received] = here.vendors["vendor"].received
    assert received.json() == {
        "model": "voyage-3.5",
        "input": ["Hello, world!"],
        "output_dimension": 1024,
        "encoding_format": "base64",
    }
    data = b64decode(msgspec.json.decode(answer(item))["data"][0]["embedding"])
    assert got.data[0].embedding == list(struct.unpack(f"<{len(data) // 4}f", data))
    [row] = here.rows()
    # Six cents for a million tokens.
    assert row.cost == pytest.approx(row.input_tokens * 0.06, abs=1)


def test_floats_have_no_word_of_their_own(connected: Any) -> None:
    here: Served = connected(lambda received: say(FLOATS), "voyage-ai")

    got = post(
        here, "embeddings", "voyage-ai/voyage-4", input="hi", encoding_format="float", user="me"
    )

    [received] = here.vendors["vendor"].received
    assert received.json() == {"model": "voyage-4", "input": "hi"}
    assert got.headers["x-gateway-dropped"] == "user"
    assert got.json()["data"] == FLOATS["data"]


def test_more_inputs_than_the_vendor_takes_are_sent_in_parts(connected: Any) -> None:
    def vectors(received: ReceivedRequest) -> MockResponse:
        rows = [{"index": i, "embedding": [1]} for i, _ in enumerate(received.json()["input"])]
        return say({"object": "list", "data": rows, "usage": {"total_tokens": len(rows)}})

    here: Served = connected(vectors, "voyage-ai")

    got = post(here, "embeddings", "voyage-ai/voyage-4", input=["hi"] * 1001)

    assert [len(a.json()["input"]) for a in here.vendors["vendor"].received] == [1000, 1]
    assert len(got.json()["data"]) == got.json()["usage"]["total_tokens"] == 1001


def test_a_refusal_is_in_the_clients_shape(connected: Any) -> None:
    refusal = MockResponse((answer(REFUSED),), status=400)
    here: Served = connected(lambda received: refusal, "voyage-ai")

    got = post(here, "embeddings", "voyage-ai/nonexistent", input="hi")

    assert got.status_code == 400
    assert got.json()["error"]["message"].startswith("Model nonexistent is not supported.")


@pytest.mark.parametrize("item", RANKED, ids=named)
def test_the_vendors_own_library_ranks(connected: Any, item: Item) -> None:
    here: Served = connected(lambda received: MockResponse((answer(item),)), "voyage-ai")
    members = item["request_body"]

    got = post(here, "rerank", f"voyage-ai/{members['model']}", **members)

    [received] = here.vendors["vendor"].received
    assert (received.path, received.json()) == ("/v1/rerank", members)
    assert got.content == answer(item)
    [row] = here.rows()
    assert row.units == {"documents": len(members["documents"])}
    assert row.input_tokens == got.json()["usage"]["total_tokens"]
    assert row.cost is not None


@pytest.mark.parametrize(
    ("provider", "model", "renamed"),
    [
        ("jina-ai", "jina-embeddings-v3", {"embedding_type": "float"}),
        ("jina", "jina-embeddings-v4", {"embedding_type": "float"}),
        ("nebius", "Qwen/Qwen3-Embedding-8B", {"encoding_format": "float"}),
        ("siliconflow", "BAAI/bge-m3", {"encoding_format": "float"}),
        ("vercel", "openai/text-embedding-3-small", {"encoding_format": "float"}),
        ("orcarouter", "text-embedding-3-small", {"encoding_format": "float"}),
    ],
)
def test_vectors_pass_through(
    connected: Any, provider: str, model: str, renamed: dict[str, str]
) -> None:
    account = {"jina": "jina-ai", "vercel": "vercel-ai-gateway"}.get(provider, provider)
    here: Served = connected(lambda received: say(FLOATS), account)

    got = post(
        here, "embeddings", f"{provider}/{model}", input=["hi"], encoding_format="float", extra=1
    )

    [received] = here.vendors["vendor"].received
    assert received.path == "/v1/embeddings"
    assert received.headers["authorization"] == "Bearer sk-vendor-0123456789"
    assert received.json() == {"model": model, "input": ["hi"], "extra": 1, **renamed}
    assert (got.status_code, got.content) == (200, msgspec.json.encode(FLOATS))
    assert here.rows()[0].input_tokens == 3


@pytest.mark.parametrize(
    ("provider", "model"),
    [("jina-ai", "jina-reranker-v3"), ("siliconflow", "BAAI/bge-reranker-v2-m3")],
)
def test_ranking_passes_through(connected: Any, provider: str, model: str) -> None:
    here: Served = connected(lambda received: say(RESULTS), provider)
    members = {"query": "hi", "documents": ["a", "b"], "top_n": 2, "return_documents": False}

    got = post(here, "rerank", f"{provider}/{model}", **members)

    [received] = here.vendors["vendor"].received
    assert (received.path, received.json()) == ("/v1/rerank", {**members, "model": model})
    assert got.content == msgspec.json.encode(RESULTS)
    assert (here.rows()[0].units, here.rows()[0].input_tokens) == ({"documents": 2}, 21)


def test_workers_run_a_model_for_vectors(connected: Any) -> None:
    found = {"result": {"shape": [2, 2], "data": [[1, 2], [3, 4]]}, "success": True}
    here: Served = connected(lambda received: say(found), "cloudflare-ai")

    got = post(here, "embeddings", "cf/@cf/baai/bge-m3", input=["a", "b"], dimensions=2)

    [received] = here.vendors["vendor"].received
    assert (received.path, received.json()) == ("/run/@cf/baai/bge-m3", {"text": ["a", "b"]})
    assert [row["embedding"] for row in got.json()["data"]] == [[1, 2], [3, 4]]
    assert got.headers["x-gateway-dropped"] == "dimensions"
    assert here.rows()[0].endpoint == "/v1/embeddings"


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("nebius", "meta-llama/Llama-3.3-70B-Instruct"),
        ("siliconflow", "zai-org/GLM-5"),
        ("vercel-ai-gateway", "anthropic/claude-sonnet-4"),
        ("orcarouter", "orcarouter/auto"),
        ("cloudflare-ai", "@cf/zai-org/glm-4.7-flash"),
    ],
)
def test_a_vendor_of_chat_talks(connected: Any, provider: str, model: str) -> None:
    written = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    here: Served = connected(lambda received: say(written), provider)

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        got = client.chat.completions.create(
            model=f"{provider}/{model}", messages=[{"role": "user", "content": "Hello"}]
        )

    [received] = here.vendors["vendor"].received
    assert (received.path, received.json()["model"]) == ("/v1/chat/completions", model)
    assert got.choices[0].message.content == "Hi"
    assert (here.rows()[0].input_tokens, here.rows()[0].output_tokens) == (3, 2)


def test_the_same_host_speaks_and_listens(connected: Any) -> None:
    def say_both(received: ReceivedRequest) -> MockResponse:
        if received.path == "/v1/audio/speech":
            return MockResponse((b"ID3",), content_type="audio/mpeg")
        return say({"text": "hello"})

    here: Served = connected(say_both, "siliconflow")

    spoken = post(here, "audio/speech", "siliconflow/FunAudioLLM/CosyVoice2-0.5B", input="hello")
    heard = httpx2.post(
        f"{here.url}/v1/audio/transcriptions",
        data={"model": "siliconflow/FunAudioLLM/SenseVoiceSmall"},
        files={"file": ("a.mp3", b"ID3", "audio/mpeg")},
    )

    assert (spoken.status_code, spoken.content) == (200, b"ID3")
    assert heard.json() == {"text": "hello"}
