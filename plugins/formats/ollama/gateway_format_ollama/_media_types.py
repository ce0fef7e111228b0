"""Telling an image's type from its first bytes, since this dialect never names it."""

# The magic bytes of each type, as base64 begins them.
_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "Qk0": "image/bmp",
    "SUkqA": "image/tiff",
    "TU0AK": "image/tiff",
}
_RIFF, _WEBP = "UklGR", "XRUJQ"
"""``RIFF`` at byte 0 and ``WEBP`` at byte 8, which base64 puts at its twelfth letter."""


def media_type_of(data: str) -> str | None:
    """The media type of base64 image data, where its first bytes tell."""
    for beginning, media_type in _BEGINNINGS.items():
        if data.startswith(beginning):
            return media_type
    return "image/webp" if data.startswith(_RIFF) and data[11:16] == _WEBP else None


def split_data_url(text: str) -> tuple[str | None, str]:
    """The media type, where named, and the base64 data, of plain data or a data URL."""
    if not text.startswith("data:"):
        return None, text
    head, _, data = text.partition(",")
    return head[5:].partition(";")[0] or None, data
