"""Parts of any origin, written as content for a vendor, and what gets lost on the way."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Foreign,
    Media,
    PartUnsupported,
    Sampling,
    Target,
    Text,
    Tool,
    ToolCall,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]

Aim = Callable[..., Target]

HI = Turn("user", (Text(text="hi"),))


def talk(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HI,), **members)


def user(*parts: Any) -> Conversation:
    return talk(Turn("user", parts))


def test_extra_members_go_back_to_their_own_dialect_only(tell: Tell) -> None:
    extra = {"metadata": Raw(b'{"a":1}'), "temperature": Raw(b"9"), "x_y": Raw(b"1.50")}
    turn = Turn("user", (Text(text="hi", extra={"p": Raw(b"1")}),), extra={"t": Raw(b"2")})
    tool = Tool(name="f", extra={"o": Raw(b"3"), "function": Raw(b'{"deep":4}')})
    conversation = talk(
        turn, tools=(tool,), sampling=Sampling(temperature=1.0), extra=extra, dialect="openai"
    )

    body, lost = tell(conversation)

    assert (body["metadata"], body["temperature"], body["x_y"]) == ({"a": 1}, 1.0, 1.5)
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "p": 1}], "t": 2}
    ]
    assert body["tools"][0]["function"]["deep"] == 4
    assert body["tools"][0]["o"] == 3
    assert lost == []


def test_extra_members_of_another_dialect_are_named_as_lost(tell: Tell) -> None:
    part = Text(text="hi", extra={"p": Raw(b"1")})
    conversation = talk(
        Turn("user", (part,), extra={"t": Raw(b"2")}),
        Turn("assistant", (ToolCall(id="a", name="f", extra={"c": Raw(b"0")}),)),
        tools=(Tool(name="f", extra={"o": Raw(b"3")}),),
        extra={"metadata": Raw(b'{"a":1}')},
        dialect="claude",
    )

    body, lost = tell(conversation)

    assert "metadata" not in body
    assert body["messages"][0] == {"role": "user", "content": "hi"}
    assert lost == ["p", "t", "tool_calls.c", "tools.o", "metadata"]


def test_plain_texts_of_one_turn_are_one_string(tell: Tell) -> None:
    body, _ = tell(user(Text(text="a"), Text(text=""), Text(text="b")))

    assert body["messages"][0]["content"] == "a\n\nb"


def test_a_cache_breakpoint_is_written_where_the_vendor_takes_one(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        Turn("user", (Text(text="a", cache="1h"), Text(text="b", cache="5m"))),
        instructions=(Text(text="i", cache="5m"),),
        tools=(Tool(name="f", cache="5m"),),
    )

    plain, lost = tell(conversation)
    rich, nothing = tell(conversation, aim(cache_control=True))

    assert plain["messages"][1]["content"] == "a\n\nb"
    assert lost == ["cache_control"]
    assert rich["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert rich["messages"][1]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert rich["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert nothing == []


@pytest.mark.parametrize(
    ("media", "options", "piece"),
    [
        (
            Media(kind="image", data="AA==", media_type="image/webp", detail="low"),
            {},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/webp;base64,AA==", "detail": "low"},
            },
        ),
        (
            Media(kind="image", url="https://x/y"),
            {},
            {"type": "image_url", "image_url": {"url": "https://x/y"}},
        ),
        (
            Media(kind="audio", data="AA==", media_type="audio/mpeg"),
            {},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
        (
            Media(kind="video", url="https://x/y"),
            {"video": True},
            {"type": "video_url", "video_url": {"url": "https://x/y"}},
        ),
        (
            Media(kind="document", data="AA==", media_type="application/pdf"),
            {},
            {
                "type": "file",
                "file": {
                    "filename": "document.pdf",
                    "file_data": "data:application/pdf;base64,AA==",
                },
            },
        ),
        (
            Media(kind="document", url="https://x/a.pdf", name="a.pdf"),
            {"documents": "file_or_url"},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x/a.pdf"}},
        ),
        (
            Media(kind="document", url="https://x/a.pdf", name="a"),
            {"documents": "document_url"},
            {"type": "document_url", "document_url": "https://x/a.pdf", "document_name": "a"},
        ),
        (
            Media(kind="document", data="AA==", name="a"),
            {"documents": "file_url"},
            {"type": "file_url", "file_url": {"url": "AA=="}, "file_name": "a"},
        ),
        (
            Media(kind="document", file_id="f1", name="a", origin="acme"),
            {},
            {"type": "file", "file": {"file_id": "f1", "filename": "a"}},
        ),
    ],
)
def test_media_are_written_as_the_vendor_takes_them(
    tell: Tell, aim: Aim, media: Media, options: dict[str, Any], piece: dict[str, Any]
) -> None:
    body, lost = tell(user(media, Text(text="?")), aim(**options))

    assert body["messages"][0]["content"] == [piece, {"type": "text", "text": "?"}]
    assert lost == []


@pytest.mark.parametrize(
    ("media", "options"),
    [
        (Media(kind="audio", url="https://x/y"), {}),
        (Media(kind="video", url="https://x/y"), {}),
        (Media(kind="document", url="https://x/y"), {}),
        (Media(kind="document", data="AA=="), {"documents": "none"}),
        (Media(kind="image", file_id="f", origin="other"), {}),
        (Media(kind="document", file_id="f", origin="other"), {}),
    ],
)
def test_media_without_a_way_are_refused(
    tell: Tell, aim: Aim, media: Media, options: dict[str, Any]
) -> None:
    with pytest.raises(PartUnsupported, match=f"'{media.kind}' cannot be sent"):
        tell(user(media, Text(text="?")), aim(**options))


def test_a_document_of_text_is_text(tell: Tell) -> None:
    body, lost = tell(user(Media(kind="document", text="words", name="a.txt"), Text(text="?")))

    assert body["messages"][0]["content"] == "a.txt\n\nwords\n\n?"
    assert lost == []


def test_foreign_parts_are_carried_only_at_home(tell: Tell) -> None:
    own = Foreign(dialect="openai", type="hologram", raw=Raw(b'{"type":"hologram"}'))
    other = Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}"))

    body, lost = tell(user(own, other, Text(text="?")))

    assert body["messages"][0]["content"] == [
        {"type": "hologram"},
        {"type": "text", "text": "?"},
    ]
    assert lost == ["part:server_tool_use"]


def test_a_turn_of_which_nothing_is_left_is_refused(tell: Tell) -> None:
    gone = Turn("user", (Foreign(dialect="claude", type="container_upload", raw=Raw(b"{}")),))

    with pytest.raises(PartUnsupported, match="'container_upload' cannot be sent"):
        tell(talk(gone, HI))


def test_an_answer_of_which_nothing_is_left_is_left_out(tell: Tell) -> None:
    search = Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}"))

    body, lost = tell(talk(HI, Turn("assistant", (search,)), HI))

    assert len(body["messages"]) == 2
    assert lost == ["part:server_tool_use"]


def test_a_conversation_of_which_nothing_is_left_is_refused(tell: Tell) -> None:
    with pytest.raises(BadRequest):
        tell(user(Media(kind="video", url="https://x")))


def test_a_clients_own_empty_message_is_kept(tell: Tell) -> None:
    body, _ = tell(talk(Turn("user", ()), Turn("assistant", ())))

    assert body["messages"] == [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
    ]
