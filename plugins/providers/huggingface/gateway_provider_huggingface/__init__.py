"""Hugging Face: open-weight models, routed to whoever serves them.

API reference: https://huggingface.co/docs/inference-providers/tasks/chat-completion

Any id from the hub is accepted, with a server after a colon where one is
wanted: ``openai/gpt-oss-120b:cerebras``, ``:fastest``, ``:cheapest``. Speech and transcription go
to the hub's own servers:
https://huggingface.co/docs/inference-providers/tasks/automatic-speech-recognition

An account may be a login, once an operator has registered an application:
https://huggingface.co/docs/hub/oauth
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from gateway_core import Kind, Model, OAuth, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.logins import LoginSettings
from gateway_providers.services import (
    BytesService,
    Content,
    JsonService,
    Question,
    count_characters,
    read_recording,
    read_speech,
)

from .tasks import EMBEDDING, IMAGE

TASKS = "https://router.huggingface.co/hf-inference/models"
"""Of the hub's own servers, which have one address for each model."""


def path(question: Question) -> str:
    return f"/{quote(question.target.model.id)}"


def write_speech(question: Question) -> Mapping[str, Any]:
    # A model is a voice, so one that is named apart cannot be carried.
    if question.members.get("voice"):
        question.losses.add("voice")
    return {"inputs": read_speech(question, formats=("wav",)).text}


def write_recording(question: Question) -> Content:
    part = read_recording(question)
    return Content(part.content, part.media_type or "application/octet-stream")


def read_text(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": answer["text"]}


SPEECH = BytesService(
    path=path,
    write=write_speech,
    media_type="audio/wav",
    usage=count_characters,
    base_url=TASKS,
)
TRANSCRIPTION = JsonService(path=path, write=write_recording, read=read_text, base_url=TASKS)
HUGGINGFACE = openai_compatible(
    ProviderSpec(
        id="huggingface",
        name="Hugging Face",
        keys_url="https://huggingface.co/settings/tokens",
        aliases=("hf",),
        base_url="https://router.huggingface.co/v1",
        environment=("HF_TOKEN",),
        passthrough_models=True,
        # https://huggingface.co/docs/inference-providers/index
        variants=(":fastest", ":cheapest", ":preferred"),
        models=(
            Model("openai/gpt-oss-120b", context=131_072, tools=True, reasoning=True, vision=False),
            Model("black-forest-labs/FLUX.1-schnell", kind=Kind.IMAGE),
            Model("stabilityai/stable-diffusion-xl-base-1.0", kind=Kind.IMAGE),
            Model("openai/whisper-large-v3", kind=Kind.TRANSCRIPTION),
            Model("openai/whisper-large-v3-turbo", kind=Kind.TRANSCRIPTION),
            Model("intfloat/multilingual-e5-large", kind=Kind.EMBEDDING),
        ),
        services=(
            Service(Kind.SPEECH, SPEECH),
            Service(Kind.TRANSCRIPTION, TRANSCRIPTION),
            Service(Kind.IMAGE, IMAGE),
            Service(Kind.EMBEDDING, EMBEDDING),
        ),
    )
)


class Settings(LoginSettings, frozen=True, kw_only=True, rename="camel"):
    """The application that you have registered at Hugging Face, for signing in there."""


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_providers(settings: Settings) -> list[ProviderSpec]:
    if not settings.client_id:
        return [HUGGINGFACE]
    login = OAuth(
        flow="pkce",
        authorize_url="https://huggingface.co/oauth/authorize",
        token_url="https://huggingface.co/oauth/token",
        device_url="https://huggingface.co/oauth/device",
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        client_auth="basic",
        scopes=("openid", "profile", "email", "inference-api"),
    )
    return [replace(HUGGINGFACE, auth=replace(HUGGINGFACE.auth, type="apikey"), oauth=login)]
