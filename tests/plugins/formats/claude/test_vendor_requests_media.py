"""Pictures and files in requests to this vendor."""

import base64
from typing import Any

import pytest
from claude_conversations import PNG, Tell, asking
from msgspec import Raw

from gateway_core import AnyPart, Conversation, Foreign, Media, PartUnsupported, Text, Turn


def blocks(*parts: AnyPart) -> Conversation:
    return asking(Text(text="first"), *parts)


MEDIA: list[tuple[str, Media, Any]] = [
    (
        "a png",
        Media(kind="image", media_type="image/png", data=PNG),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "a png that is called a jpeg",
        Media(kind="image", media_type="image/jpeg", data=PNG),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "an image in a data address",
        Media(kind="image", url=f"data:image/png;base64,{PNG}"),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "an image by address",
        Media(kind="image", url="https://a/b.png", detail="auto"),
        {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
    ),
    (
        "an image of this vendor's store",
        Media(kind="image", file_id="f", origin="anthropic"),
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
    ),
    (
        "a pdf",
        Media(kind="document", media_type="application/pdf", data="QUJD", name="a.pdf"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
            "title": "a.pdf",
        },
    ),
    (
        "a text file",
        Media(
            kind="document",
            media_type="text/csv; charset=utf-8",
            data=base64.b64encode(b"a,b").decode(),
        ),
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
        },
    ),
    (
        "a document by address",
        Media(kind="document", url="https://a/b.pdf"),
        {"type": "document", "source": {"type": "url", "url": "https://a/b.pdf"}},
    ),
]


@pytest.mark.parametrize(("media", "block"), [m[1:] for m in MEDIA], ids=[m[0] for m in MEDIA])
def test_media(tell: Tell, media: Media, block: Any) -> None:
    written, losses = tell(blocks(media))

    assert written["messages"][0]["content"][1] == block
    assert losses == []


REFUSED: list[tuple[str, Media]] = [
    ("sound", Media(kind="audio", data="QUJD")),
    ("film", Media(kind="video", url="https://a")),
    ("an odd image", Media(kind="image", media_type="image/heic", data="QUJD")),
    ("an image elsewhere", Media(kind="image", url="gs://a/b")),
    ("another's file", Media(kind="image", file_id="f", origin="openai")),
    ("an office file", Media(kind="document", media_type="application/zip", data="QQ==")),
    ("broken text", Media(kind="document", media_type="text/plain", data="?")),
    ("bare text", Media(kind="document", media_type="text/plain", data="é")),
]


@pytest.mark.parametrize("media", [m[1] for m in REFUSED], ids=[m[0] for m in REFUSED])
def test_media_that_cannot_be_sent_are_refused(tell: Tell, media: Media) -> None:
    with pytest.raises(PartUnsupported, match=f"'{media.kind}' cannot be sent"):
        tell(blocks(media))


def test_an_empty_document_and_anothers_part_are_recorded(tell: Tell) -> None:
    other = Foreign(dialect="gemini", type="x", raw=Raw(b"{}"))

    written, lost = tell(blocks(Media(kind="document", text=""), other))

    assert written["messages"] == [{"role": "user", "content": "first"}]
    assert lost == ["document", "part:x"]


def test_an_images_detail_is_recorded_and_the_image_sent(tell: Tell) -> None:
    written, losses = tell(blocks(Media(kind="image", url="https://a", detail="high")))

    assert written["messages"][0]["content"][1]["type"] == "image"
    assert losses == ["detail"]


def test_the_assistant_shows_nothing_on_this_wire(tell: Tell) -> None:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (Text(text="a"), Media(kind="image", data=PNG))),
        Turn("user", (Text(text="r"),)),
    )

    written, losses = tell(asking(turns=turns))

    assert written["messages"][1] == {"role": "assistant", "content": "a"}
    assert losses == ["image"]
