"""The hub's pictures, sounds, films and documents as blocks.

Converse takes bytes, or an object in the vendor's own store; it fetches no
address of the web.
"""

import base64
import re
from typing import Any

from gateway_core import Losses, Media, PartUnsupported

Block = dict[str, Any]

_FORMATS = {
    "image": frozenset(("png", "jpeg", "gif", "webp")),
    "audio": frozenset(("mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "m4a", "pcm", "webm")),
    "video": frozenset(("mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp")),
    "document": frozenset(("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")),
}
"""The vendor's words, which are mostly the second half of a media type, or a file's ending."""
_ALIASES = {
    "image": {"jpg": "jpeg"},
    "audio": {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "x-flac": "flac", "x-m4a": "m4a"},
    "video": {
        "quicktime": "mov",
        "x-matroska": "mkv",
        "x-flv": "flv",
        "x-ms-wmv": "wmv",
        "3gpp": "three_gp",
    },
    "document": {
        "msword": "doc",
        "vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "vnd.ms-excel": "xls",
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "markdown": "md",
        "plain": "txt",
    },
}
_BEGINNINGS = {"iVBORw0KGgo": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}
"""How images begin in base64, for one without a media type."""
_S3 = "s3://"
_UNFIT = re.compile(r"[^A-Za-z0-9\-()\[\]]+")
_LONGEST_NAME = 180


class MediaWriter:
    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._names: set[str] = set()

    def write(self, part: Media) -> list[Block]:
        """One block; none for an empty document. Raises PartUnsupported for media that Converse
        cannot take."""
        if part.kind == "document" and part.text == "":
            self._losses.add(part.kind)
            return []
        if part.detail is not None:
            self._losses.add("detail")
        source: Block | None = None
        if part.data is not None:
            source = {"bytes": part.data}
        elif part.text is not None and part.kind == "document":
            source = {"bytes": base64.b64encode(part.text.encode()).decode()}
        # The service fetches from S3 only: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageSource.html
        elif part.url is not None and part.url.startswith(_S3):
            source = {"s3Location": {"uri": part.url}}
        form = _format(part)
        if source is None or form is None:
            raise PartUnsupported(part.kind)
        block: Block = {"format": form, "source": source}
        if part.kind == "document":
            # The name's alphabet: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
            plain = _UNFIT.sub(" ", part.name or "document").strip()[:_LONGEST_NAME].strip()
            unique, count = plain or "document", 2
            # Names must differ within a conversation.
            while unique in self._names:
                unique, count = f"{plain or 'document'} ({count})", count + 1
            self._names.add(unique)
            block["name"] = unique
        return [{part.kind: block}]


def _format(part: Media) -> str | None:
    """The vendor's word for a type: from the media type, the name, the address or the bytes."""
    if part.media_type is not None:
        kind, _, rest = part.media_type.partition(";")[0].lower().partition("/")
        is_text = part.kind == "document" and (kind == "text" or part.text is not None)
        return _word(part.kind, rest.strip()) or ("txt" if is_text else None)
    for named in (part.name, part.url):
        ending = (named or "").rpartition(".")[2].lower()
        if word := _word(part.kind, ending):
            return word
    if part.kind == "image":
        data = part.data or ""
        return next((form for head, form in _BEGINNINGS.items() if data.startswith(head)), None)
    return "txt" if part.text is not None else None


def _word(kind: str, name: str) -> str | None:
    word = _ALIASES[kind].get(name, name)
    return word if word in _FORMATS[kind] else None
