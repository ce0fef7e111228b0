"""Voyage AI: vectors and ranking.

API reference: https://docs.voyageai.com/reference/embeddings-api
Prices: https://docs.voyageai.com/docs/pricing

It calls the length of a vector ``output_dimension``, knows ``base64`` as the only other encoding,
and counts one number of tokens.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers.services import JsonService, Question, completions_service

MOST = 1000
"""Inputs of one request."""


def vectors(price: float, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=Kind.EMBEDDING, context=32_000, price=Price(input=price))


def ranking(price: float, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=Kind.RERANK, price=Price(input=price))


def write(question: Question) -> Mapping[str, Any]:
    members = {**question.members, "model": question.target.model.id}
    if "dimensions" in members:
        members.setdefault("output_dimension", members.pop("dimensions"))
    if members.get("encoding_format") == "float":  # The usual, which has no word of its own.
        del members["encoding_format"]
    if members.pop("user", None) is not None:
        question.losses.add("user")
    return members


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    total = answer["usage"]["total_tokens"]
    return {**answer, "usage": {"prompt_tokens": total, "total_tokens": total}}


VOYAGE = ProviderSpec(
    id="voyage-ai",
    name="Voyage AI",
    keys_url="https://dashboard.voyageai.com/organization/api-keys",
    aliases=("voyage",),
    base_url="https://api.voyageai.com/v1",
    auth=Auth(scheme="bearer"),
    environment=("VOYAGE_API_KEY",),
    passthrough_models=True,
    models=(
        *vectors(0.12, "voyage-4-large"),
        *vectors(0.06, "voyage-4", "voyage-3.5"),
        *vectors(0.02, "voyage-4-lite", "voyage-3.5-lite"),
        *vectors(0.18, "voyage-3-large", "voyage-code-3"),
        *vectors(0.12, "voyage-finance-2", "voyage-law-2", "voyage-multilingual-2"),
        *ranking(0.05, "rerank-2.5", "rerank-2"),
        *ranking(0.02, "rerank-2.5-lite", "rerank-2-lite"),
    ),
    services=(
        Service(
            Kind.EMBEDDING,
            JsonService(path="/embeddings", write=write, read=read, batch_limit=MOST),
        ),
        completions_service("rerank"),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [VOYAGE]
