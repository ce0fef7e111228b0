"""Coqui: the speech server of the TTS package on the operator's own machine.

API reference: https://coqui-tts.readthedocs.io/en/latest/server.html

The server speaks with the one model that it was started with. ``COQUI_BASE_URL`` or the account's
``baseUrl`` names it, with its ``/api``.
"""

from urllib.parse import urlencode

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    BytesService,
    Content,
    Question,
    count_characters,
    present,
    read_speech,
)


def write(question: Question) -> Content:
    speech = read_speech(question, formats=("wav",), carries=("language",))
    form = present(text=speech.text, speaker_id=speech.voice, language_id=speech.language)
    # The server reads its parameters from the query or from a form, never from JSON.
    return Content(urlencode(form).encode(), "application/x-www-form-urlencoded")


COQUI = ProviderSpec(
    id="coqui",
    name="Coqui",
    base_url="http://localhost:5002/api",
    auth=Auth(type="none"),
    environment_data={"COQUI_BASE_URL": "baseUrl"},
    models=(Model("tts", kind=Kind.SPEECH),),
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
    return [COQUI]
