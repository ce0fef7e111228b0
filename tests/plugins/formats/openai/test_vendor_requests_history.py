"""Earlier answers, calls and results, written for a vendor."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import (
    Conversation,
    Media,
    Target,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]

Aim = Callable[..., Target]

HI = Turn("user", (Text(text="hi"),))


def talk(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HI,), **members)


def user(*parts: Any) -> Conversation:
    return talk(Turn("user", parts))


def called(*parts: Any, results: tuple[Any, ...] = ()) -> Conversation:
    return talk(HI, Turn("assistant", parts), Turn("user", results))


def test_an_answer_with_calls_says_nothing_beside_them(tell: Tell) -> None:
    call = ToolCall(id="a", name="f", arguments='{"x":1}')
    result = ToolResult(call_id="a", name="f", content=(Text(text="1"), Text(text="2")))

    body, _ = tell(called(call, results=(result,)))

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"x":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1\n\n2", "name": "f"},
    ]


def test_a_call_without_arguments_has_an_empty_object(tell: Tell) -> None:
    body, _ = tell(called(ToolCall(id="a", name="f")))

    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_texts_around_a_call_do_not_run_into_one_another(tell: Tell) -> None:
    call = ToolCall(id="a", name="f")

    body, _ = tell(called(Text(text="x"), Text(text="y"), call, Text(text="z")))

    assert body["messages"][1]["content"] == "xy\n\nz"


def test_results_stand_right_behind_their_calls(tell: Tell) -> None:
    conversation = talk(
        HI,
        Turn("assistant", (ToolCall(id="a", name="f"), ToolCall(id="b", name="f"))),
        Turn("user", (Text(text="wait"),)),
        Turn("user", (Text(text="here"), ToolResult(call_id="b", content=(Text(text="2"),)))),
    )

    messages = tell(conversation)[0]["messages"]

    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in messages[2:]] == [
        ("tool", "a", "No result was given for this call."),
        ("tool", "b", "2"),
        ("user", None, "wait"),
        ("user", None, "here"),
    ]


def test_a_result_of_no_known_call_becomes_words(tell: Tell) -> None:
    body, _ = tell(user(ToolResult(call_id="z", content=(Text(text="9"),))))

    assert body["messages"] == [
        {"role": "user", "content": "Result of the tool call z:\n\n9"},
    ]


def test_one_id_may_be_used_again_in_a_later_round(tell: Tell) -> None:
    call = Turn("assistant", (ToolCall(id="0", name="f"),))
    first = Turn("user", (ToolResult(call_id="0", content=(Text(text="1"),)),))
    second = Turn("user", (ToolResult(call_id="0", content=(Text(text="2"),)),))

    messages = tell(talk(call, first, call, second))[0]["messages"]

    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "2"]


def test_pictures_of_results_follow_in_a_message_of_their_own(tell: Tell, aim: Aim) -> None:
    image = Media(kind="image", url="https://x/y")
    results = (
        ToolResult(call_id="a", content=(image,)),
        ToolResult(call_id="b", content=(Text(text="t"), image)),
    )
    conversation = called(ToolCall(id="a", name="f"), ToolCall(id="b", name="f"), results=results)
    piece = {"type": "image_url", "image_url": {"url": "https://x/y"}}

    apart = tell(conversation)[0]["messages"]
    within = tell(conversation, aim(images_in_tool_results=True))[0]["messages"]

    assert [m["role"] for m in apart] == ["user", "assistant", "tool", "tool", "user"]
    assert [m["content"] for m in apart[2:4]] == ["The result is in the next message.", "t"]
    assert apart[4]["content"] == [
        {"type": "text", "text": "Result of the tool call a:"},
        piece,
        {"type": "text", "text": "Result of the tool call b:"},
        piece,
    ]
    assert [m["content"] for m in within[2:]] == [
        [piece],
        [{"type": "text", "text": "t"}, piece],
    ]


def test_a_failed_result_says_so(tell: Tell) -> None:
    results = (
        ToolResult(call_id="a", content=(Text(text="no file"),), failed=True),
        ToolResult(call_id="b", content=(Text(text="Error: x"),), failed=True),
        ToolResult(call_id="c", failed=True),
    )
    calls = [ToolCall(id=i, name="f") for i in "abc"]

    messages = tell(called(*calls, results=results))[0]["messages"]

    assert [m["content"] for m in messages[2:]] == ["Error: no file", "Error: x", "Error"]


def test_a_breakpoint_behind_a_result_stands_on_its_last_text(tell: Tell, aim: Aim) -> None:
    result = ToolResult(call_id="a", content=(Text(text="1"), Text(text="2")), cache="5m")

    messages = tell(called(ToolCall(id="a", name="f"), results=(result,)), aim(cache_control=True))[
        0
    ]["messages"]

    assert messages[2]["content"] == [
        {"type": "text", "text": "1"},
        {"type": "text", "text": "2", "cache_control": {"type": "ephemeral"}},
    ]


@pytest.mark.parametrize("options", [{}, {"short_ids": True}], ids=["long", "short"])
def test_ids_fit_the_vendor_and_still_pair(tell: Tell, aim: Aim, options: dict[str, bool]) -> None:
    ids = ["x" * 41, "call_1", ""]
    calls = [ToolCall(id=i, name="f") for i in ids]
    results = tuple(ToolResult(call_id=i, content=(Text(text="r"),)) for i in ids)

    messages = tell(called(*calls, results=results), aim(**options))[0]["messages"]

    sent = [call["id"] for call in messages[1]["tool_calls"]]
    assert sent == [m["tool_call_id"] for m in messages[2:]]
    assert len(set(sent)) == 3
    longest = 9 if options else 40
    assert all(0 < len(i) <= longest for i in sent)
    assert not options or all(len(i) == 9 and i.isalnum() for i in sent)


def test_nine_characters_are_kept_where_they_are_wanted(tell: Tell, aim: Aim) -> None:
    body, _ = tell(called(ToolCall(id="gSIMJiOkT", name="f")), aim(short_ids=True))

    assert body["messages"][1]["tool_calls"][0]["id"] == "gSIMJiOkT"
