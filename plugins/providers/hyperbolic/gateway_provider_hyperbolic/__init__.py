"""Hyperbolic: open-weight chat models, and speech by MeloTTS.

Chat: https://docs.hyperbolic.xyz/docs/rest-api
Speech: https://docs.hyperbolic.xyz/docs/hyperbolic-ai-audio
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import (
    AUDIO_TYPES,
    Content,
    JsonService,
    Question,
    count_characters,
    present,
    read_speech,
)


def write(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, carries=("speed", "language"))
    language = speech.language and speech.language.upper()
    return present(text=speech.text, speaker=speech.voice, language=language, speed=speech.speed)


def read(question: Question, answer: Any) -> Content:
    audio = b64decode(answer["audio"])
    # The documentation names no format, and examples begin as either.
    return Content(audio, AUDIO_TYPES["wav" if audio.startswith(b"RIFF") else "mp3"])


HYPERBOLIC = openai_compatible(
    ProviderSpec(
        id="hyperbolic",
        name="Hyperbolic",
        keys_url="https://app.hyperbolic.ai",
        alias="hyp",
        base_url="https://api.hyperbolic.xyz/v1",
        environment=("HYPERBOLIC_API_KEY",),
        passthrough_models=True,
        models=(
            Model(
                "melo-tts",
                kind=Kind.SPEECH,
                price=Price(units={"characters": 5 / 1_000_000}),
            ),
        ),
        services=(
            Service(
                Kind.SPEECH,
                JsonService(
                    path="/audio/generation", write=write, read=read, usage=count_characters
                ),
            ),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HYPERBOLIC]
