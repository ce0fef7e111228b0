"""Embeddings: predictions of a model.

API reference:
https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Call, Credential, ServiceExchange, Target, Usage
from gateway_providers.services import (
    JsonService,
    Question,
    count_of,
    dimensions_of,
    texts_of,
    write_vectors,
)

TASKS = {
    "search_document": "RETRIEVAL_DOCUMENT",
    "search_query": "RETRIEVAL_QUERY",
    "classification": "CLASSIFICATION",
    "clustering": "CLUSTERING",
}
MOST_TEXTS = 250
"""Of one request; newer models take one text at a time."""


def path(question: Question) -> str:
    return f"/models/{question.target.model.id}:predict"


def write(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "dimensions", "encoding_format", "input_type")
    task = question.members.get("input_type")
    kind = {"task_type": TASKS.get(str(task), task)} if task else {}
    body: dict[str, Any] = {"instances": [{"content": text, **kind} for text in texts_of(question)]}
    if dimensions := dimensions_of(question):
        body["parameters"] = {"outputDimensionality": dimensions}
    return body


def tokens_of(answer: Any) -> int:
    statistics = (row["embeddings"].get("statistics") for row in answer["predictions"])
    return sum(count_of(each, "token_count") for each in statistics)


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    vectors = [row["embeddings"]["values"] for row in answer["predictions"]]
    return write_vectors(question, vectors, tokens_of(answer))


def usage(question: Question, answer: Any) -> Usage:
    return Usage(input_tokens=tokens_of(answer))


class Embeddings:
    """As many texts at once as the model takes."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        return (ONE if "gemini" in target.model.id else MANY).open(call, target, credential)


ONE = JsonService(path=path, write=write, read=read, usage=usage, batch_limit=1)
MANY = JsonService(path=path, write=write, read=read, usage=usage, batch_limit=MOST_TEXTS)
EMBEDDING = Embeddings()
