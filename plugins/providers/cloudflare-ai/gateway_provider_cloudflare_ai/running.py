"""Models that are run by their name: vectors and pictures.

Vectors: https://developers.cloudflare.com/workers-ai/models/bge-m3/
Pictures: https://developers.cloudflare.com/workers-ai/models/flux-1-schnell/
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import UpstreamError
from gateway_providers.services import (
    Form,
    JsonService,
    Question,
    count_made,
    field,
    lose_address,
    lose_pictures_but,
    path_of,
    present,
    read_count,
    read_size,
    show_bytes,
)
from gateway_providers.services.refusals import words_of

RUN = "/run/"
MOST = 100
"""Inputs of one request for vectors."""
STEPS = ("steps", "num_steps")
OWN = ("seed", "negative_prompt", "guidance", *STEPS)
FORMS = "@cf/black-forest-labs/flux-2"
"""Models whose names begin like this take a form."""


def path(question: Question) -> str:
    return RUN + path_of(question.target.model)


def write_texts(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "encoding_format")
    if question.members.get("encoding_format") not in (None, "float"):
        question.losses.add("encoding_format")
    return {"text": question.members["input"]}


def read_vectors(question: Question, answer: Any) -> Mapping[str, Any]:
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(result_of(answer)["data"])
        ],
        "model": question.target.model.id,
        # It reports no tokens.
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
    }


def write_picture(question: Question) -> Mapping[str, Any] | Form:
    members = question.members
    lose_pictures_but(question, *OWN)
    lose_address(question)
    read_count(question)
    size = read_size(question)
    sent = present(
        prompt=members["prompt"],
        width=size and size.width,
        height=size and size.height,
        **{name: members[name] for name in OWN if name in members},
    )
    if question.target.model.id.startswith(FORMS):
        return Form(tuple(field(name, str(value)) for name, value in sent.items()))
    return sent


def read_picture(question: Question, answer: Any) -> Mapping[str, Any]:
    if isinstance(answer, bytes):  # Some models answer with the picture itself.
        return show_bytes(answer)
    return show_bytes(result_of(answer)["image"])


def result_of(answer: Any) -> Any:
    """What a model gave. Raises UpstreamError."""
    if answer.get("success") is False:
        raise UpstreamError(words_of(answer.get("errors")) or "The upstream reported an error")
    return answer["result"]


EMBEDDING = JsonService(path=path, write=write_texts, read=read_vectors, batch_limit=MOST)
IMAGE = JsonService(
    path=path,
    write=write_picture,
    read=read_picture,
    usage=lambda question, answer: count_made(question),
)
