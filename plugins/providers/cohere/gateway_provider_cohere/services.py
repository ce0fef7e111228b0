"""Embeddings, rankings and transcriptions.

API reference: https://docs.cohere.com/reference/embed, https://docs.cohere.com/reference/rerank
and https://docs.cohere.com/reference/create-audio-transcription
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import BadRequest, Call, Kind, Service, Usage
from gateway_providers.services import (
    Form,
    JsonService,
    PassThroughService,
    Question,
    count_of,
    dimensions_of,
    field,
    file_part,
    texts_of,
    write_vectors,
)

MOST_TEXTS = 96
CARRIED = ("input", "dimensions", "encoding_format", "input_type", "truncate", "max_tokens")


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*CARRIED)
    body: dict[str, Any] = {
        "model": question.target.model.id,
        "texts": texts_of(question),
        # Needed by the vendor, and unknown to clients of the completions style.
        "input_type": question.members.get("input_type") or "search_document",
        "embedding_types": ["float"],
    }
    if dimensions := dimensions_of(question):
        body["output_dimension"] = dimensions
    for name in ("truncate", "max_tokens"):
        if question.members.get(name) is not None:
            body[name] = question.members[name]
    return body


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    return write_vectors(question, answer["embeddings"]["float"], billed(answer, "input_tokens"))


def billed(answer: Any, unit: str) -> int:
    """How many of a unit the vendor charges for."""
    meta = answer.get("meta") if isinstance(answer, Mapping) else None
    return count_of(meta.get("billed_units") if isinstance(meta, Mapping) else None, unit)


def embedding_usage(question: Question, answer: Any) -> Usage:
    return Usage(input_tokens=billed(answer, "input_tokens"))


def searches(call: Call, answer: Any) -> Mapping[str, float]:
    """A search ranks up to 100 documents."""
    units = billed(answer, "search_units")
    return {"queries": float(units)} if units else {}


def write_transcription(question: Question) -> Form:
    """The fields come before the file: the vendor reads the form as it arrives."""
    question.lose_all_but("language", "temperature", "response_format")
    part = file_part(question.call.form)
    if part is None:
        raise BadRequest("Missing required field: file", param="file")
    language = question.members.get("language")
    if not language:
        raise BadRequest("Missing required field: language", param="language")
    parts = [field("model", question.target.model.id), field("language", str(language))]
    if "temperature" in question.members:
        parts.append(field("temperature", str(question.members["temperature"])))
    return Form((*parts, part))


def read_transcription(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": answer["text"]}


SERVICES = (
    Service(
        Kind.EMBEDDING,
        JsonService(
            path="/embed",
            write=write_embedding,
            read=read_embedding,
            usage=embedding_usage,
            batch_limit=MOST_TEXTS,
        ),
    ),
    Service(Kind.RERANK, PassThroughService("/rerank", units=searches)),
    Service(
        Kind.TRANSCRIPTION,
        JsonService(
            path="/audio/transcriptions", write=write_transcription, read=read_transcription
        ),
    ),
)
