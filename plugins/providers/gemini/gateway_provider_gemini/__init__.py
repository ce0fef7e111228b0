"""Gemini: Google's models by API key, over the generative-content format.

API reference: https://ai.google.dev/api
Models: https://ai.google.dev/gemini-api/docs/models
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from gateway_core import Auth, Kind, Model, ProviderSpec, hookimpl
from gateway_providers.services import GENERATIVE, chat_search_model, generative_search

from .live import LIVE

MILLION = 1_048_576


def gemini(*ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, context=MILLION, max_output=65_536, tools=True, reasoning=True, vision=True)


def other(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


GEMINI = ProviderSpec(
    id="gemini",
    name="Google Gemini",
    keys_url="https://aistudio.google.com/apikey",
    format="gemini",
    base_url="https://generativelanguage.googleapis.com/v1beta",
    models_url="https://generativelanguage.googleapis.com/v1beta/models",
    auth=Auth(header="x-goog-api-key", scheme="raw"),
    beginnings=("gemini-",),
    environment=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    # A whole answer begins when it is complete, thinking and all.
    timeout_ms=600_000,
    models=(
        *gemini("gemini-3.1-pro-preview", "gemini-3.1-flash-lite-preview"),
        *gemini("gemini-3-flash-preview"),
        *gemini("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
        Model("gemma-4-31b-it", context=262_144, tools=True, vision=True),
        # Pictures come from the same call as words, so these are chat models as well.
        Model("gemini-3.1-flash-image-preview", vision=True),
        Model("gemini-3-pro-image-preview", vision=True),
        Model("gemini-2.5-flash-image", vision=True),
        *other(Kind.EMBEDDING, "gemini-embedding-2-preview", "gemini-embedding-001"),
        *other(Kind.EMBEDDING, "text-embedding-005", "text-embedding-004", "embedding-001"),
        *other(Kind.IMAGE, "gemini-3.1-flash-image-preview", "gemini-3-pro-image-preview"),
        *other(Kind.IMAGE, "gemini-2.5-flash-image"),
        *other(Kind.TRANSCRIPTION, "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
        *other(Kind.SPEECH, "gemini-3.1-flash-tts-preview", "gemini-2.5-flash-preview-tts"),
        *other(Kind.SPEECH, "gemini-2.5-pro-preview-tts"),
        *other(Kind.LIVE, "gemini-live-2.5-flash-preview"),
        *other(Kind.LIVE, "gemini-2.5-flash-native-audio-preview-12-2025"),
        # Grounding is $35 for a thousand prompts: https://ai.google.dev/gemini-api/docs/pricing
        chat_search_model(0.035, input=0.3, output=2.5),
    ),
    sockets=(LIVE,),
    services=(*GENERATIVE.values(), generative_search("gemini-2.5-flash")),
)


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Settings of Google Gemini."""

    speech_timeout_ms: Annotated[
        Annotated[int, Meta(ge=1, le=3_600_000)],
        Meta(
            description="How long speech may take.",
            extra={"variable": "GEMINI_NATIVE_TTS_FETCH_TIMEOUT_MS"},
        ),
    ] = 45_000


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_providers(settings: Settings) -> list[ProviderSpec]:
    services = (
        replace(each, timeout=settings.speech_timeout_ms / 1000)
        if each.kind == Kind.SPEECH
        else each
        for each in GEMINI.services
    )
    return [replace(GEMINI, services=tuple(services))]
