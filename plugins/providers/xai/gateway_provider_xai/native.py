"""Which calls of the vendor's own API the native facade allows.

API reference: https://docs.x.ai/docs/api-reference
Speech: https://docs.x.ai/docs/guides/voice
"""

from gateway_core import Kind, Operation, Resource

STT = "stt"
"""The only model that hears; the vendor's API has no name for it."""
TTS = "tts"
"""The only one that speaks."""
VIDEO = "/v1/videos"


def video(action: str) -> Operation:
    return Operation(
        method="POST",
        path=f"{VIDEO}/{action}",
        kind=Kind.VIDEO,
        creates=Resource("video", "request_id"),
        shows_account=True,
    )


NATIVE = (
    Operation(method="POST", path="/v1/responses", nested=("tools[advisor*].model",)),
    Operation(method="POST", path="/v1/images/generations", kind=Kind.IMAGE),
    Operation(method="POST", path="/v1/images/edits", kind=Kind.IMAGE),
    *map(video, ("generations", "edits", "extensions")),
    Operation(
        method="GET",
        path=f"{VIDEO}/{{id}}",
        kind=Kind.VIDEO,
        body="none",
        pinned=True,
        uses=Resource("video", "path.id"),
        polls=True,
    ),
    Operation(method="POST", path="/v1/tts", kind=Kind.SPEECH),
    Operation(
        method="POST",
        path="/v1/stt",
        kind=Kind.TRANSCRIPTION,
        body="form",
        unnamed=(STT,),
    ),
)
