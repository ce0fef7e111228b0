"""What an operator sets of the services, most of it by process variables that have names of their
own."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

PageFormat = Literal["markdown", "html", "text"]
Milliseconds = Annotated[int, Meta(ge=1, le=24 * 3600 * 1000)]


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Limits and defaults of the services."""

    video_timeout_ms: Annotated[
        Milliseconds,
        Meta(
            description="How long one request of a video job may take; 408 afterwards.",
            extra={"variable": "VIDEO_FETCH_TIMEOUT_MS"},
        ),
    ] = 120_000
    fetch_timeout_ms: Annotated[
        Milliseconds | None,
        Meta(
            description="How long fetching a page may take; unset, it is 15 s, and 30 s at "
            "vendors that render pages.",
            extra={"variable": "FIRECRAWL_TIMEOUT_MS"},
        ),
    ] = None
    fetch_format: Annotated[
        PageFormat,
        Meta(
            description="The format of a page where a call names none.",
            extra={"variable": "FIRECRAWL_DEFAULT_FORMAT"},
        ),
    ] = "markdown"
    image_cache_mb: Annotated[
        Annotated[int, Meta(ge=1, le=4096)],
        Meta(
            description="How much of the pictures of web chats is kept in memory, MiB.",
            extra={"variable": "GATEWAY_CGPT_WEB_IMAGE_CACHE_MAX_MB"},
        ),
    ] = 10
