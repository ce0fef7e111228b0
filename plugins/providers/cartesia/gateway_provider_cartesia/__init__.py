"""Cartesia: speech by Sonic and transcription by Ink.

Speech: https://docs.cartesia.ai/api-reference/tts/bytes
Transcription: https://docs.cartesia.ai/api-reference/stt/transcribe

The API is dated. What a character costs depends on the account's plan, so no price is listed.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, Usage, hookimpl
from gateway_providers.services import (
    BytesService,
    Form,
    JsonService,
    Question,
    count_characters,
    count_seconds,
    field,
    present,
    read_recording,
    read_speech,
)

FORMATS: Mapping[str, Mapping[str, Any]] = {
    "mp3": {"container": "mp3", "bit_rate": 128_000, "sample_rate": 44_100},
    "wav": {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 44_100},
    "pcm": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
}
VOICE = "694f9389-aac1-45b6-b726-9d9369183238"


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, voice=VOICE, formats=FORMATS, carries=("language",))
    return present(
        model_id=speech.model,
        transcript=speech.text,
        voice={"mode": "id", "id": speech.voice},
        output_format=FORMATS[speech.format],
        language=speech.language,
    )


def write_recording(question: Question) -> Form:
    part = read_recording(question, "language")
    language = question.members.get("language")
    parts = [field("model", question.target.model.id)]
    return Form((*parts, *([field("language", str(language))] if language else ()), part))


def read_text(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": answer["text"]}


def duration(question: Question, answer: Any) -> Usage | None:
    return count_seconds(answer.get("duration"))


CARTESIA = ProviderSpec(
    id="cartesia",
    name="Cartesia",
    keys_url="https://play.cartesia.ai/keys",
    base_url="https://api.cartesia.ai",
    headers={"cartesia-version": "2024-06-10"},
    auth=Auth(header="x-api-key", scheme="raw"),
    environment=("CARTESIA_API_KEY",),
    models=(
        Model("sonic-3", kind=Kind.SPEECH),
        Model("sonic-2", kind=Kind.SPEECH),
        Model("ink-whisper", kind=Kind.TRANSCRIPTION),
    ),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path="/tts/bytes", write=write_speech, usage=count_characters),
        ),
        Service(
            Kind.TRANSCRIPTION,
            JsonService(
                path="/stt",
                write=write_recording,
                read=read_text,
                usage=duration,
                # The first version of the API that transcribes.
                headers={"cartesia-version": "2025-04-16"},
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CARTESIA]
