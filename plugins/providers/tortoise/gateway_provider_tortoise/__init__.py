"""Tortoise: a speech server on the operator's own machine.

Tortoise itself has no server: https://github.com/neonbjb/tortoise-tts. This speaks to one that
takes ``text`` and ``voice`` at ``/api/tts`` and answers with WAV. ``TORTOISE_BASE_URL`` or the
account's ``baseUrl`` names it, with its ``/api``.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import BytesService, Question, count_characters, read_speech


def write(question: Question) -> Mapping[str, Any]:
    # "random" is Tortoise's own word for a voice of its choice.
    speech = read_speech(question, voice="random", formats=("wav",))
    return {"text": speech.text, "voice": speech.voice}


TORTOISE = ProviderSpec(
    id="tortoise",
    name="Tortoise",
    base_url="http://localhost:5000/api",
    auth=Auth(type="none"),
    environment_data={"TORTOISE_BASE_URL": "baseUrl"},
    models=(Model("tortoise", kind=Kind.SPEECH),),
    services=(
        Service(
            Kind.SPEECH,
            BytesService(path="/tts", write=write, media_type="audio/wav", usage=count_characters),
        ),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TORTOISE]
