"""Which calls of the vendor's own API the native facade allows.

API reference: https://platform.openai.com/docs/api-reference
"""

from gateway_core import Kind, Operation, Resource

RESPONSE = Resource("response", "path.id")
TRANSCRIPTION = "session.audio.input.transcription.model"
DELEGATED = "session.delegation.responses"
ADVISOR = "tools[advisor*].model"
FURTHER = (
    *("input_audio_transcription.model", TRANSCRIPTION, f"{DELEGATED}.model"),
    *(ADVISOR, "session.tools[advisor*].model", f"{DELEGATED}.tools[advisor*].model"),
)
"""Places of a session's models besides the one that holds the dialogue."""


def session(path: str, kind: Kind) -> Operation:
    """An operation that gives its client a way to the vendor."""
    return Operation(
        method="POST",
        path=path,
        kind=kind,
        models=("session.model",),
        nested=FURTHER,
        direct=True,
    )


NATIVE = (
    Operation(
        method="POST",
        path="/v1/responses",
        nested=(ADVISOR,),
        creates=Resource("response", "id"),
        shows_account=True,
    ),
    Operation(
        method="GET",
        path="/v1/responses/{id}",
        body="none",
        pinned=True,
        uses=RESPONSE,
        polls=True,
    ),
    Operation(
        method="POST", path="/v1/responses/{id}/cancel", body="none", pinned=True, uses=RESPONSE
    ),
    Operation(method="DELETE", path="/v1/responses/{id}", body="none", pinned=True, uses=RESPONSE),
    Operation(method="POST", path="/v1/chat/completions", nested=(ADVISOR,), with_usage=True),
    session("/v1/realtime/client_secrets", Kind.REALTIME),
    session("/v1/realtime/translations/client_secrets", Kind.REALTIME_TRANSLATION),
    session("/v1/realtime/transcription_sessions", Kind.REALTIME_TRANSCRIPTION),
    session("/v1/live/sessions", Kind.LIVE),
)
