"""Deepgram: transcription, and speech with a model for each voice.

Transcription: https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
Speech: https://developers.deepgram.com/reference/text-to-speech/speak-request
Voices: https://developers.deepgram.com/reference/manage/models/list
Prices: https://deepgram.com/pricing
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, Usage, hookimpl
from gateway_providers.services import (
    BytesService,
    Content,
    JsonService,
    Question,
    Voice,
    count_characters,
    count_seconds,
    gender_of,
    list_voices,
    read_recording,
    read_speech,
)

# https://developers.deepgram.com/docs/tts-media-output-settings
FORMATS: Mapping[str, Mapping[str, str]] = {
    "mp3": {"encoding": "mp3"},
    "opus": {"encoding": "opus", "container": "ogg"},
    "aac": {"encoding": "aac"},
    "flac": {"encoding": "flac"},
    "wav": {"encoding": "linear16", "container": "wav"},
    "pcm": {"encoding": "linear16", "container": "none", "sample_rate": "24000"},
}


def voices(dollars: float, *ids: str) -> Iterator[Model]:
    """Models that speak, at a price for a thousand characters."""
    for id in ids:
        price = Price(units={"characters": dollars / 1000})
        yield Model(id, kind=Kind.SPEECH, price=price)


def listeners(dollars: float, *ids: str) -> Iterator[Model]:
    """Models that transcribe, at a price for a minute."""
    for id in ids:
        yield Model(id, kind=Kind.TRANSCRIPTION, price=Price(units={"seconds": dollars / 60}))


def speech_path(question: Question) -> str:
    # The model is the voice, so one that is named apart cannot be carried.
    if question.members.get("voice"):
        question.losses.add("voice")
    speech = read_speech(question, formats=FORMATS)
    query = {"model": question.target.model.id, **FORMATS[speech.format]}
    return f"/speak?{urlencode(query)}"


def write_speech(question: Question) -> Mapping[str, Any]:
    return {"text": str(question.members["input"]).strip()}


def read_voices(question: Question, answer: Any) -> Mapping[str, Any]:
    return list_voices(question, map(voice_of, answer["tts"]))


def voice_of(row: Mapping[str, Any]) -> Voice:
    languages, about = row.get("languages") or [None], row.get("metadata") or {}
    return Voice(
        id=row["canonical_name"],
        name=row.get("name"),
        # The longest tag says most: a voice lists "en" and "en-US".
        lang=max(languages, key=lambda each: len(each or "")),
        gender=gender_of(*(about.get("tags") or ())),
    )


def recording_path(question: Question) -> str:
    language = question.members.get("language")
    query = {"model": question.target.model.id, "smart_format": "true", "punctuate": "true"}
    query |= {"language": language} if language else {"detect_language": "true"}
    return f"/listen?{urlencode(query)}"


def write_recording(question: Question) -> Content:
    part = read_recording(question, "language")
    return Content(part.content, part.media_type or "application/octet-stream")


def read_text(question: Question, answer: Any) -> Mapping[str, Any]:
    [first, *_] = answer["results"]["channels"]
    return {"text": first["alternatives"][0]["transcript"]}


def duration(question: Question, answer: Any) -> Usage | None:
    return count_seconds(answer["metadata"].get("duration"))


DEEPGRAM = ProviderSpec(
    id="deepgram",
    name="Deepgram",
    keys_url="https://console.deepgram.com",
    alias="dg",
    base_url="https://api.deepgram.com/v1",
    auth=Auth(header="authorization", prefix="Token"),
    environment=("DEEPGRAM_API_KEY",),
    models=(
        *voices(0.03, "aura-2-thalia-en", "aura-2-andromeda-en", "aura-2-helena-en"),
        *voices(0.03, "aura-2-apollo-en", "aura-2-arcas-en", "aura-2-aries-en"),
        *voices(0.015, "aura-asteria-en", "aura-luna-en", "aura-orion-en", "aura-angus-en"),
        *listeners(0.0043, "nova-3", "nova-3-general", "nova-2"),
    ),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path=speech_path, write=write_speech, usage=count_characters),
        ),
        Service(
            Kind.SPEECH,
            JsonService(path="/models", write=lambda q: {}, read=read_voices, method="GET"),
            "voices",
        ),
        Service(
            Kind.TRANSCRIPTION,
            JsonService(path=recording_path, write=write_recording, read=read_text, usage=duration),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DEEPGRAM]
