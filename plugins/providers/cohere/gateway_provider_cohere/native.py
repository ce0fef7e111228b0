"""Which calls of the vendor's own API the native facade allows.

API reference: https://docs.cohere.com/reference/embed, https://docs.cohere.com/reference/rerank
and https://docs.cohere.com/reference/create-audio-transcription
"""

from gateway_core import Kind, Operation

NATIVE = (
    Operation(method="POST", path="/v2/parse", kind=Kind.DOCUMENT_PARSING),
    Operation(method="POST", path="/v2/embed", kind=Kind.EMBEDDING),
    Operation(method="POST", path="/v2/rerank", kind=Kind.RERANK),
    Operation(method="POST", path="/v2/audio/transcriptions", kind=Kind.TRANSCRIPTION, body="form"),
)
