"""Jina AI: vectors and ranking.

API reference: https://api.jina.ai/redoc

Vectors are asked for as the completions vendor has them, except for their encoding. The web page
reader is a provider of its own.
"""

from collections.abc import Iterator

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import PassThroughService, completions_service

MOST = 2048
"""Inputs of one request."""


def models(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


JINA = ProviderSpec(
    id="jina-ai",
    name="Jina AI",
    keys_url="https://jina.ai/api-dashboard",
    aliases=("jina",),
    base_url="https://api.jina.ai/v1",
    auth=Auth(scheme="bearer"),
    environment=("JINA_API_KEY",),
    passthrough_models=True,
    models=(
        *models(Kind.EMBEDDING, "jina-embeddings-v4", "jina-embeddings-v3", "jina-clip-v2"),
        *models(Kind.RERANK, "jina-reranker-v3", "jina-reranker-m0"),
        *models(Kind.RERANK, "jina-reranker-v2-base-multilingual"),
    ),
    services=(
        Service(
            Kind.EMBEDDING,
            PassThroughService(
                "/embeddings",
                batch_limit=MOST,
                rename={"encoding_format": "embedding_type"},
            ),
        ),
        completions_service("rerank"),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [JINA]
