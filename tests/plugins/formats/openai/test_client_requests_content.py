"""Messages and their content, read into turns and parts."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Ask = Callable[..., Conversation]

HI = {"role": "user", "content": "hi"}


def part(ask: Ask, piece: Any) -> Any:
    return ask([{"role": "user", "content": [piece]}]).turns[0].parts[0]


def assistant(ask: Ask, **members: Any) -> tuple[Any, ...]:
    return ask([HI, {"role": "assistant", **members}]).turns[1].parts


def test_an_image_by_value_keeps_its_base64_undecoded(ask: Ask) -> None:
    url = {"url": "data:image/png;base64,iVBO!", "detail": "low"}

    image = part(ask, {"type": "image_url", "image_url": url})

    assert image == Media(kind="image", media_type="image/png", data="iVBO!", detail="low")


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            Media(kind="image", url="https://x/y.png"),
        ),
        (
            {"type": "image_url", "image_url": "https://x/y.png"},
            Media(kind="image", url="https://x/y.png"),
        ),
        (
            {"type": "input_image", "image_url": "https://x/y.png", "detail": "high"},
            Media(kind="image", url="https://x/y.png", detail="high"),
        ),
        (
            {"type": "input_image", "file_id": "file-1"},
            Media(kind="image", file_id="file-1", origin="~openai"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
            Media(kind="audio", media_type="audio/mpeg", data="AA=="),
        ),
        (
            {"type": "input_audio", "input_audio": "https://x/y.wav"},
            Media(kind="audio", url="https://x/y.wav"),
        ),
        ({"type": "input_audio", "input_audio": "AA=="}, Media(kind="audio", data="AA==")),
        (
            {"type": "file", "file": {"file_id": "file-1"}},
            Media(kind="document", file_id="file-1", origin="~openai"),
        ),
        (
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
            },
            Media(kind="document", media_type="application/pdf", data="AA==", name="a.pdf"),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x/a.pdf"}},
            Media(kind="document", url="https://x/a.pdf", name="a.pdf"),
        ),
        (
            {"type": "document_url", "document_url": "https://x/a.pdf", "document_name": "a"},
            Media(kind="document", url="https://x/a.pdf", name="a"),
        ),
        (
            {"type": "file_url", "file_url": {"url": "UEsDBB"}, "file_name": "a.docx"},
            Media(kind="document", data="UEsDBB", name="a.docx"),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://x/y.webm"}},
            Media(kind="video", url="https://x/y.webm"),
        ),
        ({"type": "refusal", "refusal": "No."}, Refusal(text="No.")),
        (
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
            Reasoning(text="Hm."),
        ),
        ({"text": "no type"}, Text(text="no type")),
        ("bare", Text(text="bare")),
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            Text(text="a", cache="1h"),
        ),
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
            Text(text="a", cache="5m"),
        ),
    ],
)
def test_a_content_piece_becomes_a_part(ask: Ask, piece: Any, expected: Any) -> None:
    assert part(ask, piece) == expected


def test_a_piece_of_an_unknown_type_is_kept_whole(ask: Ask) -> None:
    assert part(ask, {"type": "hologram", "hologram": [1, 2]}) == Foreign(
        dialect="openai", type="hologram", raw=Raw(b'{"type":"hologram","hologram":[1,2]}')
    )


def test_tool_results_that_follow_one_another_are_one_turn(ask: Ask) -> None:
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in "ab"
    ]
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            {"role": "user", "content": "go on"},
        ]
    )

    assert conversation.turns[2:] == (
        Turn(
            "user",
            (
                ToolResult(call_id="a", content=(Text(text="1"),)),
                ToolResult(call_id="b", content=(Text(text="2"),)),
            ),
        ),
        Turn("user", (Text(text="go on"),)),
    )


def test_a_custom_tool_call_and_its_result_say_that_they_are(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "custom", "custom": {"name": "calc", "input": "4 + 4"}}
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "8"},
        ]
    )

    call, result = conversation.turns[1].parts[0], conversation.turns[2].parts[0]
    assert call == ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)
    assert result == ToolResult(call_id="a", content=(Text(text="8"),), custom=True)


def test_older_function_messages_are_paired_by_name(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {"role": "assistant", "function_call": {"name": "add", "arguments": '{"a":1}'}},
            {"role": "function", "name": "add", "content": "2"},
        ]
    )

    call = conversation.turns[1].parts[0]
    assert call == ToolCall(id="call_1_0", name="add", arguments='{"a":1}')
    assert conversation.turns[2].parts == (
        ToolResult(call_id="call_1_0", name="add", content=(Text(text="2"),)),
    )


def test_a_result_without_an_id_belongs_to_the_call_that_waits(ask: Ask) -> None:
    calls = [{"id": i, "function": {"name": i * 2, "arguments": {"x": 1}}} for i in "ab"]
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "name": "bb", "content": "2"},
            {"role": "tool", "content": "1"},
        ]
    )

    assert conversation.turns[1].parts[0] == ToolCall(id="a", name="aa", arguments='{"x":1}')
    results = [p.call_id for p in conversation.turns[2].parts if isinstance(p, ToolResult)]
    assert results == ["b", "a"]


def test_a_piece_that_a_result_cannot_hold_is_shown_as_json(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "json", "v": 1}]},
        ]
    )

    assert conversation.turns[2].parts == (
        ToolResult(call_id="a", content=(Text(text='{"type":"json","v":1}'),)),
    )


def test_thinking_comes_back_in_three_spellings(ask: Ask) -> None:
    assert assistant(ask, content="a", reasoning_content="Hm.") == (
        Reasoning(text="Hm."),
        Text(text="a"),
    )
    assert assistant(ask, content="a", reasoning="Hm.")[0] == Reasoning(text="Hm.")
    details = [
        {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "f", "index": 0},
        {"type": "reasoning.summary", "summary": "Short."},
        {"type": "reasoning.encrypted", "data": "sealed", "id": "rs_1"},
        {"type": "reasoning.server_tool_call", "x": 1},
    ]
    assert assistant(ask, content="a", reasoning="Hm.", reasoning_details=details) == (
        Reasoning(
            text="Hm.",
            signature="sig",
            origin="~openai",
            extra={"format": Raw(b'"f"'), "index": Raw(b"0")},
        ),
        Reasoning(text="Short.", summary=True),
        Reasoning(sealed="sealed", id="rs_1", origin="~openai"),
        Foreign(
            dialect="openai",
            type="reasoning.server_tool_call",
            raw=Raw(b'{"type":"reasoning.server_tool_call","x":1}'),
        ),
        Text(text="a"),
    )


def test_a_raw_proof_of_a_call_or_message_is_this_dialects_own(ask: Ask) -> None:
    proof = {"google": {"thought_signature": "sig"}}
    call = {"id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": proof}

    assert assistant(ask, tool_calls=[call]) == (
        ToolCall(id="a", name="f", arguments="{}", signature="sig", origin="~openai"),
    )
    assert assistant(ask, content="x", extra_content=proof) == (
        Text(text="x", signature="sig", origin="~openai"),
    )


def test_earlier_speech_is_known_by_its_id(ask: Ask) -> None:
    assert assistant(ask, audio={"id": "audio_1"}) == (
        Media(kind="audio", file_id="audio_1", origin="~openai"),
    )


def test_a_refusal_is_its_own_part(ask: Ask) -> None:
    assert assistant(ask, content=None, refusal="No.") == (Refusal(text="No."),)


def test_what_clients_echo_from_answers_is_no_extra(ask: Ask) -> None:
    conversation = ask(
        [HI, {"role": "assistant", "content": "a", "annotations": [], "refusal": None}]
    )

    assert conversation.turns[1] == Turn("assistant", (Text(text="a"),))
