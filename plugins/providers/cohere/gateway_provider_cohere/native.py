"""Which calls of the vendor's own API the native facade allows.

API reference: https://docs.cohere.com/reference/embed, https://docs.cohere.com/reference/rerank,
https://docs.cohere.com/reference/parse and
https://docs.cohere.com/reference/create-audio-transcription
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import BadRequest, Kind, Operation


def check_image(body: Mapping[str, Any]) -> None:
    """Refuse a document that is no image: the reference has ``image_url`` alone, with the address
    of an image or a data URI. Raises BadRequest."""
    document = body.get("document")
    is_image = isinstance(document, Mapping) and document.get("type") == "image_url"
    address = document.get("image_url") if isinstance(document, Mapping) else None
    if isinstance(address, Mapping):
        address = address.get("url")
    if not is_image or not isinstance(address, str) or is_other_data(address):
        raise BadRequest("Only images can be parsed", param="document")


def is_other_data(address: str) -> bool:
    """Whether it is a data URI (RFC 2397) of something else than an image."""
    return address[:5].lower() == "data:" and address[5:11].lower() != "image/"


NATIVE = (
    Operation(method="POST", path="/v2/parse", kind=Kind.DOCUMENT_PARSING, check=check_image),
    Operation(method="POST", path="/v2/embed", kind=Kind.EMBEDDING),
    Operation(method="POST", path="/v2/rerank", kind=Kind.RERANK),
    Operation(method="POST", path="/v2/audio/transcriptions", kind=Kind.TRANSCRIPTION, body="form"),
)
