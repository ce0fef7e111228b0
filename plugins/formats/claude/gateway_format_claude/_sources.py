"""Images and documents, both ways: by value, by address, by file id, or as plain text."""

import base64

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Losses, Media, readable_by

from ._dialect import DIALECT, Extra
from ._members import Members, is_text, members, whole_list, whole_text

OWN_FILES = f"~{DIALECT}"
SEARCH_RESULT = "search_result"
"""A block of this type is a text document to the hub; ``extra`` keeps it under this name."""

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}


def read_image(source: Members) -> Media | None:
    """``None`` for a source of a kind that is not known."""
    match source.needed_text("type"):
        case "base64":
            return Media(
                kind="image",
                media_type=source.needed_text("media_type"),
                data=source.needed_text("data"),
            )
        case "url":
            return Media(kind="image", url=source.needed_text("url"))
        case "file":
            return Media(kind="image", file_id=source.needed_text("file_id"), origin=OWN_FILES)
    return None


def read_document(source: Members, whole: Raw) -> Media | None:
    """``None`` for a source that has no neutral form; ``whole`` is the source's own text."""
    match source.needed_text("type"):
        case "base64":
            return Media(
                kind="document",
                media_type=source.text("media_type") or "application/pdf",
                data=source.needed_text("data"),
            )
        case "text":
            return Media(
                kind="document",
                media_type=source.text("media_type") or "text/plain",
                text=source.needed_text("data"),
            )
        case "url":
            return Media(kind="document", url=source.needed_text("url"))
        case "file":
            return Media(kind="document", file_id=source.needed_text("file_id"), origin=OWN_FILES)
        case "content":
            return _of_content(source, whole)
    return None


def _of_content(source: Members, whole: Raw) -> Media | None:
    """A document made of blocks: its text for others, the blocks for this dialect."""
    content = source.needed("content", source.take("content"))
    text = source_text(content, source.path("content"))
    if text is None:
        return None
    return Media(kind="document", media_type="text/plain", text=text, extra={"source": whole})


def source_text(content: Raw, where: str) -> str | None:
    """The text of a string or of text blocks; ``None`` when there is anything else in it."""
    if is_text(content):
        return whole_text(content, where)
    texts: list[str] = []
    for index, item in enumerate(whole_list(content, where)):
        block = members(item, f"{where}.{index}")
        if block.text("type") != "text":
            return None
        texts.append(block.needed_text("text"))
    return "\n\n".join(texts)


def written_media(media: Media, provider: str, losses: Losses) -> dict[str, object] | None:
    """The block without its cache marker and extra members, or ``None`` with the loss recorded."""
    media = _without_data_url(media)
    if media.kind not in ("image", "document"):
        losses.add(media.kind)
        return None
    if media.detail in ("low", "high"):
        losses.add("detail")
    source = _source(media, provider)
    if source is None:
        losses.add("file_id" if media.file_id is not None else media.kind)
        return None
    block: dict[str, object] = {"type": media.kind, "source": source}
    if media.kind == "document" and media.name is not None:
        block["title"] = media.name
    return block


def _source(media: Media, provider: str) -> dict[str, object] | None:
    if media.text is not None:
        return _plain(media.text) if media.kind == "document" and media.text else None
    if media.data is not None:
        return _image(media) if media.kind == "image" else _document(media, media.data)
    if media.url is not None:
        fits = media.url.startswith(("https://", "http://"))
        return {"type": "url", "url": media.url} if fits else None
    if media.file_id is not None and readable_by(media.origin, provider, DIALECT):
        return {"type": "file", "file_id": media.file_id}
    return None


def _image(media: Media) -> dict[str, object] | None:
    data = media.data or ""
    # The vendor refuses an image whose bytes are not what its type says; clients often guess.
    seen = next((t for start, t in _BEGINNINGS.items() if data.startswith(start)), media.media_type)
    if seen not in _IMAGE_TYPES:
        return None
    return {"type": "base64", "media_type": seen, "data": data}


def _document(media: Media, data: str) -> dict[str, object] | None:
    kind = (media.media_type or "application/pdf").partition(";")[0].strip().lower()
    if kind == "application/pdf":
        return {"type": "base64", "media_type": kind, "data": data}
    if kind.startswith("text/") or kind in ("application/json", "application/xml"):
        try:
            text = base64.b64decode(data, validate=True).decode()
        except ValueError:  # no base64, or no text
            return None
        return _plain(text) if text else None
    return None


def _plain(text: str) -> dict[str, object]:
    return {"type": "text", "media_type": "text/plain", "data": text}


def _without_data_url(media: Media) -> Media:
    if media.url is None or not media.url.startswith("data:"):
        return media
    head, comma, data = media.url[5:].partition(",")
    kind, _, encoding = head.rpartition(";")
    if not comma or encoding != "base64":
        return media
    return replace(media, url=None, data=data, media_type=kind or media.media_type)


def kept_block(extra: Extra) -> Raw | None:
    """The whole block that :func:`read_document` could only approximate, if there is one."""
    return extra.get(SEARCH_RESULT)
