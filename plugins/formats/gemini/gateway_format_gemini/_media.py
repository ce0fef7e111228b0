"""Images, audio, video and documents: by value, by address, and in the vendor's file store.

https://ai.google.dev/api/caching#Blob and https://ai.google.dev/gemini-api/docs/files
"""

import base64
import mimetypes
import re
import string
from typing import Literal
from urllib.parse import unquote, urlsplit

from gateway_core import Media, readable_by

from ._dialect import DIALECT, NATIVE

Json = dict[str, object]
Kind = Literal["image", "audio", "video", "document"]

FILES = re.compile(r"^(?:https://generativelanguage\.googleapis\.com/[^?]*/)?files/")
"""The addresses of uploaded files mean something only to the vendor that holds them."""
_VIDEOS = re.compile(r"^https?://(?:www\.|m\.)?(?:youtube\.com|youtu\.be)/", re.IGNORECASE)
_DATA = re.compile(r"^data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)

_LETTERS = (string.ascii_letters + string.digits + "+/-_=").encode()
_STANDARD = str.maketrans("-_", "+/")
_STARTS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi0", "application/pdf"),
)
"""How base64 of the usual files begins."""

_USUAL: dict[str, str] = {
    "image": "image/jpeg",
    "audio": "audio/wav",
    "video": "video/mp4",
    "document": "application/pdf",
}


def kind_of(media_type: str | None, url: str = "") -> Kind:
    guessed = media_type or mimetypes.guess_type(urlsplit(url).path)[0] or ""
    match guessed.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    # The vendor watches YouTube videos by their address.
    return "video" if _VIDEOS.match(url) else "document"


def read_blob(media_type: str | None, data: str, name: str | None) -> Media:
    """A medium by value."""
    # The vendor's own library writes base64 in the URL-safe alphabet (RFC 4648, section 5); every
    # other dialect wants the standard one, padded.
    if "-" in data or "_" in data:
        data = data.translate(_STANDARD)
    data += "=" * (-len(data) % 4)
    return Media(kind=kind_of(media_type), media_type=media_type, data=data, name=name)


def read_file(media_type: str | None, uri: str, name: str | None) -> Media:
    kind = kind_of(media_type, uri)
    if FILES.match(uri):
        return Media(kind=kind, media_type=media_type, file_id=uri, origin=NATIVE, name=name)
    return Media(kind=kind, media_type=media_type, url=uri, name=name)


def write_media(media: Media, provider: str, named: bool) -> Json | None:
    """The part for a medium; ``None`` for one that this provider cannot read.

    ``named`` says whether file names may be sent: one branch of the API refuses them.
    """
    name = media.name if named else None
    if media.file_id is not None:
        if not readable_by(media.origin, provider, DIALECT):
            return None
        return {"fileData": _describe({"fileUri": media.file_id}, media.media_type, name)}
    if media.url is None:
        blob = write_blob(media, named)
        return {"inlineData": blob} if blob is not None else None
    data_url = _DATA.match(media.url)
    if data_url:
        rest = media.url[data_url.end() :]
        data = rest if ";base64" in data_url[2].lower() else _encode(unquote(rest))
        media_type = data_url[1] or media.media_type or _USUAL[media.kind]
        return {"inlineData": _describe({"data": data}, media_type, name)}
    guessed = media.media_type or mimetypes.guess_type(urlsplit(media.url).path)[0]
    if guessed is None and not _VIDEOS.match(media.url):
        guessed = _USUAL[media.kind]
    return {"fileData": _describe({"fileUri": media.url}, guessed, name)}


def write_blob(media: Media, named: bool) -> Json | None:
    """Type and base64 of a medium that came by value."""
    name = media.name if named else None
    if media.data is not None:
        starts = (kind for start, kind in _STARTS if media.data.startswith(start))
        media_type = media.media_type or next(starts, None) or _USUAL[media.kind]
        return _describe({"data": media.data}, media_type, name)
    if media.text is not None:
        return _describe({"data": _encode(media.text)}, media.media_type or "text/plain", name)
    return None


def _describe(value: Json, media_type: str | None, name: str | None) -> Json:
    if media_type is not None:
        value = {"mimeType": media_type, **value}
    return {**value, "displayName": name} if name is not None else value


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def is_base64(data: str) -> bool:
    """Whether data holds nothing but the letters of either base64 alphabet."""
    return not data.encode(errors="replace").translate(None, _LETTERS)
