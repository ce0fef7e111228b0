"""Local Whisper: transcription by a server on the operator's own machine that speaks as the
completions vendor does, such as Speaches or whisper.cpp behind its compatible path.

API reference: https://speaches.ai/usage/speech-to-text/

``LOCAL_WHISPER_BASE_URL`` or the account's ``baseUrl`` names the server, with its ``/v1``.
"""

from gateway_core import Auth, Kind, Model, ProviderSpec, hookimpl
from gateway_providers.services import completions_service

LOCAL_WHISPER = ProviderSpec(
    id="local-whisper",
    name="Local Whisper",
    base_url="http://localhost:8000/v1",
    auth=Auth(type="none"),
    environment_data={"LOCAL_WHISPER_BASE_URL": "baseUrl"},
    timeout_ms=600_000,
    models=(Model("whisper-1", kind=Kind.TRANSCRIPTION),),
    services=(completions_service("stt"), completions_service("stt/translation")),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LOCAL_WHISPER]
