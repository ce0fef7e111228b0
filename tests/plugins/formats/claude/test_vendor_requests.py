"""Conversations of any dialect as this vendor's requests: what is said, and what is recorded."""

from typing import Any

import pytest
from claude_conversations import SCHEMA, At, Tell, asking
from msgspec import Raw

from gateway_core import BadRequest, Conversation, Media, Sampling, Text, Tool, Turn


def test_the_least_request(tell: Tell) -> None:
    assert tell(asking()) == (
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 8192,
            "messages": [{"role": "user", "content": "hi"}],
        },
        [],
    )


@pytest.mark.parametrize(
    ("received", "longest", "written", "losses"),
    [
        (None, None, 8192, []),
        (None, 64000, 64000, []),
        (500, 64000, 500, []),
        (70000, 64000, 64000, ["max_tokens"]),
        (70000, None, 70000, []),
    ],
)
def test_max_tokens_is_always_said(
    tell: Tell, at: At, received: int | None, longest: int | None, written: int, losses: list[str]
) -> None:
    conversation = asking(sampling=Sampling(max_tokens=received))

    output, lost = tell(conversation, at(longest=longest))

    assert (output["max_tokens"], lost) == (written, losses)


def test_streaming_is_said_only_when_it_is_wanted(tell: Tell) -> None:
    assert "stream" not in tell(asking())[0]
    assert tell(asking(stream=True))[0]["stream"] is True


def test_instructions(tell: Tell) -> None:
    one = asking(instructions=(Text(text="a"),))
    two = asking(instructions=(Text(text="a", cache="1h"), Text(text=""), Text(text="b")))

    assert tell(one)[0]["system"] == "a"
    assert tell(two)[0]["system"] == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": "b"},
    ]


def test_text_of_nothing_but_white_space_is_left_out(tell: Tell) -> None:
    output, losses = tell(asking(Text(text=""), Text(text="a"), Text(text=" \n")))

    assert output["messages"] == [{"role": "user", "content": "a"}]
    assert losses == []


def test_nothing_to_say_is_refused(tell: Tell) -> None:
    with pytest.raises(BadRequest, match="nothing in the conversation"):
        tell(asking(Text(text=" ")))
    with pytest.raises(BadRequest, match="nothing in the conversation"):
        tell(Conversation())


def test_instructions_alone_get_a_user_turn(tell: Tell) -> None:
    output, _ = tell(Conversation(instructions=(Text(text="greet"),)))

    assert output["system"] == "greet"
    assert [message["role"] for message in output["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("tier", "sent", "losses"),
    [
        ("auto", "auto", []),
        ("default", "standard_only", []),
        ("flex", None, ["service_tier"]),
    ],
)
def test_service_tiers(tell: Tell, tier: str, sent: Any, losses: list[str]) -> None:
    output, lost = tell(asking(service_tier=tier))

    assert (output.get("service_tier"), lost) == (sent, losses)


def test_the_user_and_what_is_not_known_here(tell: Tell) -> None:
    output, losses = tell(
        asking(
            Text(text="hi", extra={"annotations": Raw(b"[1]")}),
            user="u",
            cache_key="k",
            extra={"logit_bias": Raw(b'{"1":1}')},
        )
    )

    assert output["metadata"] == {"user_id": "u"}
    assert losses == ["annotations", "cache_key", "logit_bias"]


def test_a_name_of_a_turn_is_recorded(tell: Tell) -> None:
    turns = (Turn("user", (Text(text="hi"),), name="Ann", extra={"x": Raw(b"1")}),)

    assert tell(asking(turns=turns))[1] == ["name", "x"]


def test_members_of_this_dialect_go_back_where_they_stood(tell: Tell) -> None:
    output, losses = tell(
        Conversation(
            dialect="claude",
            turns=(
                Turn("user", (Text(text="hi", extra={"a": Raw(b"1")}),), extra={"b": Raw(b"2")}),
            ),
            tools=(Tool(name="look", schema=SCHEMA, extra={"defer_loading": Raw(b"true")}),),
            user="u",
            extra={
                "container": Raw(b'"c"'),
                "metadata": Raw(b'{"team":4}'),
                "thinking": Raw(b'{"x":1}'),
                "output_config": Raw(b'{"task_budget":1}'),
            },
        )
    )

    assert output["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "a": 1}], "b": 2}
    ]
    assert output["tools"][0]["defer_loading"] is True
    assert output["container"] == "c"
    assert output["metadata"] == {"user_id": "u", "team": 4}
    assert output["output_config"] == {"task_budget": 1}
    assert "thinking" not in output
    assert losses == []


def test_a_kept_search_result_goes_back_whole(tell: Tell) -> None:
    kept = Media(
        kind="document", text="t", extra={"search_result": Raw(b'{"type":"search_result"}')}
    )

    output, _ = tell(asking(Text(text="a"), kept, dialect="claude"))

    assert output["messages"][0]["content"][1] == {"type": "search_result"}


@pytest.mark.parametrize(
    ("sampling", "losses"),
    [
        (Sampling(seed=1), ["seed"]),
        (Sampling(min_p=0.1), ["min_p"]),
        (Sampling(presence_penalty=0.5), ["presence_penalty"]),
        (Sampling(frequency_penalty=0.5), ["frequency_penalty"]),
        (Sampling(presence_penalty=0, frequency_penalty=0, candidates=1, logprobs=False), []),
        (Sampling(candidates=2), ["candidates"]),
        (Sampling(logprobs=True, top_logprobs=2), ["logprobs"]),
        (Sampling(stop=("a", " ")), ["stop"]),
    ],
)
def test_sampling_that_this_wire_does_not_know(
    tell: Tell, sampling: Sampling, losses: list[str]
) -> None:
    output, lost = tell(asking(sampling=sampling))

    assert lost == losses
    assert set(output) <= {"model", "max_tokens", "messages", "stop_sequences"}
    assert output.get("stop_sequences", ["a"]) == ["a"]
