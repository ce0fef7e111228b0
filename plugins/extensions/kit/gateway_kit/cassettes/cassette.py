"""What a cassette holds, and how it is made of what a gateway has recorded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .masking import Masker, Unreadable

VERSION = 1
MEDIA_TYPES = ("application/json", "text/event-stream", "application/x-ndjson")


FORMATS = {
    "/chat/completions": "openai",
    "/messages": "claude",
    "/responses": "openai-responses",
    "/api/chat": "ollama",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
"""Wire formats by the ends of addresses, as history does not name them."""


class BadCassette(Exception):
    """An exchange cannot be a cassette, or a file is none."""


class Cassette(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One exchange. Nothing of it says where it was, who asked, or what was said.

    A body is a document, or the text of a stream.
    """

    version: int = VERSION
    path: str
    """Of the client's endpoint."""
    vendor_format: str
    request: Any
    """The client's body."""
    sent: Any
    """The vendor's."""
    status: int
    """The vendor's."""
    media_type: str
    reply: Any
    answer: Any


def make_cassette(row: Mapping[str, Any], detail: Mapping[str, Any]) -> Cassette:
    """The cassette of a row of the usage history and its details. Raises BadCassette."""
    if "{" in row["endpoint"]:
        raise BadCassette("Its path names the model.")
    parts = [detail.get(n) for n in ("request", "providerRequest", "providerResponse", "response")]
    request, sent, reply, answer = (_whole(part) for part in parts)
    masker, status = Masker(), reply.get("status")
    media = _media_type(reply.get("headers") or {})
    try:
        bodies = [masker.body(each.get("body")) for each in (request, sent, reply, answer)]
    except Unreadable:
        raise BadCassette("A body of it is neither JSON nor a stream of JSON.") from None
    return Cassette(
        path=row["endpoint"],
        vendor_format=_vendor_format(sent.get("url") or ""),
        request=bodies[0],
        sent=bodies[1],
        status=int(status or 0),
        media_type=media,
        reply=bodies[2],
        answer=bodies[3],
    )


def write_cassette(cassette: Cassette) -> bytes:
    """The content of a file."""
    return msgspec.json.format(msgspec.json.encode(cassette), indent=1) + b"\n"


def read_cassette(path: str | Path) -> Cassette:
    """A file's. Raises BadCassette, OSError."""
    try:
        cassette = msgspec.json.decode(Path(path).read_bytes(), type=Cassette)
    except msgspec.DecodeError as error:
        raise BadCassette(f"{path} is no cassette: {error}") from None
    if cassette.version != VERSION:
        raise BadCassette(f"{path} is of version {cassette.version}; this kit reads {VERSION}.")
    return cassette


def _whole(part: Any) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise BadCassette("Its contents are not kept: see enableObservability.")
    if part.get("_truncated"):
        raise BadCassette(
            "Its contents are kept in part: set observabilityMaxJsonSize higher, and ask again."
        )
    return part


def _vendor_format(url: str) -> str:
    path = url.partition("?")[0]
    wire = next((wire for end, wire in FORMATS.items() if path.endswith(end)), None)
    if wire is None:
        raise BadCassette("Its vendor was asked at an address of no format that the kit knows.")
    return wire


def _media_type(headers: Mapping[str, str]) -> str:
    shown = next((v for n, v in headers.items() if n.lower() == "content-type"), "")
    media = shown.partition(";")[0].strip().lower()
    return media if media in MEDIA_TYPES else MEDIA_TYPES[0]
