"""Which calls of the vendor's own API the native facade allows, at either platform.

API reference: https://platform.minimax.io/docs/api-reference
"""

from gateway_core import Kind, Operation, Resource

ADVISOR = "tools[advisor*].model"
SPEECH, FILE, VIDEO = "speech", "file", "video"
BEARER = "openai"
"""Only the messages path takes the key in ``x-api-key``."""


def made(kind: Kind, path: str) -> Operation:
    """An operation whose answer is the result."""
    return Operation(method="POST", path=path, kind=kind, format=BEARER)


def begun(kind: Kind, path: str, family: str, place: str) -> Operation:
    """An operation whose answer names something that the vendor keeps."""
    return Operation(
        method="POST",
        path=path,
        kind=kind,
        format=BEARER,
        creates=Resource(family, place),
        shows_account=True,
    )


def kept(
    method: str, path: str, kind: Kind | None, uses: Resource, *, polls: bool = False
) -> Operation:
    """An operation on it."""
    return Operation(
        method=method,
        path=path,
        kind=kind,
        format=BEARER,
        body="json" if method == "POST" else "none",
        pinned=True,
        uses=uses,
        polls=polls,
    )


TASK = "query.task_id"
JOB = Resource(VIDEO, "path.task_id")
NATIVE = (
    Operation(method="POST", path="/anthropic/v1/messages", format="claude", nested=(ADVISOR,)),
    Operation(
        method="POST",
        path="/v1/chat/completions",
        format=BEARER,
        nested=(ADVISOR,),
        with_usage=True,
    ),
    Operation(method="POST", path="/v1/responses", format=BEARER, nested=(ADVISOR,)),
    Operation(method="POST", path="/v1/text/chatcompletion_v2", format=BEARER, with_usage=True),
    Operation(
        method="POST",
        path="/v1/speech_to_text",
        kind=Kind.TRANSCRIPTION,
        format=BEARER,
        body="json or form",
    ),
    made(Kind.SPEECH, "/v1/t2a_v2"),
    made(Kind.IMAGE, "/v1/image_generation"),
    made(Kind.MUSIC, "/v1/music_generation"),
    made(Kind.MUSIC, "/v1/lyrics_generation"),
    made(Kind.MUSIC, "/v1/music_cover_preprocess"),
    begun(Kind.SPEECH, "/v1/t2a_async_v2", SPEECH, "task_id"),
    kept("GET", "/v1/query/t2a_async_query_v2", Kind.SPEECH, Resource(SPEECH, TASK), polls=True),
    begun(Kind.SPEECH, "/v1/voice_design", "voice", "voice_id"),
    # A cloned voice has the id that its client has chosen, so nobody is taken for its owner.
    Operation(
        method="POST",
        path="/v1/voice_clone",
        kind=Kind.SPEECH,
        format=BEARER,
        shows_account=True,
    ),
    Operation(method="POST", path="/v1/get_voice", kind=Kind.SPEECH, format=BEARER, pinned=True),
    kept("POST", "/v1/delete_voice", Kind.SPEECH, Resource("voice", "body.voice_id")),
    Operation(
        method="POST",
        path="/v1/files/upload",
        kind=None,
        format=BEARER,
        body="form",
        creates=Resource(FILE, "file.file_id"),
        shows_account=True,
    ),
    kept("GET", "/v1/files/retrieve", None, Resource(FILE, "query.file_id")),
    kept("GET", "/v1/files/retrieve_content", None, Resource(FILE, "query.file_id")),
    begun(Kind.VIDEO, "/v2/video_generation", VIDEO, "task_id"),
    begun(Kind.VIDEO, "/v2/h3_context_ir", VIDEO, "task_id"),
    begun(Kind.VIDEO, "/v2/video_regeneration", VIDEO, "task_id"),
    begun(Kind.VIDEO, "/v1/video_generation", VIDEO, "task_id"),
    kept("GET", "/v2/query/video_generation", Kind.VIDEO, Resource(VIDEO, TASK), polls=True),
    kept("GET", "/v2/query/video_generation/{task_id}", Kind.VIDEO, JOB, polls=True),
    kept("DELETE", "/v2/video_generation/{task_id}", Kind.VIDEO, JOB),
    kept("GET", "/v1/query/video_generation", Kind.VIDEO, Resource(VIDEO, TASK), polls=True),
)
