"""Any conversation's turns as the contents the vendor takes."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import (
    BadRequest,
    Conversation,
    Losses,
    Media,
    PartUnsupported,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Write = Callable[..., dict[str, Any]]


NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"


HELLO = Turn("user", (Text(text="Hello"),))


def chat(*turns: Turn, dialect: str = "openai", **more: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), dialect=dialect, **more)


def reported(
    write: Write, conversation: Conversation, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    return write(conversation, losses, **more), list(losses.names)


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def user(*parts: Any) -> Turn:
    return Turn("user", parts)


def test_roles_take_turns_and_results_follow_their_calls(write: Write) -> None:
    body, lost = reported(
        write,
        chat(
            HELLO,
            user(Text(text="again")),
            assistant(Text(text="let me see")),
            assistant(ToolCall(id="1", name="f", arguments='{"q":"x"}')),
            Turn("system", (Text(text="Be kind."),)),
            user(ToolResult(call_id="1", content=(Text(text="found"),))),
            user(Text(text="well?")),
        ),
    )

    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "Hello"}, {"text": "again"}]},
        {
            "role": "model",
            "parts": [
                {"text": "let me see"},
                {"functionCall": {"id": "1", "name": "f", "args": {"q": "x"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "1", "name": "f", "response": {"result": "found"}}},
                {"text": "Be kind."},
                {"text": "well?"},
            ],
        },
    ]
    assert lost == ["system_turn"]


def test_empty_parts_are_never_sent(write: Write) -> None:
    body, _ = reported(
        write,
        chat(HELLO, assistant(Text(text="")), user(Text(text=""), Text(text="b")), assistant()),
    )

    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hello"}, {"text": "b"}]}]


def test_the_user_speaks_first(write: Write) -> None:
    body, _ = reported(write, chat(assistant(Text(text="Hi, I am a bot.")), HELLO))

    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert body["contents"][0]["parts"] == [{"text": " "}]


def test_instructions_alone_are_what_the_user_says(write: Write) -> None:
    alone = Conversation(instructions=(Text(text="Tell a joke."),), dialect="openai")

    body, _ = reported(write, alone)

    assert body == {"contents": [{"role": "user", "parts": [{"text": "Tell a joke."}]}]}


def test_a_conversation_without_anything_to_send_is_a_bad_request(write: Write) -> None:
    with pytest.raises(BadRequest, match="holds nothing"):
        write(chat(assistant(Text(text=""))))


@pytest.mark.parametrize(
    ("model", "options"), [("gemma-3-27b-it", {}), (OLD, {"system_instruction": False})]
)
def test_a_model_without_instructions_is_told_them_by_the_user(
    write: Write, model: str, options: Any
) -> None:
    received = chat(instructions=(Text(text="Be brief."),))

    body, _ = reported(write, received, model=model, options=options)

    assert "systemInstruction" not in body
    assert body["contents"][0]["parts"] == [{"text": "Be brief."}, {"text": "Hello"}]
    plain, _ = reported(write, received)
    assert plain["systemInstruction"] == {"parts": [{"text": "Be brief."}]}


@pytest.mark.parametrize(
    ("content", "failed", "response"),
    [
        ("sunny", False, {"result": "sunny"}),
        ('{"sky": "blue"}', False, {"sky": "blue"}),
        ('[1, {"a": 2}]', False, {"result": [1, {"a": 2}]}),
        ('{"error": "x"}', False, {"result": {"error": "x"}}),
        ("{broken", False, {"result": "{broken"}),
        ("42", False, {"result": "42"}),
        ("", False, {"result": ""}),
        ("boom", True, {"error": "boom"}),
        ('{"code": 1}', True, {"error": {"code": 1}}),
    ],
)
def test_a_tool_s_answer_becomes_an_object(
    write: Write, content: str, failed: bool, response: Any
) -> None:
    result = ToolResult(call_id="1", name="f", content=(Text(text=content),), failed=failed)

    body, _ = reported(write, chat(HELLO, assistant(ToolCall(id="1", name="f")), user(result)))

    [part] = body["contents"][2]["parts"]
    assert part["functionResponse"]["response"] == response


PICTURE = Media(kind="image", media_type="image/png", data="AAAA")


SOUND = Media(kind="audio", media_type="audio/wav", data="AAAA")


def test_pictures_of_a_tool_are_in_its_answer_where_the_model_takes_them(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="1", name="f", signature="s", origin="google")),
        user(
            ToolResult(call_id="1", content=(Text(text="see"), PICTURE, SOUND)), Text(text="what?")
        ),
    )
    blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    sound = {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}

    new, _ = reported(write, chat(*turns), model=NEW)
    old, _ = reported(write, chat(*turns), model=OLD)

    answer = {"id": "1", "name": "f", "response": {"result": "see"}}
    assert new["contents"][2]["parts"] == [
        {"functionResponse": {**answer, "parts": [blob]}},
        sound,
        {"text": "what?"},
    ]
    assert old["contents"][2]["parts"] == [
        {"functionResponse": answer},
        blob,
        sound,
        {"text": "what?"},
    ]


def test_a_result_bears_the_name_of_its_call(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="1", name="right", signature="s", origin="google")),
        user(
            ToolResult(call_id="1", name="wrong"),
            ToolResult(call_id="2", name="orphan"),
            ToolResult(call_id="3"),
        ),
    )

    body, _ = reported(write, chat(*turns, dialect="gemini"))

    names = [part["functionResponse"]["name"] for part in body["contents"][2]["parts"]]
    assert names == ["right", "orphan", "3"]


def test_every_call_is_answered_and_every_answer_has_a_call(write: Write) -> None:
    turns = (
        HELLO,
        user(ToolResult(call_id="9", name="gone", content=(Text(text="late"),))),
        user(ToolResult(call_id="8")),
        assistant(ToolCall(id="1", name="f"), ToolCall(id="2", name="g")),
        user(Text(text="wait")),
        user(ToolResult(call_id="1", content=(Text(text="one"),)), Text(text="go on")),
    )

    body, lost = reported(write, chat(*turns))

    assert body["contents"][0]["parts"][1:] == [
        {"text": "Result of gone:"},
        {"text": "late"},
        {"text": "Result of 8:"},
    ]
    assert body["contents"][2]["parts"] == [
        {"functionResponse": {"id": "1", "name": "f", "response": {"result": "one"}}},
        {
            "functionResponse": {
                "id": "2",
                "name": "g",
                "response": {"error": "This call was never answered."},
            }
        },
        {"text": "wait"},
        {"text": "go on"},
    ]
    assert lost == []


def test_without_ids_results_stand_in_the_order_of_their_calls(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="a", name="f"), ToolCall(id="b", name="f")),
        user(
            ToolResult(call_id="b", content=(Text(text="second"),)),
            ToolResult(call_id="a", content=(Text(text="first"),)),
        ),
    )

    body, _ = reported(write, chat(*turns), options={"call_ids": False})

    assert [part["functionResponse"] for part in body["contents"][2]["parts"]] == [
        {"name": "f", "response": {"result": "first"}},
        {"name": "f", "response": {"result": "second"}},
    ]
    assert body["contents"][1]["parts"][0] == {"functionCall": {"name": "f", "args": {}}}


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (ToolCall(id="1", name="f", arguments=""), {}),
        (ToolCall(id="1", name="f", arguments=' {"a": 1} '), {"a": 1}),
        (ToolCall(id="1", name="f", arguments="[1]"), {"input": "[1]"}),
        (ToolCall(id="1", name="f", arguments='{"a": '), {"input": '{"a": '}),
        (ToolCall(id="1", name="f", arguments="{}", custom=True), {"input": "{}"}),
    ],
)
def test_arguments_are_always_an_object(write: Write, call: ToolCall, args: Any) -> None:
    body, _ = reported(write, chat(HELLO, assistant(call)))

    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == args


@pytest.mark.parametrize(
    ("media", "part"),
    [
        (PICTURE, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        (
            Media(kind="image", data="iVBORw0KGgoAAA"),
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAA"}},
        ),
        (
            Media(kind="document", data="AAAA"),
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
        ),
        (
            Media(kind="image", url="data:image/webp;base64,AAAA"),
            {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}},
        ),
        (
            Media(kind="document", url="data:text/plain,a%20b"),
            {"inlineData": {"mimeType": "text/plain", "data": "YSBi"}},
        ),
        (
            Media(kind="image", url="https://example.com/a.gif"),
            {"fileData": {"mimeType": "image/gif", "fileUri": "https://example.com/a.gif"}},
        ),
        (
            Media(kind="image", url="https://example.com/a"),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a"}},
        ),
        (
            Media(kind="video", url="https://www.youtube.com/watch?v=x"),
            {"fileData": {"fileUri": "https://www.youtube.com/watch?v=x"}},
        ),
        (
            Media(kind="document", text="plain"),
            {
                "inlineData": {
                    "mimeType": "text/plain",
                    "data": base64.b64encode(b"plain").decode(),
                }
            },
        ),
        (
            Media(kind="image", file_id="files/x", origin="google"),
            {"fileData": {"fileUri": "files/x"}},
        ),
    ],
)
def test_media_by_value_by_address_and_by_id(write: Write, media: Media, part: Any) -> None:
    body, lost = reported(write, chat(user(media)))

    assert body["contents"][0]["parts"] == [part]
    assert lost == []


def test_a_file_of_another_vendor_is_refused(write: Write) -> None:
    file = Media(kind="document", file_id="file-1", origin="openai")

    with pytest.raises(PartUnsupported, match="'document' cannot be sent"):
        reported(write, chat(user(Text(text="a"), file)))
