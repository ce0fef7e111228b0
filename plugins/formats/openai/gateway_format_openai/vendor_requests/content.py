"""Parts written as the content of a message, as the vendor takes it.

The content parts: https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from gateway_core import AnyPart, Foreign, Media, PartUnsupported, Reasoning, Refusal, Text

from .._members import DIALECT, merge
from .draft import Draft

Piece = dict[str, Any] | Raw
Content = str | list[Piece]

_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "x-m4a": "m4a"}
_NAMES = {"application/pdf": "document.pdf", "text/plain": "document.txt"}


def write_content(parts: Iterable[AnyPart], draft: Draft, separator: str = "\n\n") -> Content:
    """One string where there is nothing but plain text, since every vendor takes that."""
    pieces = [piece for part in parts if (piece := _write_piece(part, draft)) is not None]
    texts: list[str | None] = [
        piece["text"]
        if isinstance(piece, dict) and len(piece) == 2 and piece["type"] == "text"
        else None
        for piece in pieces
    ]
    if None not in texts:
        return separator.join(text for text in texts if text)
    return [piece for piece, text in zip(pieces, texts, strict=True) if text != ""]


def _write_piece(part: AnyPart, draft: Draft) -> Piece | None:
    """A part that can stand in a content list; ``None``, noted as lost, for any other.

    Raises PartUnsupported for a medium that this vendor does not take.
    """
    piece: dict[str, Any] | None = None
    match part:
        case Foreign():
            if part.dialect == DIALECT:
                return part.raw
            draft.losses.add(f"part:{part.type}")
        case Text() | Refusal():
            if isinstance(part, Text) and part.citations:
                draft.losses.add("citations")
            piece = {"type": "text", "text": part.text}
        case Reasoning():
            # Magistral models want earlier thinking among the content, as a list of texts:
            # https://docs.mistral.ai/capabilities/reasoning
            piece = {"type": "thinking", "thinking": [{"type": "text", "text": part.text}]}
        case Media():
            piece = _write_media(part, draft)
            if piece is None:
                raise PartUnsupported(part.kind)
        case _:
            pass
    if piece is None or isinstance(part, Foreign):
        return None
    extra = draft.extras(part.extra)
    if extra:
        merge(piece, extra)
    cache = draft.cache(part.cache)
    if cache is not None:
        piece["cache_control"] = cache
    return piece


def _write_media(part: Media, draft: Draft) -> dict[str, Any] | None:
    match part.kind:
        case "image":
            url = _address(part, "image/png")
            if url is None:
                return None
            detail = {"detail": part.detail} if part.detail else {}
            return {"type": "image_url", "image_url": {"url": url, **detail}}
        case "audio":
            if draft.own and part.media_type is None:
                # A vendor of this dialect takes an address or plain base64 as they are.
                # https://docs.mistral.ai/capabilities/audio
                return {"type": "input_audio", "input_audio": part.data or part.url}
            if part.data is None:
                return None
            subtype = (part.media_type or "audio/wav").partition(";")[0].rpartition("/")[2]
            word = _AUDIO_FORMATS.get(subtype, subtype)
            return {"type": "input_audio", "input_audio": {"data": part.data, "format": word}}
        case "video":
            url = _address(part, "video/mp4")
            if url is None or not draft.switches.video:
                return None
            return {"type": "video_url", "video_url": {"url": url}}
        case "document":
            if part.text is not None:
                return {
                    "type": "text",
                    "text": f"{part.name}\n\n{part.text}" if part.name else part.text,
                }
            if part.file_id is not None:
                if not draft.can_open(part.origin):
                    return None
                named = {"filename": part.name} if part.name else {}
                return {"type": "file", "file": {"file_id": part.file_id, **named}}
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
            # file_data is refused without a filename:
            # https://platform.openai.com/docs/guides/pdf-files
            name = part.name or _NAMES.get(part.media_type or "application/pdf", "document")
            return {"type": "file", "file": {"filename": name, "file_data": url}}


def _address(part: Media, default_type: str) -> str | None:
    if part.data is not None:
        return f"data:{part.media_type or default_type};base64,{part.data}"
    return part.url
