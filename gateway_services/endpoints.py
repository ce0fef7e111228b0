"""Every endpoint of work other than chat (4.4 to 4.7)."""

from gateway_core import Endpoint, Kind, WireFormat

from .intake import requires

EMBEDDINGS = Endpoint(
    path="/v1/embeddings",
    kind=Kind.EMBEDDING,
    title="embeddings",
    read=requires("input"),
    route="embedding",
    # Vectors of two models cannot be compared, so no other model stands in for one.
    fallback="accounts",
)
RERANK = Endpoint(
    path="/v1/rerank",
    kind=Kind.RERANK,
    title="rerank",
    read=requires("query", "documents"),
    route="rerank",
)
MODERATIONS = Endpoint(
    path="/v1/moderations",
    kind=Kind.MODERATION,
    title="moderations",
    read=requires("input"),
    route="moderation",
)
IMAGES = Endpoint(
    path="/v1/images/generations",
    kind=Kind.IMAGE,
    title="image generation",
    read=requires("prompt", streams=True),
    query=("response_format",),
    route="image",
)

SERVICES = WireFormat(
    id="services", dialect="services", endpoints=(EMBEDDINGS, RERANK, MODERATIONS, IMAGES)
)
