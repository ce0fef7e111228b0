"""Reads a client's images and documents: by value, by address, by file id, or as plain text."""

from msgspec import Raw

from gateway_core import Media

from .._dialect import DIALECT
from .members import Members, is_text, read_blocks, read_members, read_text

OWN_FILES = f"~{DIALECT}"


def read_image(source: Members) -> Media | None:
    """``None`` for a source of an unknown kind."""
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
            # The Files API, a beta: https://docs.anthropic.com/en/docs/build-with-claude/files
            return Media(kind="image", file_id=source.needed_text("file_id"), origin=OWN_FILES)
    return None


def read_document(source: Members, whole: Raw) -> Media | None:
    """``None`` for a source that has no neutral form; ``whole`` is the source's own JSON."""
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
            content = source.needed("content", source.take("content"))
            text = join_texts(content, source.path("content"))
            if text is None:
                return None
            # Other dialects get the text, this one its own blocks back.
            extra = {"source": whole}
            return Media(kind="document", media_type="text/plain", text=text, extra=extra)
    return None


def join_texts(content: Raw, where: str) -> str | None:
    """The text of a string or of text blocks; ``None`` when there is another block among them."""
    if is_text(content):
        return read_text(content, where)
    texts: list[str] = []
    for index, item in enumerate(read_blocks(content, where)):
        block = read_members(item, f"{where}.{index}")
        if block.text("type") != "text":
            return None
        texts.append(block.needed_text("text"))
    return "\n\n".join(texts)
