"""PlayHT: speech in voices that are named by the address of their manifest.

API reference: https://docs.play.ht/reference/api-generate-tts-audio-stream

The vendor has announced the end of its public service; an account with a base URL of its own
reaches what is left of it. The key is ``userId:apiKey``, or the key alone beside an account's
``userId``.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import AccountField, BadRequest, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    BytesService,
    Question,
    count_characters,
    present,
    read_speech,
)

# https://docs.play.ht/reference/api-generate-tts-audio-stream#body-output_format
FORMATS = {"mp3": "mp3", "wav": "wav", "flac": "flac", "opus": "ogg", "pcm": "raw"}
VOICE = "s3://voice-cloning-zero-shot/d9ff78ba-d016-47f6-b0ef-dd630f59414e/female-cs/manifest.json"


def headers(question: Question) -> Mapping[str, str]:
    user, colon, key = (question.credential.secret or "").partition(":")
    if not colon:
        user, key = str(question.credential.data.get("userId") or ""), user
    if not user or not key:
        raise BadRequest("The key of a playht account has to be userId:apiKey")
    return {"authorization": f"Bearer {key}", "x-user-id": user}


def write(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, voice=VOICE, formats=FORMATS, carries=("speed", "language"))
    return present(
        text=speech.text,
        voice=speech.voice,
        voice_engine=speech.model,
        output_format=FORMATS[speech.format],
        speed=speech.speed,
        language=speech.language,
    )


PLAYHT = ProviderSpec(
    id="playht",
    name="PlayHT",
    keys_url="https://play.ht/studio/api-access",
    base_url="https://api.play.ht/api/v2",
    account_fields=(
        AccountField(
            name="userId",
            title="User ID",
            about="Left out where the key is userId:apiKey.",
        ),
    ),
    environment=("PLAY_HT_API_KEY",),
    environment_data={"PLAY_HT_USER_ID": "userId"},
    models=(
        Model("PlayDialog", kind=Kind.SPEECH),
        Model("Play3.0-mini", kind=Kind.SPEECH),
        Model("PlayHT2.0-turbo", kind=Kind.SPEECH),
    ),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path="/tts/stream", write=write, usage=count_characters, headers=headers),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [PLAYHT]
