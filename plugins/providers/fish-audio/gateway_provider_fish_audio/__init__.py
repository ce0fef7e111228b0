"""Fish Audio: speech in voices of the vendor's library and in cloned ones.

API reference: https://docs.fish.audio/api-reference/endpoint/openapi-v1/text-to-speech

The vendor counts bytes of UTF-8, which are no unit of the gateway, so no price is listed.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    BytesService,
    Question,
    count_characters,
    model_and_voice,
    present,
    read_speech,
)

FORMATS = ("mp3", "opus", "wav", "pcm")


def headers(question: Question) -> Mapping[str, str]:
    return {"model": model_and_voice(question.target)[0]}


def write(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, formats=FORMATS, carries=("speed",))
    return present(
        text=speech.text,
        format=speech.format,
        reference_id=speech.voice,
        prosody=None if speech.speed is None else {"speed": speech.speed},
    )


FISH_AUDIO = ProviderSpec(
    id="fish-audio",
    name="Fish Audio",
    keys_url="https://fish.audio/app/api-keys",
    base_url="https://api.fish.audio/v1",
    environment=("FISH_API_KEY", "FISH_AUDIO_API_KEY"),
    models=(
        Model("s2.1-pro", kind=Kind.SPEECH),
        Model("s2-pro", kind=Kind.SPEECH),
        Model("s1", kind=Kind.SPEECH),
    ),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path="/tts", write=write, usage=count_characters, headers=headers),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FISH_AUDIO]
