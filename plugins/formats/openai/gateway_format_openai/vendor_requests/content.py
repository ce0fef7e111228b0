"""Parts written as the content of a message, as the vendor wants it."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Media, Reasoning, Refusal, Text

from .._members import DIALECT, merge
from .draft import Draft

Piece = dict[str, Any] | Raw

Content = str | list[Piece]

_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "x-m4a": "m4a"}

_NAMES = {"application/pdf": "document.pdf", "text/plain": "document.txt"}


def content(parts: Iterable[AnyPart], draft: Draft, joint: str = "\n\n") -> Content:
    """One string where nothing but plain text is said, since every vendor takes that."""
    written = pieces(parts, draft)
    texts = [_plain(piece) for piece in written]
    if all(text is not None for text in texts):
        return joint.join(text for text in texts if text)
    return [piece for piece, text in zip(written, texts, strict=True) if text != ""]


def _plain(piece: Piece) -> str | None:
    if isinstance(piece, dict) and len(piece) == 2 and piece["type"] == "text":
        text: str = piece["text"]
        return text
    return None


def pieces(parts: Iterable[AnyPart], draft: Draft) -> list[Piece]:
    """What of these parts can stand in a content list; the rest is noted as lost."""
    written = (_piece(part, draft) for part in parts)
    return [piece for piece in written if piece is not None]


def _piece(part: AnyPart, draft: Draft) -> Piece | None:
    if isinstance(part, Foreign):
        if part.dialect == DIALECT:
            return part.raw
        draft.losses.add(f"part:{part.type}")
        return None
    piece = _written(part, draft)
    if piece is None:
        return None
    extra = draft.extras(part.extra)
    if extra:
        merge(piece, extra)
    cache = draft.cache(part.cache)
    if cache is not None:
        piece["cache_control"] = cache
    return piece


def _written(part: AnyPart, draft: Draft) -> dict[str, Any] | None:
    if isinstance(part, Text | Refusal):
        if isinstance(part, Text) and part.citations:
            draft.losses.add("citations")
        return {"type": "text", "text": part.text}
    if isinstance(part, Reasoning):
        return {"type": "thinking", "thinking": [{"type": "text", "text": part.text}]}
    if isinstance(part, Media):
        piece = _MEDIA[part.kind](part, draft)
        if piece is None:
            draft.losses.add("file_id" if part.file_id else part.kind)
        return piece
    return None


def _address(part: Media, default_type: str) -> str | None:
    if part.data is not None:
        return f"data:{part.media_type or default_type};base64,{part.data}"
    return part.url


def _image(part: Media, draft: Draft) -> dict[str, Any] | None:
    url = _address(part, "image/png")
    if url is None:
        return None
    image = {"url": url}
    if part.detail:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def _audio(part: Media, draft: Draft) -> dict[str, Any] | None:
    if part.data is None:
        return None
    subtype = (part.media_type or "audio/wav").partition(";")[0].rpartition("/")[2]
    word = _AUDIO_FORMATS.get(subtype, subtype)
    return {"type": "input_audio", "input_audio": {"data": part.data, "format": word}}


def _video(part: Media, draft: Draft) -> dict[str, Any] | None:
    url = _address(part, "video/mp4")
    if url is None or not draft.switches.video:
        return None
    return {"type": "video_url", "video_url": {"url": url}}


def _document(part: Media, draft: Draft) -> dict[str, Any] | None:
    if part.text is not None:
        return {"type": "text", "text": f"{part.name}\n\n{part.text}" if part.name else part.text}
    if part.file_id is not None:
        return _stored(part, draft)
    style = draft.switches.documents
    url = _address(part, "application/pdf")
    if url is None or style == "none":
        return None
    if style == "document_url":
        named = {"document_name": part.name} if part.name else {}
        return {"type": "document_url", "document_url": url, **named}
    if style == "file_url":
        named = {"file_name": part.name} if part.name else {}
        return {"type": "file_url", "file_url": {"url": part.data or url}, **named}
    if part.data is None and style != "file_or_url":
        return None
    name = part.name or _NAMES.get(part.media_type or "application/pdf", "document")
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _stored(part: Media, draft: Draft) -> dict[str, Any] | None:
    if not draft.can_open(part.origin):
        return None
    file = {"file_id": part.file_id}
    if part.name:
        file["filename"] = part.name
    return {"type": "file", "file": file}


_MEDIA = {"image": _image, "audio": _audio, "video": _video, "document": _document}


def has_media(parts: Sequence[AnyPart]) -> bool:
    return any(isinstance(part, Media) for part in parts)
