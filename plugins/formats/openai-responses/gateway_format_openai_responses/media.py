"""Images, documents and sounds in a message's content."""

from typing import Any

from gateway_core import BadRequest, Media

from .dialect import DIALECT
from .members import Members, missing
from .scope import Scope

_EXTENSIONS = {
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "application/json": "json",
}
_SOUNDS = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_SOUND_FORMATS = {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
}

BREAKPOINT = "prompt_cache_breakpoint"
_LIFETIMES = {"12h": "1h"}
"""The vendor's two lifetimes to the hub's two: the usual one and the long one."""


def read_image(piece: Members) -> Media:
    url, file_id = piece.text("image_url"), piece.text("file_id")
    if url is None and file_id is None:
        raise missing(piece.place("image_url"))
    media_type, data = _opened(url)
    return Media(
        kind="image",
        media_type=media_type,
        data=data,
        url=url if data is None else None,
        detail=piece.text("detail"),
        cache=read_cache(piece),
        **_kept(file_id),
        extra=piece.rest(),
    )


def read_file(piece: Members) -> Media:
    held, url, file_id = piece.text("file_data"), piece.text("file_url"), piece.text("file_id")
    if held is None and url is None and file_id is None:
        place = piece.place()
        raise BadRequest(f"'{place}' needs one of file_data, file_url and file_id.", param=place)
    media_type, data = _opened(held)
    return Media(
        kind="document",
        media_type=media_type,
        data=held if data is None else data,
        url=url,
        name=piece.text("filename"),
        detail=piece.text("detail"),
        cache=read_cache(piece),
        **_kept(file_id),
        extra=piece.rest(),
    )


def read_sound(piece: Members) -> Media:
    sound = piece.inner("input_audio")
    if sound is None:
        raise missing(piece.place("input_audio"))
    data, form = sound.needed("data"), sound.text("format")
    media_type = None if form is None else _SOUNDS.get(form, f"audio/{form}")
    return Media(kind="audio", media_type=media_type, data=data, extra=piece.rest())


def read_cache(piece: Members) -> str | None:
    breakpoint_ = piece.inner(BREAKPOINT)
    return None if breakpoint_ is None else _LIFETIMES.get(breakpoint_.text("ttl") or "", "5m")


def write_cache(piece: dict[str, Any], cache: str | None, scope: Scope) -> None:
    if cache is None:
        return
    if not (scope.own or scope.allows("cache_breakpoints")):
        scope.losses.add("cache_control")
        return
    piece[BREAKPOINT] = {"mode": "explicit", **({"ttl": "12h"} if cache == "1h" else {})}


def write_media(media: Media, scope: Scope) -> dict[str, Any] | None:
    """A piece of content, or ``None``, with the loss noted, for what cannot be said."""
    write = _WRITERS.get(media.kind)
    piece = None if write is None else write(media, scope)
    if piece is None:
        scope.losses.add("file_id" if _is_only_an_id(media) else media.kind)
        return None
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
        piece["file_data"] = _packed(media)
        piece["filename"] = media.name or f"document.{_EXTENSIONS.get(_plain(media), 'pdf')}"
        if scope.own and media.name is None:
            del piece["filename"]
    elif media.text is not None:
        return {"type": "input_text", "text": _titled(media.name, media.text)}
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


def _opened(url: str | None) -> tuple[str | None, str | None]:
    """Media type and base64 text of a data URL; nothing of any other address."""
    if url is None or not url.startswith("data:"):
        return None, None
    head, comma, data = url[5:].partition(",")
    if not comma or not head.endswith(";base64"):
        return None, None
    return head.removesuffix(";base64").partition(";")[0] or None, data


def _packed(media: Media) -> str:
    if media.media_type is None:
        return media.data or ""
    return f"data:{media.media_type};base64,{media.data}"


def _plain(media: Media) -> str:
    return (media.media_type or "").partition(";")[0].strip().lower()


def _titled(name: str | None, text: str) -> str:
    return text if name is None else f"{name}\n\n{text}"


def _kept(file_id: str | None) -> dict[str, Any]:
    return {} if file_id is None else {"file_id": file_id, "origin": f"~{DIALECT}"}


def _is_only_an_id(media: Media) -> bool:
    return media.file_id is not None and media.data is None and media.url is None
