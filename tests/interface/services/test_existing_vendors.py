"""Services of the vendors that have chat as well: what each is asked, what the client gets of its
answer, and what is counted. Answers are recorded ones where there are any."""

import base64
import struct
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from msgspec import Struct
from served_gateway import Served

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
B64 = base64.b64encode(PNG).decode()
PAGE = "https://example.com/reefs"
VECTORS = {"data": [{"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}]}
TOKENS = {"usage": {"prompt_tokens": 4, "total_tokens": 4}}


def recorded(folder: str, beginning: str, **more: str) -> Item:
    """The first recording whose name begins so, and whose members are these."""
    return next(
        item
        for item in items(folder)
        if item["id"].startswith(beginning)
        and all(value in str(item[name]) for name, value in more.items())
    )


def body_of(item: Item) -> Any:
    return msgspec.json.decode(answer(item))


class Row(Struct, frozen=True, kw_only=True):
    """One call of one vendor's service."""

    model: str
    asks: str
    """The endpoint, below ``/v1``."""
    members: Mapping[str, Any]
    path: str
    sent: Mapping[str, Any]
    written: Any
    """JSON of the vendor's, or bytes."""
    got: Callable[[Any], Any]
    """Picks out of the client's answer what is compared."""
    is_: Any
    lost: str = ""
    tokens: tuple[int, int] | None = None
    """``None`` where the vendor reports none: they are estimated then."""
    units: Mapping[str, float] | None = None
    cost: float | None = None
    """``None`` where nothing is known of the price."""
    content_type: str = "application/json"
    data: Mapping[str, Any] = {}


def vectors(shown: Any) -> list[Any]:
    return [row["embedding"] for row in shown["data"]]


def first_numbers(shown: Any) -> list[float]:
    return [row["embedding"][0] for row in shown["data"]]


def pictures(shown: Any) -> list[Any]:
    return [row.get("b64_json") or row.get("url") for row in shown["data"]]


def links(shown: Any) -> list[tuple[str, str]]:
    return [(row["url"], row["snippet"]) for row in shown["results"]]


def whole(shown: Any) -> Any:
    return shown


GEMINI_2 = recorded("gemini_embed", "google-llm-gemini-test-embedding-gemini-embedding-2-768")
COHERE = recorded("cohere_embed", "cohere-langchain-cohere-test-langchain-cohere-aembedding-doc")
OLLAMA = next(i for i in items("ollama_embed") if "embeddings" in body_of(i))
PPLX = next(i for i in items("openai_embeddings") if i["vendor"] == "perplexity")
MISTRAL = next(i for i in items("openai_embeddings") if i["vendor"] == "mistral")
OPENROUTER = next(i for i in items("rerank") if i["vendor"] == "openrouter")
OCR = items("mistral_ocr")[0]
XAI = next(i for i in items("openai_images") if i["vendor"] == "xai")
PAINTED = next(i for i in items("openai_images") if i["vendor"] == "openrouter")
PPLX_FIRST = struct.unpack("b", base64.b64decode(body_of(PPLX)["data"][0]["embedding"])[:1])[0]

EMBEDDINGS = [
    Row(
        model="cohere/embed-v4.0",
        asks="embeddings",
        members={"input": "foo bar", "dimensions": 384, "input_type": "search_query", "user": "u"},
        path="/v1/embed",
        sent={
            "model": "embed-v4.0",
            "texts": ["foo bar"],
            "input_type": "search_query",
            "embedding_types": ["float"],
            "output_dimension": 384,
        },
        written=body_of(COHERE),
        got=vectors,
        is_=body_of(COHERE)["embeddings"]["float"],
        lost="user",
        tokens=(2, 0),
        cost=2 * 0.12e-6,
    ),
    Row(
        model="gemini/gemini-embedding-2-preview",
        asks="embeddings",
        members={"input": ["Some text goes here"], "dimensions": 768, "input_type": "search_query"},
        path="/v1/models/gemini-embedding-2-preview:batchEmbedContents",
        sent={
            "requests": [
                {
                    "model": "models/gemini-embedding-2-preview",
                    "content": {"parts": [{"text": "Some text goes here"}]},
                    "outputDimensionality": 768,
                    "taskType": "RETRIEVAL_QUERY",
                }
            ]
        },
        written=body_of(GEMINI_2),
        got=first_numbers,
        is_=[body_of(GEMINI_2)["embeddings"][0]["values"][0]],
        tokens=(4, 0),
    ),
    Row(
        model="gemini/gemini-embedding-001",
        asks="embeddings",
        members={"input": "reefs"},
        path="/v1/models/gemini-embedding-001:embedContent",
        sent={
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": "reefs"}]},
        },
        written={"embedding": {"values": [0.5, -0.25]}},
        got=vectors,
        is_=[[0.5, -0.25]],
    ),
    Row(
        model="vertex/text-embedding-005",
        asks="embeddings",
        members={"input": ["a", "b"], "dimensions": 2, "input_type": "search_document"},
        path="/v1/models/text-embedding-005:predict",
        sent={
            "instances": [
                {"content": "a", "task_type": "RETRIEVAL_DOCUMENT"},
                {"content": "b", "task_type": "RETRIEVAL_DOCUMENT"},
            ],
            "parameters": {"outputDimensionality": 2},
        },
        written={
            "predictions": [
                {"embeddings": {"values": [0.5, 1.0], "statistics": {"token_count": 3}}},
                {"embeddings": {"values": [0.25, 2.0], "statistics": {"token_count": 4}}},
            ]
        },
        got=vectors,
        is_=[[0.5, 1.0], [0.25, 2.0]],
        tokens=(7, 0),
    ),
    Row(
        model="mistral/mistral-embed",
        asks="embeddings",
        members={"input": "Hello world", "dimensions": 8, "user": "u"},
        path="/v1/embeddings",
        sent={"model": "mistral-embed", "input": "Hello world", "output_dimension": 8},
        written=body_of(MISTRAL),
        got=whole,
        is_=body_of(MISTRAL),
        lost="user",
        tokens=(4, 0),
        cost=4 * 0.1e-6,
    ),
    Row(
        model="ollama/all-minilm",
        asks="embeddings",
        members={"input": "reefs", "truncate": True, "user": "u"},
        path="/api/embed",
        sent={"model": "all-minilm", "input": ["reefs"], "truncate": True},
        written=body_of(OLLAMA),
        got=vectors,
        is_=body_of(OLLAMA)["embeddings"],
        lost="user",
        tokens=(body_of(OLLAMA).get("prompt_eval_count", 0), 0),
    ),
    Row(
        model="perplexity/pplx-embed-v1-0.6b",
        asks="embeddings",
        members={"input": "Ruby is a programmer's best friend", "encoding_format": "float"},
        path="/v1/v1/embeddings",
        sent={"model": "pplx-embed-v1-0.6b", "input": "Ruby is a programmer's best friend"},
        written=body_of(PPLX),
        got=first_numbers,
        is_=[float(PPLX_FIRST)],
        tokens=(7, 0),
        cost=7 * 0.004e-6,
    ),
    Row(
        model="nvidia/nvidia/nv-embedqa-e5-v5",
        asks="embeddings",
        members={"input": "reefs", "input_type": "search_query"},
        path="/v1/embeddings",
        sent={"model": "nvidia/nv-embedqa-e5-v5", "input": ["reefs"], "input_type": "query"},
        written={**VECTORS, **TOKENS},
        got=vectors,
        is_=[[0.5, -0.25]],
        tokens=(4, 0),
    ),
    Row(
        model="huggingface/intfloat/multilingual-e5-large",
        asks="embeddings",
        members={"input": ["a", "b"]},
        path="/hf-inference/models/intfloat/multilingual-e5-large/pipeline/feature-extraction",
        sent={"inputs": ["a", "b"]},
        written=[[0.5], [0.25]],
        got=vectors,
        is_=[[0.5], [0.25]],
    ),
    Row(
        model="bedrock/amazon.titan-embed-text-v2:0",
        asks="embeddings",
        members={"input": "reefs", "dimensions": 256},
        path="/v1/model/amazon.titan-embed-text-v2%3A0/invoke",
        sent={"inputText": "reefs", "dimensions": 256},
        written={"embedding": [0.5, 1.0], "inputTextTokenCount": 4},
        got=vectors,
        is_=[[0.5, 1.0]],
        tokens=(4, 0),
    ),
    Row(
        model="bedrock/amazon.nova-2-multimodal-embeddings-v1:0",
        asks="embeddings",
        members={"input": "reefs", "dimensions": 256, "input_type": "search_query"},
        path="/v1/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke",
        sent={
            "taskType": "SINGLE_EMBEDDING",
            "singleEmbeddingParams": {
                "embeddingPurpose": "GENERIC_RETRIEVAL",
                "text": {"truncationMode": "END", "value": "reefs"},
                "embeddingDimension": 256,
            },
        },
        written={"embeddings": [{"embeddingType": "TEXT", "embedding": [0.5, 1.0]}]},
        got=vectors,
        is_=[[0.5, 1.0]],
    ),
]
PLAIN = [
    Row(
        model=model,
        asks="embeddings",
        members={"input": "reefs", "own": 1},
        path="/v1/embeddings",
        sent={"model": model.partition("/")[2], "input": "reefs", "own": 1},
        written={**VECTORS, **TOKENS},
        got=vectors,
        is_=[[0.5, -0.25]],
        tokens=(4, 0),
    )
    for model in (
        "openai/text-embedding-3-small",
        "together/intfloat/multilingual-e5-large-instruct",
        "fireworks/nomic-ai/nomic-embed-text-v1.5",
        "openrouter/qwen/qwen3-embedding-8b",
        "qwen/text-embedding-v4",
        "github-models/openai/text-embedding-3-small",
        "glm/embedding-3",
        "azure-openai/my-vectors",
    )
]
TEXTS = [
    Row(
        model="openrouter/cohere/rerank-v3.5",
        asks="rerank",
        members={"query": "what is ruby", "documents": ["Paris", "Ruby"]},
        path="/v1/rerank",
        sent={
            "model": "cohere/rerank-v3.5",
            "query": "what is ruby",
            "documents": ["Paris", "Ruby"],
        },
        written=body_of(OPENROUTER),
        got=whole,
        is_=body_of(OPENROUTER),
        tokens=(17, 0),
        units={"documents": 2},
    ),
    Row(
        model="qwen/qwen3-rerank",
        asks="rerank",
        members={"query": "q", "documents": ["a"]},
        path="/compatible-api/v1/reranks",
        sent={"model": "qwen3-rerank", "query": "q", "documents": ["a"]},
        written={"results": [{"index": 0, "relevance_score": 0.5}], "usage": {"total_tokens": 9}},
        got=lambda shown: shown["results"][0]["relevance_score"],
        is_=0.5,
        tokens=(9, 0),
        cost=9 * 0.1e-6,
    ),
    Row(
        model="fireworks/fireworks/qwen3-reranker-8b",
        asks="rerank",
        members={"query": "q", "documents": ["a"]},
        path="/v1/rerank",
        sent={"model": "fireworks/qwen3-reranker-8b", "query": "q", "documents": ["a"]},
        written={"data": [{"index": 0, "relevance_score": 0.5}]},
        got=lambda shown: shown["data"][0]["relevance_score"],
        is_=0.5,
        units={"documents": 1},
    ),
    Row(
        model="mistral/mistral-moderation-latest",
        asks="moderations",
        members={"input": "hi"},
        path="/v1/moderations",
        sent={"model": "mistral-moderation-latest", "input": "hi"},
        written={"id": "m", "results": [{"categories": {"law": False}}]},
        got=lambda shown: shown["id"],
        is_="m",
    ),
    Row(
        model="mistral/mistral-ocr-latest",
        asks="ocr",
        members={"document": {"type": "document_url", "document_url": PAGE}},
        path="/v1/ocr",
        sent={
            "model": "mistral-ocr-latest",
            "document": {"type": "document_url", "document_url": PAGE},
        },
        written=body_of(OCR),
        got=whole,
        is_=body_of(OCR),
        units={"pages": len(body_of(OCR)["pages"])},
        cost=len(body_of(OCR)["pages"]) * 0.002,
    ),
    Row(
        model="openrouter/typesafe/jev-1.13",
        asks="systemone",
        members={"state": "hi", "questions": {"a": {"question": "b"}}},
        path="/v1/systemone",
        sent={"model": "typesafe/jev-1.13", "state": "hi", "questions": {"a": {"question": "b"}}},
        written={"answers": {"a": {"answer": True}}},
        got=lambda shown: shown["answers"]["a"]["answer"],
        is_=True,
    ),
]
PICTURE = {"prompt": "a cat", "n": 2, "size": "1024x768", "quality": "hd"}
INLINE = {"inlineData": {"mimeType": "image/png", "data": B64}}
IMAGES = [
    Row(
        model="gemini/gemini-2.5-flash-image",
        asks="images/generations",
        members=PICTURE,
        path="/v1/models/gemini-2.5-flash-image:generateContent",
        sent={
            "contents": [{"role": "user", "parts": [{"text": "a cat"}]}],
            "generationConfig": {
                "responseModalities": ["TEXT", "IMAGE"],
                "imageConfig": {"aspectRatio": "4:3"},
            },
        },
        written={
            "candidates": [{"content": {"parts": [{"text": "Here"}, INLINE]}}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1290},
        },
        got=pictures,
        is_=[B64],
        lost="n, quality",
        tokens=(3, 1290),
    ),
    Row(
        model="together/black-forest-labs/FLUX.2-dev",
        asks="images/generations",
        members={**PICTURE, "response_format": "b64_json", "steps": 4},
        path="/v1/images/generations",
        sent={
            "model": "black-forest-labs/FLUX.2-dev",
            "prompt": "a cat",
            "n": 2,
            "width": 1024,
            "height": 768,
            "quality": "hd",
            "response_format": "base64",
            "steps": 4,
        },
        written={"id": "x", "data": [{"index": 0, "b64_json": B64}, {"index": 1, "b64_json": B64}]},
        got=pictures,
        is_=[B64, B64],
        units={"images/1024x768/hd": 2},
    ),
    Row(
        model="xai/grok-imagine-image",
        asks="images/generations",
        members={**PICTURE, "style": "vivid"},
        path="/v1/images/generations",
        sent={"model": "grok-imagine-image", "prompt": "a cat", "n": 2},
        written=body_of(XAI),
        got=pictures,
        is_=[body_of(XAI)["data"][0]["url"]],
        lost="size, quality, style",
        units={"images": 1},
        cost=0.02,
    ),
    Row(
        model="minimax/image-01",
        asks="images/generations",
        members={**PICTURE, "response_format": "b64_json"},
        path="/v1/image_generation",
        sent={
            "model": "image-01",
            "prompt": "a cat",
            "n": 2,
            "aspect_ratio": "4:3",
            "response_format": "base64",
        },
        written={"data": {"image_base64": [B64, B64]}, "base_resp": {"status_code": 0}},
        got=pictures,
        is_=[B64, B64],
        lost="quality",
        units={"images": 2},
        cost=2 * 0.0035,
    ),
    Row(
        model="huggingface/black-forest-labs/FLUX.1-schnell",
        asks="images/generations",
        members=PICTURE,
        path="/hf-inference/models/black-forest-labs/FLUX.1-schnell",
        sent={"inputs": "a cat", "parameters": {"width": 1024, "height": 768}},
        written=PNG,
        content_type="image/png",
        got=pictures,
        is_=[B64],
        lost="quality, n",
        units={"images/1024x768/hd": 1},
    ),
    Row(
        model="openrouter/openai/gpt-image-1",
        asks="images/generations",
        members={"prompt": "a cat"},
        path="/v1/images",
        sent={"model": "openai/gpt-image-1", "prompt": "a cat"},
        written=body_of(PAINTED),
        got=whole,
        is_=body_of(PAINTED),
        tokens=(
            body_of(PAINTED)["usage"]["prompt_tokens"],
            body_of(PAINTED)["usage"]["completion_tokens"],
        ),
        units={"images": 1},
    ),
    Row(
        model="bedrock/amazon.nova-canvas-v1:0",
        asks="images/generations",
        members=PICTURE,
        path="/v1/model/amazon.nova-canvas-v1%3A0/invoke",
        sent={
            "taskType": "TEXT_IMAGE",
            "textToImageParams": {"text": "a cat"},
            "imageGenerationConfig": {
                "numberOfImages": 2,
                "width": 1024,
                "height": 768,
                "quality": "premium",
            },
        },
        written={"images": [B64, B64]},
        got=pictures,
        is_=[B64, B64],
        units={"images/1024x768/hd": 2},
    ),
    Row(
        model="glm/cogview-4-250304",
        asks="images/generations",
        members=PICTURE,
        path="/v1/images/generations",
        sent={
            "model": "cogview-4-250304",
            "prompt": "a cat",
            "size": "1024x768",
            "quality": "hd",
        },
        written={"created": 1, "data": [{"url": PAGE}]},
        got=pictures,
        is_=[PAGE],
        lost="n",
        units={"images/1024x768/hd": 1},
        cost=0.01,
    ),
]
WORDS = """Search the web for pages about: reefs site:a.example -site:b.example
Only results of the last week.
Results for the country DE.
Results in the language en.
Answer briefly and cite up to 3 sources as [title](URL)."""
CITED = f"Reefs live. See [Reef]({PAGE})."
SEARCH = {
    "query": " reefs ",
    "max_results": 3,
    "country": "de",
    "language": "en",
    "time_range": "week",
    "domain_filter": ["a.example", "-b.example"],
}
COMPLETION = {
    "choices": [{"message": {"role": "assistant", "content": CITED}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 20},
}
RESPONSE = {
    "output": [
        {"type": "web_search_call", "status": "completed"},
        {
            "type": "message",
            "content": [
                {
                    "type": "output_text",
                    "text": CITED,
                    "annotations": [
                        {"type": "url_citation", "url": PAGE, "title": "Reef", "start_index": 16}
                    ],
                }
            ],
        },
    ],
    "usage": {"input_tokens": 10, "output_tokens": 20},
}
FOUND = [(PAGE, "Reefs live. See Reef.")]
WEB = [
    Row(
        model="perplexity",
        asks="search",
        members=SEARCH,
        path="/v1/search",
        sent={
            "query": "reefs",
            "max_results": 3,
            "country": "DE",
            "search_language_filter": ["en"],
            "search_domain_filter": ["a.example"],
            "search_recency_filter": "week",
        },
        written={
            "results": [{"title": "Reef", "url": PAGE, "snippet": "All", "date": "2026-01-02"}]
        },
        got=links,
        is_=[(PAGE, "All")],
        lost="domain_filter",
        units={"queries": 1},
        cost=0.005,
    ),
    Row(
        model="ollama-search",
        asks="search",
        members=SEARCH,
        path="/api/web_search",
        sent={"query": "reefs site:a.example -site:b.example", "max_results": 3},
        written={"results": [{"title": "Reef", "url": PAGE, "content": "All"}]},
        got=links,
        is_=[(PAGE, "All")],
        lost="country, language, time_range",
        units={"queries": 1},
        cost=0.0,
    ),
    Row(
        model="ollama/fetch",
        asks="web/fetch",
        members={"url": PAGE},
        path="/api/web_fetch",
        sent={"url": PAGE},
        written={"title": "Reef", "content": "# Reefs", "links": [PAGE]},
        got=lambda shown: (shown["content"]["text"], shown["title"], shown["links"]),
        is_=("# Reefs", "Reef", [PAGE]),
        units={"pages": 1},
        cost=0.0,
    ),
    *(
        Row(
            model=f"{provider}/search",
            asks="search",
            members=SEARCH,
            path="/v1/responses",
            sent={
                "model": model,
                "input": WORDS,
                "tools": [{"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}],
                "store": False,
            },
            written=RESPONSE,
            got=links,
            is_=FOUND,
            tokens=(10, 20),
            units={"queries": 1},
            cost=cost,
        )
        for provider, model, cost in (
            ("openai", "gpt-4o-mini", 0.01 + 10 * 0.15e-6 + 20 * 0.6e-6),
            ("xai", "grok-4-fast-reasoning", 0.005 + 10 * 0.2e-6 + 20 * 0.5e-6),
        )
    ),
    Row(
        model="gemini/search",
        asks="search",
        members=SEARCH,
        path="/v1/models/gemini-2.5-flash:generateContent",
        sent={
            "contents": [{"role": "user", "parts": [{"text": WORDS}]}],
            "tools": [{"googleSearch": {}}],
        },
        written={
            "candidates": [
                {
                    "content": {"parts": [{"text": "Reefs live."}]},
                    "groundingMetadata": {
                        "groundingChunks": [{"web": {"uri": PAGE, "title": "Reef"}}],
                        "groundingSupports": [
                            {"segment": {"text": "Reefs live."}, "groundingChunkIndices": [0]}
                        ],
                    },
                }
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 20},
        },
        got=links,
        is_=[(PAGE, "Reefs live.")],
        tokens=(10, 20),
        units={"queries": 1},
        cost=0.035 + 10 * 0.3e-6 + 20 * 2.5e-6,
    ),
    Row(
        model="minimax/search",
        asks="search",
        members=SEARCH,
        path="/v1/text/chatcompletion_v2",
        sent={
            "model": "MiniMax-M2.7",
            "messages": [{"role": "user", "content": WORDS}],
            "tools": [{"type": "web_search"}],
        },
        written=COMPLETION,
        got=links,
        is_=FOUND,
        tokens=(10, 20),
        units={"queries": 1},
    ),
]
VIDEO = {"prompt": "a cat", "duration": 6}
VIDEOS = [
    Row(
        model="together/minimax/hailuo-02",
        asks="videos/generations",
        members={**VIDEO, "fps": 24},
        path="/v2/videos",
        sent={"model": "minimax/hailuo-02", "prompt": "a cat", "duration": 6, "fps": 24},
        written={"id": "job-1", "status": "queued", "object": "video"},
        got=whole,
        is_={"request_id": "job-1", "status": "pending"},
        units={"videos": 1},
    ),
    Row(
        model="minimax/MiniMax-H3",
        asks="videos/generations",
        members={**VIDEO, "resolution": "2K", "aspect_ratio": "16:9", "style": "x"},
        path="/v2/video_generation",
        sent={
            "model": "MiniMax-H3",
            "content": [{"type": "text", "text": "a cat"}],
            "resolution": "2K",
            "duration": 6,
            "ratio": "16:9",
        },
        written={"task_id": "job-1", "base_resp": {"status_code": 0}},
        got=whole,
        is_={"request_id": "job-1"},
        lost="style",
        units={"videos": 1},
    ),
    Row(
        model="minimax/MiniMax-Hailuo-02",
        asks="videos/generations",
        members=VIDEO,
        path="/v1/video_generation",
        sent={"model": "MiniMax-Hailuo-02", "prompt": "a cat", "duration": 6},
        written={"task_id": "77", "base_resp": {"status_code": 0}},
        got=whole,
        is_={"request_id": "hailuo-77"},
        units={"videos": 1},
    ),
    *(
        Row(
            model="xai/grok-imagine-video",
            asks=f"videos/{action}",
            members={**VIDEO, "resolution": "480p"},
            path=f"/v1/videos/{action}",
            sent={**VIDEO, "resolution": "480p", "model": "grok-imagine-video"},
            written={"request_id": "c84748c1"},
            got=whole,
            is_={"request_id": "c84748c1"},
            units={"videos": 1},
        )
        for action in ("generations", "edits", "extensions")
    ),
]
ROWS = (*EMBEDDINGS, *PLAIN, *TEXTS, *IMAGES, *WEB, *VIDEOS)


def provider_of(row: Row) -> str:
    name = row.model.partition("/")[0]
    return {"ollama-search": "ollama"}.get(name, name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.asks} {row.model}")
def test_a_call_is_translated_both_ways(connected: Any, row: Row) -> None:
    written = row.written if isinstance(row.written, bytes) else msgspec.json.encode(row.written)
    here: Served = connected(
        lambda received: MockResponse((written,), content_type=row.content_type), provider_of(row)
    )

    got = httpx2.post(f"{here.url}/v1/{row.asks}", json={"model": row.model, **row.members})

    assert got.status_code == 200, got.text
    [received] = here.vendors["vendor"].received
    assert (received.target, received.json()) == (row.path, row.sent)
    assert KEY in str(received.headers)
    assert got.headers.get("x-gateway-dropped", "") == row.lost
    assert row.got(got.json()) == row.is_
    [ledger] = here.rows()
    if row.tokens is not None:
        assert (ledger.input_tokens or 0, ledger.output_tokens or 0) == row.tokens
    if row.units is not None:
        assert ledger.units == row.units
    if row.cost is not None:
        # In millionths.
        assert ledger.cost == round(row.cost * 1_000_000)


KEY = "sk-vendor-0123456789"
REFUSALS = {
    "openai": b'{"error":{"message":"No such thing","type":"invalid_request_error"}}',
    "cohere": b'{"id":"1","message":"No such thing"}',
    "gemini": b'{"error":{"code":404,"message":"No such thing","status":"NOT_FOUND"}}',
    "perplexity": b'{"error":{"message":"No such thing","code":404}}',
    "ollama": b'{"error":"No such thing"}',
    "bedrock": b'{"message":"No such thing"}',
}


@pytest.mark.parametrize("row", EMBEDDINGS, ids=lambda row: row.model)
def test_a_vendors_refusal_is_in_the_clients_shape(connected: Any, row: Row) -> None:
    body = REFUSALS.get(provider_of(row), REFUSALS["openai"])
    here: Served = connected(lambda received: MockResponse((body,), status=404), provider_of(row))

    got = httpx2.post(f"{here.url}/v1/{row.asks}", json={"model": row.model, **row.members})

    assert got.status_code == 404
    assert "No such thing" in got.json()["error"]["message"]


def test_vectors_are_packed_for_the_completions_vendors_client(connected: Any) -> None:
    """It asks for base64 unless it is told otherwise."""
    written = {"embeddings": {"float": [[0.5, -0.25], [1.0, 2.0]]}, "meta": {}}
    here: Served = connected(
        lambda received: MockResponse((msgspec.json.encode(written),)), "cohere"
    )

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        made = client.embeddings.create(model="cohere/embed-v4.0", input=["a", "b"])

    assert [row.embedding for row in made.data] == [[0.5, -0.25], [1.0, 2.0]]
    [received] = here.vendors["vendor"].received
    assert received.json()["input_type"] == "search_document"


def test_texts_above_the_vendors_limit_are_split(connected: Any) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        found = [[float(text)] for text in received.json()["texts"]]
        meta = {"billed_units": {"input_tokens": len(found)}}
        return MockResponse((msgspec.json.encode({"embeddings": {"float": found}, "meta": meta}),))

    here: Served = connected(say, "cohere")
    texts = [str(number) for number in range(100)]

    got = httpx2.post(
        f"{here.url}/v1/embeddings", json={"model": "cohere/embed-v4.0", "input": texts}
    )

    assert vectors(got.json()) == [[float(text)] for text in texts]
    assert [len(a.json()["texts"]) for a in here.vendors["vendor"].received] == [96, 4]
    assert here.rows()[0].input_tokens == 100


def test_a_ranking_is_counted_in_searches(connected: Any) -> None:
    item = next(i for i in items("rerank") if i["vendor"] == "cohere")
    here: Served = connected(lambda received: MockResponse((answer(item),)), "cohere")

    documents = ["Carson City", "Saipan", "Washington, D.C."]
    got = httpx2.post(
        f"{here.url}/v1/rerank",
        json={"model": "cohere/rerank-v3.5", "query": "capital", "documents": documents},
    )

    assert got.json() == body_of(item)
    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/rerank"
    row = here.rows()[0]
    assert (row.units, row.cost) == ({"queries": 1}, 2000)
