"""Hugging Face: open-weight models, routed to whoever serves them.

API reference: https://huggingface.co/docs/inference-providers/tasks/chat-completion

Any id from the hub is accepted, with a server after a colon where one is
wanted: ``openai/gpt-oss-120b:cerebras``, ``:fastest``, ``:cheapest``. Speech and transcription go
to the hub's own servers:
https://huggingface.co/docs/inference-providers/tasks/automatic-speech-recognition
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
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


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HUGGINGFACE]
