"""Embeddings and pictures of Amazon's own models, which are invoked in words of their own.

API reference: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html,
https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html and
https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Kind, Service, UpstreamError, Usage
from gateway_providers.services import (
    JsonService,
    Question,
    count_made,
    count_of,
    dimensions_of,
    lose_address,
    read_count,
    read_size,
    show_bytes,
    texts_of,
    write_vectors,
)

MOST_PICTURES = 5
PURPOSES = {
    "search_document": "GENERIC_INDEX",
    "search_query": "GENERIC_RETRIEVAL",
    "classification": "CLASSIFICATION",
    "clustering": "CLUSTERING",
}


def path(question: Question) -> str:
    return f"/model/{quote(question.target.model.id, safe='')}/invoke"


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "dimensions", "encoding_format", "input_type")
    text = texts_of(question)[0]
    if "nova" in question.target.model.id:
        return write_nova(question, text)
    if question.members.get("input_type"):
        question.losses.add("input_type")
    body: dict[str, Any] = {"inputText": text}
    if dimensions := dimensions_of(question):
        body["dimensions"] = dimensions
    return body


def write_nova(question: Question, text: str) -> Mapping[str, Any]:
    purpose = str(question.members.get("input_type") or "search_document")
    wanted: dict[str, Any] = {
        "embeddingPurpose": PURPOSES.get(purpose, purpose),
        "text": {"truncationMode": "END", "value": text},
    }
    if dimensions := dimensions_of(question):
        wanted["embeddingDimension"] = dimensions
    return {"taskType": "SINGLE_EMBEDDING", "singleEmbeddingParams": wanted}


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = answer.get("embeddings") or [answer]
    vectors = [row["embedding"] for row in rows]
    return write_vectors(question, vectors, count_of(answer, "inputTextTokenCount"))


def embedding_usage(question: Question, answer: Any) -> Usage | None:
    tokens = count_of(answer, "inputTextTokenCount")
    return Usage(input_tokens=tokens) if tokens else None


def write_picture(question: Question) -> Mapping[str, Any]:
    names = ("prompt", "n", "size", "quality", "response_format", "negative_prompt", "seed")
    question.lose_all_but(*names)
    lose_address(question)
    members = question.members
    words = {"text": members["prompt"]}
    if "negative_prompt" in members:
        words["negativeText"] = members["negative_prompt"]
    config: dict[str, Any] = {"numberOfImages": read_count(question, MOST_PICTURES)}
    if size := read_size(question):
        config["width"], config["height"] = size
    if "quality" in members:
        config["quality"] = "premium" if members["quality"] in ("hd", "high") else "standard"
    if "seed" in members:
        config["seed"] = members["seed"]
    return {
        "taskType": "TEXT_IMAGE",
        "textToImageParams": words,
        "imageGenerationConfig": config,
    }


def read_picture(question: Question, answer: Any) -> Mapping[str, Any]:
    if answer.get("error"):
        raise UpstreamError(str(answer["error"]), status=400)
    return show_bytes(*answer["images"])


def picture_usage(question: Question, answer: Any) -> Usage:
    return count_made(question, len(answer["images"]))


SERVICES = (
    Service(
        Kind.EMBEDDING,
        JsonService(
            path=path,
            write=write_embedding,
            read=read_embedding,
            usage=embedding_usage,
            # Each call embeds one text.
            batch_limit=1,
        ),
    ),
    Service(
        Kind.IMAGE,
        JsonService(path=path, write=write_picture, read=read_picture, usage=picture_usage),
    ),
)
