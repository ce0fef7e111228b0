"""The tasks that the hub's own servers have: a model's name is in the address.

API reference: https://huggingface.co/docs/inference-providers/tasks/text-to-image and
https://huggingface.co/docs/inference-providers/tasks/feature-extraction
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Usage
from gateway_providers.services import (
    JsonService,
    Question,
    count_made,
    lose_address,
    read_count,
    read_size,
    show_bytes,
    texts_of,
    write_vectors,
)

SERVERS = "https://router.huggingface.co/hf-inference"


def write_picture(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("prompt", "n", "size", "response_format", "negative_prompt", "seed")
    # One picture is made, and its bytes are the answer.
    read_count(question)
    lose_address(question)
    parameters: dict[str, Any] = {}
    if size := read_size(question):
        parameters["width"], parameters["height"] = size
    for name in ("negative_prompt", "seed"):
        if name in question.members:
            parameters[name] = question.members[name]
    body = {"inputs": question.members["prompt"]}
    return {**body, "parameters": parameters} if parameters else body


def read_picture(question: Question, answer: Any) -> Mapping[str, Any]:
    if not isinstance(answer, bytes):
        raise TypeError("no picture")
    return show_bytes(answer)


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "encoding_format")
    return {"inputs": texts_of(question)}


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    if not isinstance(answer, list):
        raise TypeError("no vectors")
    return write_vectors(question, answer)


def picture_usage(question: Question, answer: Any) -> Usage:
    return count_made(question, 1)


IMAGE = JsonService(
    path=lambda question: f"/models/{question.target.model.id}",
    base_url=SERVERS,
    write=write_picture,
    read=read_picture,
    usage=picture_usage,
)
EMBEDDING = JsonService(
    path=lambda question: f"/models/{question.target.model.id}/pipeline/feature-extraction",
    base_url=SERVERS,
    write=write_embedding,
    read=read_embedding,
)
