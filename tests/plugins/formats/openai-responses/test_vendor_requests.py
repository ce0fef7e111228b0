"""What a vendor of this format is told of any conversation: its turns, and their media."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Media,
    PartUnsupported,
    Reasoning,
    Refusal,
    Target,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Json = dict[str, Any]
Tell = Callable[..., tuple[Json, list[str]]]
Aim = Callable[..., Target]
OWN = "openai-responses"
HELLO = Turn("user", (Text(text="hello"),))


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def foreign(*turns: Turn, **more: Any) -> Conversation:
    """A conversation of another dialect."""
    return Conversation(turns=turns or (HELLO,), dialect="other", **more)


def own(*turns: Turn, **more: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), dialect=OWN, **more)


def test_the_least_request_is_small(tell: Tell) -> None:
    written, lost = tell(foreign())

    assert written == {
        "model": "m-1",
        "input": [{"type": "message", "role": "user", "content": "hello"}],
        "store": False,
    }
    assert lost == []


def test_a_client_of_this_format_decides_itself_what_is_stored(tell: Tell) -> None:
    assert "store" not in tell(own())[0]
    assert tell(own(extra={"store": Raw(b"true")}))[0]["store"] is True


def test_a_stream_is_asked_for_when_it_is_wanted(tell: Tell) -> None:
    assert tell(foreign(stream=True))[0]["stream"] is True


def test_the_first_instruction_stands_apart_and_the_others_in_the_input(tell: Tell) -> None:
    texts = (Text(text="one"), Text(text=""), Text(text="two"))

    written, _ = tell(foreign(instructions=texts))

    assert written["instructions"] == "one"
    assert written["input"][0] == {"type": "message", "role": "developer", "content": "two"}


def test_a_vendor_may_know_only_the_older_role(tell: Tell, aim: Aim) -> None:
    reported = Turn("system", (Text(text="x"),))

    written, _ = tell(foreign(HELLO, reported), aim(system_role="system"))

    assert written["input"][1]["role"] == "system"


def test_instructions_alone_become_the_input(tell: Tell) -> None:
    written, _ = tell(Conversation(instructions=(Text(text="one"),), dialect="other"))

    assert written["input"] == [{"type": "message", "role": "developer", "content": "one"}]
    assert "instructions" not in written


def test_nothing_at_all_is_an_error(tell: Tell) -> None:
    empty = Turn("assistant", (Text(text=""), Foreign(dialect="other", type="x", raw=Raw(b"{}"))))

    with pytest.raises(BadRequest, match="Nothing in this request can be sent to m-1"):
        tell(foreign(empty))


def test_what_the_vendor_keeps_is_enough_for_a_client_of_this_format(tell: Tell) -> None:
    written, _ = tell(Conversation(dialect=OWN, extra={"previous_response_id": raw("resp_1")}))

    assert written == {"model": "m-1", "previous_response_id": "resp_1"}


def test_the_models_turn_is_items_in_order(tell: Tell) -> None:
    source = Citation(url="u", title="t", start=1, end=2)
    spoken = Turn(
        "assistant",
        (
            Text(text="a", citations=(source,)),
            Refusal(text="b"),
            ToolCall(id="c1", name="f", arguments=""),
            ToolCall(id="c2", name="g", arguments="free", custom=True),
        ),
    )
    results = Turn(
        "user",
        (
            Text(text="now"),
            ToolResult(call_id="c1", content=(Text(text="one"), Text(text="more"))),
            ToolResult(call_id="c2", content=(Text(text="two"),)),
        ),
    )

    written, lost = tell(foreign(HELLO, spoken, results))

    annotation = {
        "type": "url_citation",
        "start_index": 1,
        "end_index": 2,
        "url": "u",
        "title": "t",
    }
    assert written["input"][1:] == [
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "a", "annotations": [annotation]},
                {"type": "refusal", "refusal": "b"},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "free"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "one"},
                {"type": "input_text", "text": "more"},
            ],
        },
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
        {"type": "message", "role": "user", "content": "now"},
    ]
    assert lost == []


def test_a_source_without_an_address_is_a_loss(tell: Tell) -> None:
    cited = Turn("assistant", (Text(text="a", citations=(Citation(document=0, quote="q"),)),))

    assert tell(foreign(HELLO, cited))[1] == ["citations"]


def test_a_call_without_a_result_gets_one(tell: Tell) -> None:
    called = Turn("assistant", (ToolCall(id="c", name="f"), ToolCall(id="d", name="f")))
    answered = Turn("user", (ToolResult(call_id="d"), Text(text="go on")))

    written, _ = tell(foreign(HELLO, called, answered))

    outputs = [item for item in written["input"] if item["type"] == "function_call_output"]
    assert [(item["call_id"], item["output"]) for item in outputs] == [
        ("c", "The tool was not run."),
        ("d", ""),
    ]


def test_a_result_without_a_call_is_told_by_the_user(tell: Tell) -> None:
    result = Turn("user", (ToolResult(call_id="gone", content=(Text(text="r"),)),))

    assert tell(foreign(result))[0]["input"] == [
        {"type": "message", "role": "user", "content": "r"}
    ]
    assert tell(own(result))[0]["input"][0]["type"] == "function_call_output"


def test_long_ids_are_shortened_alike_in_call_and_result(tell: Tell) -> None:
    name = "x" * 65
    called = Turn("assistant", (ToolCall(id=name, name="f"), ToolCall(id="y" * 64, name="f")))
    results = Turn("user", (ToolResult(call_id=name), ToolResult(call_id="y" * 64)))

    items = tell(foreign(called, results))[0]["input"]

    ids = [item["call_id"] for item in items]
    assert ids[0] == ids[2] != name
    assert len(ids[0]) <= 64
    assert ids[1] == ids[3] == "y" * 64


@pytest.mark.parametrize(
    ("media", "piece"),
    [
        (
            Media(kind="image", data="AAAA", media_type="image/jpeg", detail="high"),
            {
                "type": "input_image",
                "image_url": "data:image/jpeg;base64,AAAA",
                "detail": "high",
            },
        ),
        (
            Media(kind="image", url="https://a.example/b"),
            {"type": "input_image", "image_url": "https://a.example/b"},
        ),
        (
            Media(kind="document", data="AAAA", media_type="application/pdf"),
            {
                "type": "input_file",
                "file_data": "data:application/pdf;base64,AAAA",
                "filename": "document.pdf",
            },
        ),
        (
            Media(kind="document", data="AAAA", media_type="text/csv; charset=utf-8", name="n.csv"),
            {
                "type": "input_file",
                "file_data": "data:text/csv; charset=utf-8;base64,AAAA",
                "filename": "n.csv",
            },
        ),
        (
            Media(kind="document", url="https://a.example/b"),
            {"type": "input_file", "file_url": "https://a.example/b"},
        ),
        (
            Media(kind="document", file_id="file-1", origin="acme"),
            {"type": "input_file", "file_id": "file-1"},
        ),
        (
            Media(kind="image", file_id="file-1", origin="~openai-responses"),
            {"type": "input_image", "file_id": "file-1"},
        ),
    ],
)
def test_media_are_sent(tell: Tell, media: Media, piece: Json) -> None:
    written, lost = tell(foreign(Turn("user", (Text(text="t"), media))))

    assert written["input"][0]["content"] == [{"type": "input_text", "text": "t"}, piece]
    assert lost == []


def test_a_document_of_plain_text_is_text_under_its_title(tell: Tell) -> None:
    document = Media(kind="document", text="words", name="Title")

    assert tell(foreign(Turn("user", (document,))))[0]["input"][0]["content"] == "Title\n\nwords"


@pytest.mark.parametrize(
    "media",
    [
        Media(kind="audio", data="AAAA", media_type="audio/wav"),
        Media(kind="video", url="https://a.example/b"),
        Media(kind="image", file_id="file-1", origin="elsewhere"),
        Media(kind="document", file_id="file-1", origin="~other"),
        Media(kind="image"),
    ],
)
def test_media_that_cannot_be_sent_are_refused(tell: Tell, media: Media) -> None:
    with pytest.raises(PartUnsupported, match=f"'{media.kind}' cannot be sent"):
        tell(foreign(Turn("user", (Text(text="t"), media))))


def test_a_vendor_may_take_sound(tell: Tell, aim: Aim) -> None:
    sound = Turn("user", (Media(kind="audio", data="AAAA", media_type="audio/mpeg"),))

    written, _ = tell(foreign(sound), aim(audio=True))

    assert written["input"][0]["content"] == [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}
    ]


def test_the_models_own_media_are_a_loss_for_another_dialect(tell: Tell) -> None:
    drawn = Media(kind="image", data="AAAA", media_type="image/png")

    assert tell(foreign(HELLO, Turn("assistant", (Text(text="a"), drawn))))[1] == ["image"]
    with pytest.raises(PartUnsupported):
        tell(foreign(HELLO, Turn("assistant", (drawn,))))


def test_a_picture_of_this_vendors_goes_back_as_it_came(tell: Tell) -> None:
    drawn = Media(kind="image", data="AAAA", extra={"id": raw("ig_1"), "status": raw("completed")})

    written, _ = tell(own(HELLO, Turn("assistant", (drawn,))))

    assert written["input"][1] == {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": "AAAA",
    }


def test_messages_keep_apart_what_is_said_in_different_phases(tell: Tell) -> None:
    spoken = Turn(
        "assistant",
        (
            Text(text="a", extra={"phase": raw("commentary")}),
            Text(text="b"),
            Text(text="c", extra={"phase": raw("final_answer"), "message.novelty": raw(1)}),
        ),
    )

    written, _ = tell(own(HELLO, spoken))

    first, second = written["input"][1:]
    assert first["phase"] == "commentary"
    assert [piece["text"] for piece in first["content"]] == ["a", "b"]
    assert second == {
        "type": "message",
        "role": "assistant",
        "content": "c",
        "phase": "final_answer",
        "novelty": 1,
    }
    assert tell(foreign(HELLO, spoken))[1] == ["phase", "novelty"]


def test_thinking_of_one_item_is_one_item_again(tell: Tell) -> None:
    thought = Turn(
        "assistant",
        (
            Reasoning(text="a", summary=True, id="rs_1", origin="~openai-responses"),
            Reasoning(text="b", id="rs_1", sealed="s", origin="~openai-responses"),
        ),
    )

    written, _ = tell(own(HELLO, thought))

    assert written["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}],
        "content": [{"type": "reasoning_text", "text": "b"}],
        "encrypted_content": "s",
    }
