"""What a client may say, as the hub has it."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Citation,
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

Json = dict[str, Any]
Ask = Callable[..., Conversation]
OWN = "~openai-responses"


def user(content: Any, **more: Any) -> Json:
    return {"role": "user", "content": content, **more}


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def parts(conversation: Conversation) -> list[Any]:
    return [part for turn in conversation.turns for part in turn.parts]


def test_a_string_is_a_users_turn(ask: Ask) -> None:
    conversation = ask("hello")

    assert conversation.turns == (Turn("user", (Text(text="hello"),)),)
    assert (conversation.model, conversation.dialect) == ("m", "openai-responses")


def test_instructions_stand_before_those_in_the_input(ask: Ask) -> None:
    found = [
        {"role": "system", "content": "one"},
        {"type": "message", "role": "developer", "content": "two"},
        user("q"),
        {"role": "developer", "content": "three"},
    ]

    conversation = ask(found, instructions="zero")

    assert [text.text for text in conversation.instructions] == ["zero", "one", "two"]
    assert conversation.turns[1:] == (Turn("system", (Text(text="three"),)),)


def test_a_developers_picture_is_not_lost_among_instructions(ask: Ask) -> None:
    picture = {"type": "input_image", "image_url": "https://a.example/b.png"}

    conversation = ask([{"role": "developer", "content": [picture]}, user("q")])

    assert conversation.instructions == ()
    assert conversation.turns[0].role == "system"
    assert conversation.turns[0].parts == (Media(kind="image", url="https://a.example/b.png"),)


def test_what_the_model_wrote_is_one_turn_and_so_are_its_results(ask: Ask) -> None:
    found = [
        user("q"),
        {"type": "reasoning", "summary": [], "encrypted_content": "opaque"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x":1}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "free"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
        user("r"),
    ]

    turns = ask(found).turns

    assert turns == (
        Turn("user", (Text(text="q"),)),
        Turn(
            "assistant",
            (
                Reasoning(sealed="opaque", origin=OWN),
                Text(text="a"),
                ToolCall(id="c1", name="f", arguments='{"x":1}'),
                ToolCall(id="c2", name="g", arguments="free", custom=True),
            ),
        ),
        Turn(
            "user",
            (
                ToolResult(call_id="c1", content=(Text(text="one"),)),
                ToolResult(call_id="c2", content=(Text(text="two"),), custom=True),
            ),
        ),
        Turn("user", (Text(text="r"),)),
    )


def test_every_kind_of_content_is_read(ask: Ask) -> None:
    content = [
        {"type": "input_text", "text": "t", "prompt_cache_breakpoint": {"mode": "explicit"}},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,BBB"},
        {"type": "input_file", "file_url": "https://a.example/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "CCCC", "format": "mp3"}},
        {"type": "input_hologram", "beam": 1},
    ]

    (turn,) = ask([user(content)]).turns

    assert turn.parts[:-1] == (
        Text(text="t", cache="5m"),
        Media(kind="image", media_type="image/png", data="AAAA", detail="low"),
        Media(kind="image", file_id="file-1", origin=OWN),
        Media(kind="document", media_type="application/pdf", data="BBB", name="a.pdf"),
        Media(kind="document", url="https://a.example/a.pdf"),
        Media(kind="audio", media_type="audio/mpeg", data="CCCC"),
    )
    unknown = turn.parts[-1]
    assert isinstance(unknown, Foreign)
    assert (unknown.type, json.loads(bytes(unknown.raw))) == ("message.input_hologram", content[-1])


def test_the_long_cache_lifetime_is_kept(ask: Ask) -> None:
    marked = {"mode": "explicit", "ttl": "12h"}
    content = [{"type": "input_text", "text": "t", "prompt_cache_breakpoint": marked}]

    assert parts(ask([user(content)])) == [Text(text="t", cache="1h")]


def test_what_the_model_said_keeps_its_sources_its_refusal_and_its_phase(ask: Ask) -> None:
    source = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    written = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": "commentary",
        "content": [
            {"type": "output_text", "text": "a", "annotations": [source], "logprobs": []},
            {"type": "refusal", "refusal": "no"},
        ],
    }

    text, refusal = parts(ask([user("q"), written]))[1:]

    cited = Citation(url="u", title="t", start=0, end=1, raw=text.citations[0].raw, dialect=OWN[1:])
    assert text == Text(text="a", citations=(cited,), extra={"phase": raw("commentary")})
    assert json.loads(bytes(cited.raw or b"")) == source
    assert refusal == Refusal(text="no")


def test_ids_are_kept_only_where_the_vendor_stores_thinking(ask: Ask) -> None:
    written = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
    }
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}

    (plain,) = parts(ask([written]))
    stored, call = parts(ask([thought, written]))

    assert plain.extra == {}
    assert stored == Reasoning(id="rs_1", origin=OWN)
    assert call.extra == {"id": raw("fc_1")}


def test_thinking_keeps_its_words_and_whether_they_are_a_summary(ask: Ask) -> None:
    summed = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "x",
    }
    shown = {
        "type": "reasoning",
        "id": "rs_2",
        "summary": [{"type": "summary_text", "text": "a"}],
        "content": [{"type": "reasoning_text", "text": "b"}],
        "encrypted_content": "y",
    }

    found = parts(ask([summed, shown]))

    assert found == [
        Reasoning(text="a\n\nb", summary=True, id="rs_1", sealed="x", origin=OWN),
        Reasoning(text="a", summary=True, id="rs_2", origin=OWN),
        Reasoning(text="b", id="rs_2", sealed="y", origin=OWN),
    ]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("web_search_call", "assistant"),
        ("file_search_call", "assistant"),
        ("computer_call", "assistant"),
        ("computer_call_output", "user"),
        ("code_interpreter_call", "assistant"),
        ("local_shell_call", "assistant"),
        ("local_shell_call_output", "user"),
        ("shell_call_output", "user"),
        ("apply_patch_call_output", "user"),
        ("mcp_list_tools", "assistant"),
        ("mcp_approval_request", "assistant"),
        ("mcp_approval_response", "user"),
        ("mcp_call", "assistant"),
        ("image_generation_call", "assistant"),
        ("compaction", "assistant"),
        ("item_reference", "user"),
        ("something_new", "assistant"),
    ],
)
def test_an_item_of_this_dialect_alone_is_kept_whole(ask: Ask, kind: str, role: str) -> None:
    item = {"type": kind, "id": "x_1", "novelty": {"deep": [1, 2]}}

    turn = ask([user("q"), item]).turns[-1]

    assert turn.role == role
    (part,) = turn.parts
    assert isinstance(part, Foreign)
    assert (part.type, part.dialect) == (kind, "openai-responses")
    assert json.loads(bytes(part.raw)) == item


def test_a_bare_id_refers_to_an_item(ask: Ask) -> None:
    (part,) = parts(ask([{"id": "msg_1"}], previous_response_id="resp_1"))

    assert part.type == "item_reference"


def test_a_picture_the_model_drew_is_a_picture(ask: Ask) -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}

    (part,) = parts(ask([{**drawn, "output_format": "webp"}]))

    assert (part.kind, part.data, part.media_type) == ("image", "AAAA", "image/webp")
    assert set(part.extra) == {"id", "status"}


def test_results_may_hold_pictures_and_files(ask: Ask) -> None:
    output = [
        {"type": "input_text", "text": "t"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]

    (result,) = parts(ask([{"type": "function_call_output", "call_id": "c", "output": output}]))

    assert result.content == (
        Text(text="t"),
        Media(kind="image", media_type="image/png", data="AAAA"),
    )
