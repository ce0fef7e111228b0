"""Edge read-aloud: speech by the voices of Microsoft Edge, without a key.

There is no public reference: the service is spoken as the edge-tts library speaks it,
https://github.com/rany2/edge-tts. It refuses callers whose clock is wrong by some minutes with 403.
"""

import re
from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, BadRequest, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    BytesService,
    JsonService,
    Question,
    Voice,
    count_characters,
    gender_of,
    list_voices,
    read_speech,
)

from .executor import EdgeExecutor

VOICE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)+Neural")
"""The voice stands in the XML document that is sent, so nothing else is let in."""
FASTEST = 3.0
"""The service takes no higher rate."""


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, voice="en-US-EmmaMultilingualNeural", carries=("speed",))
    if not VOICE.fullmatch(speech.voice):
        raise BadRequest(
            f"There is no voice {speech.voice!r}; /v1/audio/voices?provider=edge-tts lists them",
            param="voice",
        )
    percent = round((min(speech.speed or 1.0, FASTEST) - 1) * 100)
    return {"text": speech.text, "voice": speech.voice, "rate": f"{percent:+d}%"}


def read_voices(question: Question, answer: Any) -> Mapping[str, Any]:
    return list_voices(question, map(voice_of, answer))


def voice_of(row: Mapping[str, Any]) -> Voice:
    return Voice(
        id=row["ShortName"],
        name=row.get("FriendlyName"),
        lang=row.get("Locale"),
        gender=gender_of(row.get("Gender")),
    )


EDGE_TTS = ProviderSpec(
    id="edge-tts",
    name="Edge read-aloud",
    base_url="https://speech.platform.bing.com/consumer/speech/synthesize/readaloud",
    auth=Auth(type="none"),
    executor=EdgeExecutor(),
    models=(Model("edge-tts", kind=Kind.SPEECH),),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path="/edge/v1", write=write_speech, usage=count_characters),
        ),
        Service(
            Kind.SPEECH,
            JsonService(path="/voices/list", write=lambda q: {}, read=read_voices, method="GET"),
            "voices",
        ),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [EDGE_TTS]
