"""Embeddings: those of retrieval have to be told a question from a passage.

API reference: https://docs.api.nvidia.com/nim/reference/nvidia-nv-embedqa-e5-v5-infer
"""

from collections.abc import Mapping
from typing import Any

from gateway_providers.services import JsonService, Question

TYPES = {"search_query": "query", "search_document": "passage"}


def write(question: Question) -> Mapping[str, Any]:
    members = dict(question.members)
    # The vendor wants a list, and one of its two words.
    if not isinstance(members["input"], list):
        members["input"] = [members["input"]]
    kind = members.get("input_type") or "passage"
    members["input_type"] = TYPES.get(str(kind), kind)
    return {**members, "model": question.target.model.id}


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"object": "list", "data": answer["data"], **answer}


EMBEDDING = JsonService(path="/embeddings", write=write, read=read)
