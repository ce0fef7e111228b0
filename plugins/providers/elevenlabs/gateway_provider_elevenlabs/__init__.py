"""ElevenLabs: speech in the vendor's voices and in cloned ones, and transcription.

API reference: https://elevenlabs.io/docs/api-reference/text-to-speech/convert
Voices: https://elevenlabs.io/docs/api-reference/voices/get-all
Transcription: https://elevenlabs.io/docs/api-reference/speech-to-text/convert

What a character costs depends on the account's plan, so no price is listed.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Auth, FormPart, Kind, Model, ProviderSpec, Service, Usage, hookimpl
from gateway_providers.services import (
    BytesService,
    Form,
    JsonService,
    Question,
    Speech,
    Voice,
    count_characters,
    count_seconds,
    field,
    gender_of,
    list_voices,
    present,
    read_recording,
    read_speech,
)

# https://elevenlabs.io/docs/api-reference/text-to-speech/convert#request.query.output_format
FORMATS = {
    "mp3": "mp3_44100_128",
    "opus": "opus_48000_128",
    "wav": "wav_24000",
    "pcm": "pcm_24000",
}
OWN = ("voice_settings", "seed", "previous_text", "next_text", "apply_text_normalization")
"""Members of the vendor's own that a client may send."""


def speech_of(question: Question) -> Speech:
    carries = ("speed", "language", *OWN)
    return read_speech(question, voice="JBFqnCBsd6RMkjVDRZzb", formats=FORMATS, carries=carries)


def speech_path(question: Question) -> str:
    speech = speech_of(question)
    return f"/text-to-speech/{quote(speech.voice, safe='')}?output_format={FORMATS[speech.format]}"


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = speech_of(question)
    own = {name: question.members[name] for name in OWN if name in question.members}
    settings = own.pop("voice_settings", None)
    settings = dict(settings) if isinstance(settings, Mapping) else {}
    if speech.speed is not None:
        settings["speed"] = speech.speed
    return present(
        text=speech.text,
        model_id=speech.model,
        language_code=speech.language,
        voice_settings=settings or None,
        **own,
    )


def read_voices(question: Question, answer: Any) -> Mapping[str, Any]:
    return list_voices(question, map(voice_of, answer["voices"]))


def voice_of(row: Mapping[str, Any]) -> Voice:
    labels = row.get("labels") or {}
    gender = gender_of(labels.get("gender"))
    return Voice(id=row["voice_id"], name=row["name"], lang=labels.get("language"), gender=gender)


def write_recording(question: Question) -> Form:
    part = read_recording(question, "language", "temperature")
    members = question.members
    parts: list[FormPart] = [field("model_id", question.target.model.id)]
    if members.get("language"):
        parts.append(field("language_code", str(members["language"])))
    if members.get("temperature"):
        parts.append(field("temperature", str(members["temperature"])))
    return Form((*parts, part))


def read_text(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": answer["text"]}


def duration(question: Question, answer: Any) -> Usage | None:
    """The vendor's own figure, else where the last word ends."""
    words = answer.get("words") or [{}]
    return count_seconds(answer.get("audio_duration_secs") or words[-1].get("end"))


ELEVENLABS = ProviderSpec(
    id="elevenlabs",
    name="ElevenLabs",
    keys_url="https://elevenlabs.io/app/settings/api-keys",
    alias="el",
    base_url="https://api.elevenlabs.io/v1",
    auth=Auth(header="xi-api-key", scheme="raw"),
    environment=("ELEVENLABS_API_KEY",),
    models=(
        Model("eleven_v3", kind=Kind.SPEECH),
        Model("eleven_multilingual_v2", kind=Kind.SPEECH),
        Model("eleven_flash_v2_5", kind=Kind.SPEECH),
        Model("eleven_flash_v2", kind=Kind.SPEECH),
        Model("scribe_v2", kind=Kind.TRANSCRIPTION),
        Model("scribe_v1", kind=Kind.TRANSCRIPTION),
    ),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path=speech_path, write=write_speech, usage=count_characters),
        ),
        Service(
            Kind.SPEECH,
            JsonService(path="/voices", write=lambda q: {}, read=read_voices, method="GET"),
            "voices",
        ),
        Service(
            Kind.TRANSCRIPTION,
            JsonService(
                path="/speech-to-text", write=write_recording, read=read_text, usage=duration
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ELEVENLABS]
