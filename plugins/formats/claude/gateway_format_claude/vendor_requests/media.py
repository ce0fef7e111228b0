"""Writes images and documents as content blocks.

https://docs.anthropic.com/en/docs/build-with-claude/vision and
https://docs.anthropic.com/en/docs/build-with-claude/pdf-support
"""

import base64

from msgspec.structs import replace

from gateway_core import Losses, Media, PartUnsupported, readable_by

from .._dialect import DIALECT

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
"""How the base64 of each kind of file begins."""


def write_media(media: Media, provider: str, losses: Losses) -> dict[str, object] | None:
    """The block without its cache breakpoint and extra members; ``None`` for an empty document.

    Raises PartUnsupported where the vendor cannot take the medium.
    """
    if media.kind == "document" and media.text == "":
        losses.add(media.kind)
        return None
    if media.url is not None and media.url.startswith("data:"):
        # The vendor takes only addresses that it fetches itself, so this goes by value.
        head, comma, data = media.url[5:].partition(",")
        media_type, _, encoding = head.rpartition(";")
        if comma and encoding == "base64":
            media = replace(media, url=None, data=data, media_type=media_type or media.media_type)
    if media.kind not in ("image", "document"):
        raise PartUnsupported(media.kind)
    if media.detail in ("low", "high"):
        losses.add("detail")
    source = _build_source(media, provider)
    if source is None:
        raise PartUnsupported(media.kind)
    block: dict[str, object] = {"type": media.kind, "source": source}
    if media.kind == "document" and media.name is not None:
        block["title"] = media.name
    return block


def _build_source(media: Media, provider: str) -> dict[str, object] | None:
    if media.text is not None:
        return _text_source(media.text) if media.kind == "document" else None
    if media.data is not None and media.kind == "image":
        # The vendor refuses an image whose bytes are not what its type says; clients often guess.
        seen = (kind for start, kind in _BEGINNINGS.items() if media.data.startswith(start))
        image_type = next(seen, media.media_type)
        if image_type not in _IMAGE_TYPES:
            return None
        return {"type": "base64", "media_type": image_type, "data": media.data}
    if media.data is not None:
        kind = (media.media_type or "application/pdf").partition(";")[0].strip().lower()
        if kind == "application/pdf":
            return {"type": "base64", "media_type": kind, "data": media.data}
        if kind.startswith("text/") or kind in ("application/json", "application/xml"):
            try:
                text = base64.b64decode(media.data, validate=True).decode()
            except ValueError:  # not base64, or not text
                return None
            # By value the vendor takes PDF only; other documents go as plain text.
            return _text_source(text) if text else None
        return None
    if media.url is not None:
        is_web = media.url.startswith(("https://", "http://"))
        return {"type": "url", "url": media.url} if is_web else None
    if media.file_id is not None and readable_by(media.origin, provider, DIALECT):
        return {"type": "file", "file_id": media.file_id}
    return None


def _text_source(text: str) -> dict[str, object]:
    return {"type": "text", "media_type": "text/plain", "data": text}
