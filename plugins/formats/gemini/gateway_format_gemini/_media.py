"""Pictures, sounds, films and documents: by value, by address, and in the vendor's file store."""

import base64
import mimetypes
import re
import string
from typing import Literal
from urllib.parse import unquote, urlsplit

from gateway_core import Media, readable_by

from ._signatures import DIALECT, NATIVE

Json = dict[str, object]
Kind = Literal["image", "audio", "video", "document"]

FILES = re.compile(r"^(?:https://generativelanguage\.googleapis\.com/[^?]*/)?files/")
"""The addresses of uploaded files mean something only to the vendor that holds them."""
_FILMS = re.compile(r"^https?://(?:www\.|m\.)?(?:youtube\.com|youtu\.be)/", re.IGNORECASE)
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
    return "video" if _FILMS.match(url) else "document"


def from_data(media_type: str | None, data: str, name: str | None) -> Media:
    """A medium by value; the vendor's own library writes base64 in its url-safe letters."""
    plain = standard(data)
    return Media(kind=kind_of(media_type), media_type=media_type, data=plain, name=name)


def standard(data: str) -> str:
    """Base64 in the letters and with the padding that every other dialect insists on."""
    if "-" in data or "_" in data:
        data = data.translate(_STANDARD)
    return data + "=" * (-len(data) % 4)


def from_uri(media_type: str | None, uri: str, name: str | None) -> Media:
    kind = kind_of(media_type, uri)
    if FILES.match(uri):
        return Media(kind=kind, media_type=media_type, file_id=uri, origin=NATIVE, name=name)
    return Media(kind=kind, media_type=media_type, url=uri, name=name)


def media_part(media: Media, provider: str, named: bool) -> Json | None:
    """The part for a medium; ``None`` for one that this provider cannot get at.

    ``named`` says whether file names may be told: one branch of the API refuses them.
    """
    name = media.name if named else None
    if media.file_id is not None:
        if not readable_by(media.origin, provider, DIALECT):
            return None
        return {"fileData": _titled({"fileUri": media.file_id}, media.media_type, name)}
    if media.url is not None:
        return _from_url(media, name)
    blob = inline(media, named)
    return {"inlineData": blob} if blob is not None else None


def inline(media: Media, named: bool) -> Json | None:
    """Type and base64 of a medium that came by value."""
    name = media.name if named else None
    if media.data is not None:
        media_type = media.media_type or _sniffed(media.data) or _USUAL[media.kind]
        return _titled({"data": media.data}, media_type, name)
    if media.text is not None:
        return _titled({"data": _encoded(media.text)}, media.media_type or "text/plain", name)
    return None


def _from_url(media: Media, name: str | None) -> Json:
    url = media.url or ""
    found = _DATA.match(url)
    if found:
        rest = url[found.end() :]
        data = rest if ";base64" in found[2].lower() else _encoded(unquote(rest))
        media_type = found[1] or media.media_type or _USUAL[media.kind]
        return {"inlineData": _titled({"data": data}, media_type, name)}
    media_type = media.media_type or mimetypes.guess_type(urlsplit(url).path)[0]
    if media_type is None and not _FILMS.match(url):
        media_type = _USUAL[media.kind]
    return {"fileData": _titled({"fileUri": url}, media_type, name)}


def _titled(value: Json, media_type: str | None, name: str | None) -> Json:
    if media_type is not None:
        value = {"mimeType": media_type, **value}
    return {**value, "displayName": name} if name is not None else value


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def is_base64(data: str) -> bool:
    """Whether data holds nothing but the letters of either base64 alphabet."""
    return not data.encode(errors="replace").translate(None, _LETTERS)


def _sniffed(data: str) -> str | None:
    return next((found for start, found in _STARTS if data.startswith(start)), None)
