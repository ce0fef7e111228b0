"""Earlier answers, calls and results in requests to this vendor."""

from typing import Any

import pytest
from claude_conversations import PNG, At, Tell, answered, asking
from msgspec import Raw

from gateway_core import Citation, Media, Reasoning, Refusal, Text, ToolCall, ToolResult, Turn


def test_earlier_refusals_are_words(tell: Tell) -> None:
    written, losses = tell(answered(Refusal(text="no")))

    assert written["messages"][1]["content"] == "no"
    assert losses == ["refusal"]


def test_only_thinking_that_this_vendor_can_read_goes_back(tell: Tell) -> None:
    written, losses = tell(
        answered(
            Reasoning(text="mine", signature="s1", origin="anthropic"),
            Reasoning(text="the client's", signature="s2", origin="~claude"),
            Reasoning(sealed="s3", origin="anthropic"),
            Reasoning(text="gemini's", signature="s4", origin="gemini"),
            Reasoning(sealed="s5", origin="openai"),
            Text(text="a"),
        )
    )

    assert written["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "mine", "signature": "s1"},
        {"type": "thinking", "thinking": "the client's", "signature": "s2"},
        {"type": "redacted_thinking", "data": "s3"},
        {"type": "text", "text": "a"},
    ]
    assert losses == ["reasoning_signature", "reasoning"]


def test_thinking_without_proof_stays_behind(tell: Tell, at: At) -> None:
    conversation = answered(Reasoning(text="hm"), Text(text="a"))

    assert tell(conversation)[0]["messages"][1]["content"] == "a"
    assert tell(conversation)[1] == ["reasoning"]

    written, losses = tell(conversation, at("kimi-k2", unsigned_thinking=True))

    assert written["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "",
    }
    assert losses == []


def test_thinking_that_came_back_with_a_call_stands_before_the_text(tell: Tell) -> None:
    written, _ = tell(
        asking(
            turns=(
                Turn("user", (Text(text="q"),)),
                Turn(
                    "assistant",
                    (
                        Text(text="let me see"),
                        Reasoning(text="hm", signature="s", origin="anthropic"),
                        ToolCall(id="t1", name="look"),
                    ),
                ),
                Turn("user", (ToolResult(call_id="t1"),)),
            )
        )
    )

    kinds = [block["type"] for block in written["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "tool_use"]


def test_another_vendors_signatures_are_recorded(tell: Tell) -> None:
    _, losses = tell(
        answered(
            Text(text="a", signature="s", origin="gemini"),
            ToolCall(id="t", name="look", signature="s", origin="gemini"),
        )
    )

    assert losses == ["reasoning_signature"]


def test_citations_go_back_only_as_the_vendors_own(tell: Tell) -> None:
    own = Citation(quote="w", raw=Raw(b'{"type":"char_location"}'), dialect="claude")

    written, losses = tell(answered(Text(text="a", citations=(own, Citation(url="https://a")))))

    assert written["messages"][1]["content"] == [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]}
    ]
    assert losses == ["citations"]


ARGUMENTS = [
    ('{"a": 1}', {"a": 1}, []),
    ("", {}, []),
    ("[1]", {"input": "[1]"}, ["arguments"]),
    ('{"a": ', {"input": '{"a": '}, ["arguments"]),
]


@pytest.mark.parametrize(("arguments", "sent", "losses"), ARGUMENTS)
def test_arguments_are_an_object(tell: Tell, arguments: str, sent: Any, losses: list[str]) -> None:
    written, lost = tell(answered(ToolCall(id="t", name="look", arguments=arguments)))

    assert written["messages"][1]["content"][0]["input"] == sent
    assert lost == losses


def test_a_call_with_free_text_is_wrapped(tell: Tell) -> None:
    call = ToolCall(id="t", name="sh", arguments="ls -l", custom=True)

    written, losses = tell(answered(call))

    assert written["messages"][1]["content"][0]["input"] == {"input": "ls -l"}
    assert losses == ["tool:custom"]


def test_results_carry_text_images_and_documents(tell: Tell) -> None:
    result = ToolResult(
        call_id="t",
        content=(
            Text(text="seen"),
            Media(kind="image", data=PNG),
            Media(kind="document", media_type="application/pdf", data="QUJD"),
        ),
    )
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (ToolCall(id="t", name="look"),)),
        Turn("user", (result,)),
    )

    written, losses = tell(asking(turns=turns))

    (block,) = written["messages"][2]["content"]
    assert [piece["type"] for piece in block["content"]] == ["text", "image", "document"]
    assert losses == []


def test_a_result_that_failed_silently_gets_words(tell: Tell) -> None:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (ToolCall(id="t", name="look"), ToolCall(id="u", name="look"))),
        Turn("user", (ToolResult(call_id="t", failed=True), ToolResult(call_id="u"))),
    )

    failed, empty = tell(asking(turns=turns))[0]["messages"][2]["content"]

    assert failed["is_error"] is True
    assert failed["content"]
    assert empty == {"type": "tool_result", "tool_use_id": "u"}
