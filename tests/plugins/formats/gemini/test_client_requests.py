"""What a client may say, turn by turn, and what the hub makes of it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gateway_core import (
    BadRequest,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Read = Callable[..., Conversation]


HELLO = [{"role": "user", "parts": [{"text": "Hello"}]}]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def result(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def test_the_path_names_the_model_and_the_way_of_answering(read: Read) -> None:
    received = read({"contents": HELLO, "model": "models/other"}, "google/gemini-x", True)

    assert (received.model, received.stream, received.dialect) == (
        "google/gemini-x",
        True,
        "gemini",
    )
    assert received.turns == (Turn("user", (Text(text="Hello"),)),)
    assert received.extra == {}


def test_both_spellings_of_every_name_are_read(read: Read) -> None:
    camel = read(
        {
            "contents": [user({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "generationConfig": {
                "maxOutputTokens": 5,
                "stopSequences": ["x"],
                "thinkingConfig": {"thinkingBudget": 7, "includeThoughts": True},
                "responseMimeType": "application/json",
            },
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
        }
    )

    snake = read(
        {
            "contents": [user({"inline_data": {"mime_type": "image/png", "data": "AAAA"}})],
            "system_instruction": {"parts": [{"text": "Be brief."}]},
            "generation_config": {
                "max_output_tokens": 5,
                "stop_sequences": ["x"],
                "thinking_config": {"thinking_budget": 7, "include_thoughts": True},
                "response_mime_type": "application/json",
            },
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
            "tools": [{"function_declarations": [{"name": "f"}]}],
        }
    )

    assert camel == snake


@pytest.mark.parametrize(
    "instruction",
    ["Be brief.", {"parts": [{"text": "Be brief."}], "role": "user"}, [{"text": "no"}]],
    ids=["a string", "a content", "neither"],
)
def test_instructions_are_a_string_or_a_content(read: Read, instruction: Any) -> None:
    body = {"contents": HELLO, "systemInstruction": instruction}
    if isinstance(instruction, list):
        with pytest.raises(BadRequest, match="systemInstruction must be an object"):
            read(body)
    else:
        assert read(body).instructions == (Text(text="Be brief."),)


def test_contents_of_one_role_in_a_row_are_one_turn(read: Read) -> None:
    received = read(
        {
            "contents": [
                user({"text": "a"}),
                {"parts": [{"text": "b"}]},
                model({"text": "Hel"}),
                model({"text": "lo"}, {"text": ""}),
                {"role": "function", "parts": [result("f", {})]},
            ]
        }
    )

    assert received.turns[0] == Turn("user", (Text(text="a"), Text(text="b")))
    assert received.turns[1] == Turn("assistant", (Text(text="Hello"),))
    assert received.turns[2].role == "user"


def test_parts_beside_a_function_s_result_follow_it(read: Read) -> None:
    received = read(
        {
            "contents": [
                user({"text": "go"}),
                model(call("f", id="1")),
                user({"text": "and look"}, result("f", {"result": "done"}, id="1")),
            ]
        }
    )

    assert received.turns[2].parts == (
        ToolResult(call_id="1", name="f", content=(Text(text="done"),)),
        Text(text="and look"),
    )


def test_calls_without_ids_are_matched_by_name_in_order(read: Read) -> None:
    received = read(
        {
            "contents": [
                user({"text": "go"}),
                model(call("f"), call("g"), call("f")),
                user(result("f", {"result": "1"}), result("f", {"result": "2"}), result("g", {})),
                model(call("f")),
                user(result("f", {"result": "3"}), result("f", {"result": "orphan"})),
            ]
        }
    )

    calls = [
        part.id for turn in received.turns for part in turn.parts if isinstance(part, ToolCall)
    ]
    results = [p.call_id for t in received.turns for p in t.parts if isinstance(p, ToolResult)]
    assert calls == ["call_f", "call_g", "call_f_2", "call_f_3"]
    assert results == ["call_f", "call_f_2", "call_g", "call_f_3", "call_f_4"]


def test_ids_that_were_given_are_kept(read: Read) -> None:
    contents = [user({"text": "go"}), model(call("f", id="b"), call("f", id="a"))]
    received = read({"contents": [*contents, user(result("f", {}, id="a"), result("f", {}))]})

    assert [part.call_id for part in received.turns[2].parts if isinstance(part, ToolResult)] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"result": "ok"}, "ok", False),
        ({"output": [1, 2]}, "[1,2]", False),
        ({"result": {"a": 1}}, '{"a":1}', False),
        ({"error": "boom"}, "boom", True),
        ({"error": {"code": 3}}, '{"code":3}', True),
        ({"city": "Paris", "result": 1}, '{"city":"Paris","result":1}', False),
        ({"answer": 42}, '{"answer":42}', False),
        ({}, "{}", False),
    ],
)
def test_a_function_s_response_is_any_object(
    read: Read, response: Any, text: str, failed: bool
) -> None:
    received = read({"contents": [user(result("f", response, id="1"))]})

    expected = ToolResult(call_id="1", name="f", content=(Text(text=text),), failed=failed)
    assert received.turns[0].parts == (expected,)


def test_pictures_in_a_function_s_result_stay_in_it(read: Read) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}}
    received = read({"contents": [user(result("f", {"result": "see"}, id="1", parts=[picture]))]})

    media = Media(kind="image", media_type="image/png", data="AAAA", name="a.png")
    assert received.turns[0].parts == (
        ToolResult(call_id="1", name="f", content=(Text(text="see"), media)),
    )


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"inlineData": {"mimeType": "audio/mp3", "data": "AA=="}},
            Media(kind="audio", media_type="audio/mp3", data="AA=="),
        ),
        (
            {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}},
            Media(kind="document", media_type="application/pdf", data="AA=="),
        ),
        (
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/film"}},
            Media(kind="video", media_type="video/mp4", url="gs://bucket/film"),
        ),
        (
            {"fileData": {"fileUri": "https://youtu.be/x"}},
            Media(kind="video", url="https://youtu.be/x"),
        ),
        (
            {"fileData": {"fileUri": "https://example.com/a.png?x=1"}},
            Media(kind="image", url="https://example.com/a.png?x=1"),
        ),
        (
            {
                "fileData": {
                    "mimeType": "text/plain",
                    "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/abc",
                }
            },
            Media(
                kind="document",
                media_type="text/plain",
                file_id="https://generativelanguage.googleapis.com/v1beta/files/abc",
                origin="~gemini",
            ),
        ),
    ],
)
def test_media_are_told_apart_by_type_and_address(read: Read, part: Any, media: Media) -> None:
    assert read({"contents": [user(part)]}).turns[0].parts == (media,)


def test_thinking_and_signatures_of_the_client_are_its_dialect_s_own(read: Read) -> None:
    received = read(
        {
            "contents": [
                user({"text": "go"}),
                model(
                    {"text": "Hm", "thought": True},
                    {"text": "m.", "thought": True},
                    {**call("f", id="1"), "thoughtSignature": "c2ln"},
                    {"text": "then"},
                    {"text": "", "thoughtSignature": "dGFpbA=="},
                ),
            ]
        }
    )

    assert received.turns[1].parts == (
        Reasoning(text="Hmm."),
        ToolCall(id="1", name="f", arguments="{}", signature="c2ln", origin="~gemini"),
        Text(text="then", signature="dGFpbA==", origin="~gemini"),
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("executableCode", "executableCode"),
        ("executable_code", "executableCode"),
        ("codeExecutionResult", "codeExecutionResult"),
        ("toolCall", "toolCall"),
        ("toolResponse", "toolResponse"),
        ("fromTomorrow", "fromTomorrow"),
    ],
)
def test_what_only_this_dialect_knows_is_kept_as_it_is(read: Read, name: str, kind: str) -> None:
    received = read({"contents": [model({name: {"x": 1}, "thoughtSignature": "c2ln"})]})

    [part] = received.turns[0].parts
    assert isinstance(part, Foreign)
    assert (part.type, part.dialect) == (kind, "gemini")
    assert bytes(part.raw) == b'{"%b":{"x":1}}' % name.encode()
    assert (part.signature, part.origin) == ("c2ln", "~gemini")


def test_a_picture_drawn_while_thinking_is_no_answer(read: Read) -> None:
    drawn = {"thought": True, "inlineData": {"mimeType": "image/png", "data": "AAAA"}}

    [part] = read({"contents": [model(drawn)]}).turns[0].parts

    assert isinstance(part, Foreign)
    assert part.type == "inlineData"


@pytest.mark.parametrize(("sent", "kept"), [("-_8=", "+/8="), ("-_8", "+/8="), ("AAAA", "AAAA")])
def test_url_safe_base64_becomes_what_other_dialects_insist_on(
    read: Read, sent: str, kept: str
) -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": sent}}
    body = {"contents": [{"role": "user", "parts": [part]}]}

    (media,) = read(msgspec.json.encode(body)).turns[0].parts

    assert isinstance(media, Media)
    assert media.data == kept
