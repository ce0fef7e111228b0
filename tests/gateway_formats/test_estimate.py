"""Four characters to a token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from gateway_formats.estimate import count_characters, count_prompt_characters, estimate_tokens


@given(st.integers(0, 10**9))
def test_tokens_are_a_quarter_rounded_up_and_never_none(count: int) -> None:
    assert estimate_tokens(count) >= 1
    assert count <= 4 * estimate_tokens(count) <= max(4, count + 3)


@pytest.mark.parametrize(
    ("part", "count"),
    [
        (Text(text="four"), 4),
        (Refusal(text="no"), 2),
        (Reasoning(text="hm", sealed="x" * 99), 2),
        (ToolCall(id="long id", name="ab", arguments="{}"), 4),
        (
            ToolResult(call_id="a", content=(Text(text="xyz"), Media(kind="image", data="A" * 99))),
            3,
        ),
        (Media(kind="document", text="plain"), 5),
        (Foreign(dialect="d", type="t", raw=Raw(b'{"a":1}')), 7),
    ],
    ids=["text", "refusal", "thinking", "call", "result", "document", "foreign"],
)
def test_a_part_counts_what_a_model_reads(part: AnyPart, count: int) -> None:
    assert count_characters(part) == count


def test_a_prompt_is_its_instructions_tools_and_turns() -> None:
    conversation = Conversation(
        instructions=(Text(text="12"),),
        tools=(Tool(name="345", description="6", schema=Raw(b"{}")), Tool(name="9")),
        turns=(Turn("user", (Text(text="a"), Text(text="b"))), Turn("assistant", ())),
    )

    assert count_prompt_characters(conversation) == 11
    assert count_prompt_characters(Conversation()) == 0
