"""Write images, documents and audio into a message's content."""

from typing import Any

from gateway_core import Media, PartUnsupported

from .._dialect import BREAKPOINT
from .._scope import Scope

_EXTENSIONS = {
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "application/json": "json",
}
_SOUND_FORMATS = {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
}


def write_cache(piece: dict[str, Any], cache: str | None, scope: Scope) -> None:
    if cache is None:
        return
    if not (scope.own or scope.allows("cache_breakpoints")):
        scope.losses.add("cache_control")
        return
    piece[BREAKPOINT] = {"mode": "explicit", **({"ttl": "12h"} if cache == "1h" else {})}


def write_media(media: Media, scope: Scope) -> dict[str, Any]:
    """A piece of content. Raises PartUnsupported for what has no equivalent."""
    write = _WRITERS.get(media.kind)
    piece = None if write is None else write(media, scope)
    if piece is None:
        raise PartUnsupported(media.kind)
    write_cache(piece, media.cache, scope)
    scope.put_extra(piece, media.extra)
    return piece


def _write_image(media: Media, scope: Scope) -> dict[str, Any] | None:
    piece: dict[str, Any] = {"type": "input_image"}
    if media.data is not None:
        piece["image_url"] = f"data:{media.media_type or 'image/png'};base64,{media.data}"
    elif media.url is not None:
        piece["image_url"] = media.url
    elif media.file_id is not None and scope.reads(media.origin):
        piece["file_id"] = media.file_id
    else:
        return None
    if media.detail is not None:
        piece["detail"] = media.detail
    return piece


def _write_document(media: Media, scope: Scope) -> dict[str, Any] | None:
    piece: dict[str, Any] = {"type": "input_file"}
    if media.data is not None:
        # https://platform.openai.com/docs/guides/pdf-files: a data URL and a filename.
        is_typed = media.media_type is not None
        piece["file_data"] = (
            f"data:{media.media_type};base64,{media.data}" if is_typed else media.data
        )
        piece["filename"] = media.name or f"document.{_EXTENSIONS.get(_plain(media), 'pdf')}"
        if scope.own and media.name is None:
            del piece["filename"]
    elif media.text is not None:
        # A plain text needs no file, and every model reads it.
        text = media.text if media.name is None else f"{media.name}\n\n{media.text}"
        return {"type": "input_text", "text": text}
    elif media.url is not None:
        piece["file_url"] = media.url
    elif media.file_id is not None and scope.reads(media.origin):
        piece["file_id"] = media.file_id
    else:
        return None
    if scope.own and media.name is not None:
        piece["filename"] = media.name
    if scope.own and media.detail is not None:
        piece["detail"] = media.detail
    return piece


def _write_sound(media: Media, scope: Scope) -> dict[str, Any] | None:
    if media.data is None or not (scope.own or scope.allows("audio")):
        return None
    kind = _plain(media)
    form = _SOUND_FORMATS.get(kind) or kind.removeprefix("audio/") or "wav"
    return {"type": "input_audio", "input_audio": {"data": media.data, "format": form}}


_WRITERS = {"image": _write_image, "document": _write_document, "audio": _write_sound}


def _plain(media: Media) -> str:
    return (media.media_type or "").partition(";")[0].strip().lower()
