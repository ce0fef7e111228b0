"""Inworld: speech.

API reference: https://docs.inworld.ai/api-reference/ttsAPI/texttospeech/synthesize-speech
Voices: https://docs.inworld.ai/api-reference/voiceAPI/voiceservice/list-voices
Prices: https://inworld.ai/pricing

The key is what the vendor's portal calls the Base64 credentials of basic authentication.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    AUDIO_TYPES,
    Content,
    JsonService,
    Question,
    Speech,
    Voice,
    count_characters,
    gender_of,
    list_voices,
    present,
    read_speech,
)

FORMATS = {
    "mp3": "MP3",
    "opus": "OGG_OPUS",
    "flac": "FLAC",
    "wav": "WAV",
    "pcm": "PCM",
}


def speakers(dollars: float, *ids: str) -> Iterator[Model]:
    """Models at a price for a million characters."""
    for id in ids:
        price = Price(units={"characters": dollars / 1_000_000})
        yield Model(id, kind=Kind.SPEECH, price=price)


def speech_of(question: Question) -> Speech:
    return read_speech(question, voice="Alex", formats=FORMATS, carries=("speed", "language"))


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = speech_of(question)
    audio = present(audioEncoding=FORMATS[speech.format], speakingRate=speech.speed)
    return present(
        text=speech.text,
        voiceId=speech.voice,
        modelId=speech.model,
        audioConfig=audio,
        language=speech.language,
    )


def read_audio(question: Question, answer: Any) -> Content:
    return Content(b64decode(answer["audioContent"]), AUDIO_TYPES[speech_of(question).format])


def read_voices(question: Question, answer: Any) -> Mapping[str, Any]:
    return list_voices(question, map(voice_of, answer["voices"]))


def voice_of(row: Mapping[str, Any]) -> Voice:
    language, _, region = (row.get("langCode") or "").partition("_")
    return Voice(
        id=row["voiceId"],
        name=row.get("displayName"),
        lang="-".join(filter(None, (language.lower(), region))) or None,
        gender=gender_of(row.get("gender"), *(row.get("tags") or ())),
    )


INWORLD = ProviderSpec(
    id="inworld",
    name="Inworld",
    keys_url="https://platform.inworld.ai",
    base_url="https://api.inworld.ai",
    auth=Auth(header="authorization", prefix="Basic"),
    environment=("INWORLD_API_KEY",),
    models=(
        *speakers(10, "inworld-tts-1.5-max"),
        *speakers(5, "inworld-tts-1.5-mini"),
        Model("inworld-tts-2", kind=Kind.SPEECH),
    ),
    services=(
        Service(
            Kind.SPEECH,
            JsonService(
                path="/tts/v1/voice", write=write_speech, read=read_audio, usage=count_characters
            ),
        ),
        Service(
            Kind.SPEECH,
            JsonService(
                path="/voices/v1/voices", write=lambda q: {}, read=read_voices, method="GET"
            ),
            "voices",
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [INWORLD]
