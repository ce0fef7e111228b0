"""What a client of this format may send, and what the hub makes of it."""

from typing import Any

import pytest
from claude_blocks import Ask, loaded, text, user

from gateway_core import Output, Text, Thinking, Turn


def test_system_text_is_instructions_in_either_shape(ask: Ask) -> None:
    blocks = [text("a", cache_control={"type": "ephemeral", "ttl": "1h"}), text("b")]

    assert ask(system="a").instructions == (Text(text="a"),)
    assert ask(system=blocks).instructions == (Text(text="a", cache="1h"), Text(text="b"))
    assert ask(system="").instructions == ()


def test_content_may_be_a_string_or_blocks(ask: Ask) -> None:
    assert ask().turns == (Turn("user", (Text(text="hi"),)),)
    assert ask(messages=user(text("hi"))).turns == ask().turns


def test_members_of_the_request_have_their_places(ask: Ask) -> None:
    conversation = ask(
        model="claude-x",
        max_tokens=7,
        temperature=0.5,
        top_p=0.25,
        top_k=3,
        stop_sequences=["a", "b"],
        metadata={"user_id": "u"},
        service_tier="standard_only",
        stream=True,
    )

    sampling = conversation.sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p) == (7, 0.5, 0.25)
    assert (sampling.top_k, sampling.stop) == (3, ("a", "b"))
    assert (conversation.user, conversation.service_tier) == ("u", "default")
    assert (conversation.stream, conversation.model, conversation.dialect) == (
        True,
        "claude-x",
        "claude",
    )
    assert conversation.extra == {}


def test_members_without_a_neutral_name_are_kept(ask: Ask) -> None:
    conversation = ask(
        container="c1",
        mcp_servers=[{"type": "url"}],
        context_management={"edits": []},
        betas=["x"],
        speed=None,
        _private=1,
        metadata={"user_id": "u", "team": 4},
        messages=[{"role": "user", "content": [text("hi", mood="good")], "clear_at": 1}],
    )

    assert loaded(dict(conversation.extra)) == {
        "container": "c1",
        "mcp_servers": [{"type": "url"}],
        "context_management": {"edits": []},
        "betas": ["x"],
        "metadata": {"team": 4},
    }
    (turn,) = conversation.turns
    assert loaded(dict(turn.extra)) == {"clear_at": 1}
    assert loaded(dict(turn.parts[0].extra)) == {"mood": "good"}


def test_system_messages_before_the_first_turn_are_instructions(ask: Ask) -> None:
    conversation = ask(
        system="one",
        messages=[
            {"role": "system", "content": "two"},
            {"role": "user", "content": "q"},
            {"role": "system", "content": [text("later")]},
        ],
    )

    assert conversation.instructions == (Text(text="one"), Text(text="two"))
    assert [turn.role for turn in conversation.turns] == ["user", "system"]


@pytest.mark.parametrize(
    ("members", "wish", "kept"),
    [
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"}},
            Thinking(enabled=True, budget=2000, show=False),
            {},
        ),
        (
            {"thinking": {"type": "adaptive", "display": "summarized"}},
            Thinking(enabled=True, budget=-1, show=True, summary="auto"),
            {},
        ),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            Thinking(enabled=True, effort="low", show=True),
            {},
        ),
        ({"output_config": {"effort": "max"}}, Thinking(effort="max"), {}),
        ({"thinking": {"type": "disabled"}}, Thinking(enabled=False), {}),
        (
            {
                "thinking": {"type": "enabled", "budget_tokens": 2000},
                "output_config": {"effort": "low", "task_budget": {"total": 1}},
            },
            Thinking(enabled=True, budget=2000, show=True),
            {"output_config": {"effort": "low", "task_budget": {"total": 1}}},
        ),
        (
            {"thinking": {"type": "between_tools"}},
            Thinking(enabled=False),
            {"thinking": {"type": "between_tools"}},
        ),
        (
            {"thinking": {"type": "of_next_year", "x": 1}},
            None,
            {"thinking": {"type": "of_next_year", "x": 1}},
        ),
    ],
)
def test_thinking(ask: Ask, members: Any, wish: Thinking | None, kept: Any) -> None:
    conversation = ask(**members)

    assert conversation.thinking == wish
    assert loaded(dict(conversation.extra)) == kept


@pytest.mark.parametrize(
    "members",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
    ],
    ids=["today", "older beta"],
)
def test_an_answers_form(ask: Ask, members: Any) -> None:
    output = ask(**members).output

    assert isinstance(output, Output)
    assert loaded({"schema": output.schema}) == {"schema": {"type": "object"}}
