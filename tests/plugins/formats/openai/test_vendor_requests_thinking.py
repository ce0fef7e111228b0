"""Earlier thinking and the wish for more of it, written for a vendor."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Citation,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Target,
    Text,
    Thinking,
    ToolCall,
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


SIGNED = Reasoning(text="Hm.", signature="sig", origin="acme")


def test_a_refusal_is_words_unless_it_was_said_in_this_dialect(tell: Tell) -> None:
    turns = (HI, Turn("assistant", (Refusal(text="No."),)))

    assert tell(talk(*turns))[0]["messages"][1] == {"role": "assistant", "content": "No."}
    assert tell(talk(*turns, dialect="openai"))[0]["messages"][1] == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
    }


def test_citations_of_earlier_answers_are_lost(tell: Tell) -> None:
    text = Text(text="a", citations=(Citation(url="https://x"),))

    assert tell(called(text))[1] == ["citations"]


def test_media_the_model_made_are_lost_but_for_its_own_speech(tell: Tell) -> None:
    own = Media(kind="audio", file_id="audio_1", origin="acme")
    image = Media(kind="image", data="AA==")

    body, lost = tell(called(own, image, Text(text="a")))

    assert body["messages"][1]["audio"] == {"id": "audio_1"}
    assert lost == ["image"]


def test_a_signature_goes_back_to_who_gave_it(tell: Tell) -> None:
    def sent(origin: str) -> tuple[dict[str, Any], list[str]]:
        call = ToolCall(id="a", name="f", signature="sig", origin=origin)
        body, lost = tell(called(Text(text="t", signature="s2", origin=origin), call))
        return body["messages"][1], lost

    own, nothing = sent("acme")
    brought, _ = sent("~openai")
    foreign, lost = sent("gemini")

    assert own["extra_content"] == {"google": {"thought_signature": "s2"}}
    assert own["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert brought == own
    assert nothing == []
    assert "extra_content" not in foreign
    assert "extra_content" not in foreign["tool_calls"][0]
    assert lost == ["reasoning_signature"]


@pytest.mark.parametrize(
    ("style", "members", "lost"),
    [
        (None, {"content": "a"}, ["reasoning_signature", "reasoning"]),
        (True, {"content": "a", "reasoning_content": "Hm."}, ["reasoning_signature"]),
        ("reasoning", {"content": "a", "reasoning": "Hm."}, ["reasoning_signature"]),
        (
            "reasoning_details",
            {
                "content": "a",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "Hm.", "signature": "sig"}
                ],
            },
            [],
        ),
        (
            "content",
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                    {"type": "text", "text": "a"},
                ]
            },
            ["reasoning_signature"],
        ),
    ],
)
def test_earlier_thinking_goes_back_in_the_vendors_spelling(
    tell: Tell, aim: Aim, style: Any, members: dict[str, Any], lost: list[str]
) -> None:
    options = {} if style is None else {"reasoning_content": style}

    body, noted = tell(called(SIGNED, Text(text="a")), aim(**options))

    assert body["messages"][1] == {"role": "assistant", **members}
    assert noted == lost


def test_sealed_thinking_is_written_for_its_own_vendor_only(tell: Tell, aim: Aim) -> None:
    to = aim("openai/gpt-5", reasoning_content="reasoning_details")
    own = Reasoning(sealed="data", id="rs_1", origin="acme")
    foreign = Reasoning(sealed="data", id="rs_1", origin="other")

    body, nothing = tell(called(own, Text(text="a")), to)
    without, lost = tell(called(foreign, Text(text="a")), to)

    assert body["messages"][1]["reasoning_details"] == [
        {
            "type": "reasoning.encrypted",
            "data": "data",
            "id": "rs_1",
            "format": "openai-responses-v1",
        }
    ]
    assert nothing == []
    assert "reasoning_details" not in without["messages"][1]
    assert lost == ["reasoning_signature"]


def test_unsigned_thinking_is_plain_text_for_a_vendor_that_takes_details(
    tell: Tell, aim: Aim
) -> None:
    to = aim(reasoning_content="reasoning_details")

    body, _ = tell(called(Reasoning(text="Hm."), Text(text="a")), to)

    assert body["messages"][1]["reasoning"] == "Hm."


@pytest.mark.parametrize(
    ("reasoning", "received", "reported"),
    [
        (True, None, True),
        (True, Thinking(effort="low"), True),
        (True, Thinking(enabled=False), False),
        (True, Thinking(show=False), True),
        (None, None, False),
        (None, Thinking(enabled=True), True),
        (None, Thinking(budget=9), True),
        (False, None, False),
        (False, Thinking(enabled=True), False),
    ],
)
def test_a_call_without_its_thinking_gets_the_least_a_thinking_model_accepts(
    tell: Tell, aim: Aim, reasoning: bool | None, received: Thinking | None, reported: bool
) -> None:
    turns = called(ToolCall(id="a", name="f")).turns

    body, _ = tell(
        talk(*turns, thinking=received), aim(reasoning=reasoning, reasoning_content=True)
    )

    message = body["messages"][1]
    assert (message.get("reasoning_content") == " ") is reported
    assert ("reasoning_content" in message) is reported


@pytest.mark.parametrize(
    ("thinking", "style", "expected", "lost"),
    [
        (Thinking(effort="max"), "effort", {"reasoning_effort": "max"}, False),
        (Thinking(budget=100), "effort", {"reasoning_effort": "low"}, False),
        (Thinking(budget=60000), "effort", {"reasoning_effort": "high"}, False),
        (Thinking(enabled=True), "effort", {"reasoning_effort": "medium"}, False),
        (Thinking(enabled=False), "effort", {}, True),
        (
            Thinking(enabled=False, effort="none"),
            "effort",
            {"reasoning_effort": "none"},
            False,
        ),
        (Thinking(show=False), "effort", {}, False),
        (Thinking(effort="low"), "openrouter", {"reasoning": {"effort": "low"}}, False),
        (
            Thinking(budget=9, show=False),
            "openrouter",
            {"reasoning": {"max_tokens": 9, "exclude": True}},
            False,
        ),
        (Thinking(enabled=False), "openrouter", {"reasoning": {"enabled": False}}, False),
        (Thinking(show=False), "openrouter", {"reasoning": {"exclude": True}}, False),
        (Thinking(effort="low"), "thinking", {"thinking": {"type": "enabled"}}, False),
        (Thinking(enabled=False), "thinking", {"thinking": {"type": "disabled"}}, False),
        (
            Thinking(effort="low"),
            "thinking+effort",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
            False,
        ),
        (
            Thinking(enabled=False),
            "thinking+effort",
            {"thinking": {"type": "disabled"}},
            False,
        ),
        (
            Thinking(budget=9),
            "enable_thinking",
            {"enable_thinking": True, "thinking_budget": 9},
            False,
        ),
        (
            Thinking(effort="low"),
            "enable_thinking",
            {"enable_thinking": True, "thinking_budget": 2048},
            False,
        ),
        (Thinking(enabled=False), "enable_thinking", {"enable_thinking": False}, False),
        (Thinking(effort="low"), "none", {}, True),
    ],
)
def test_thinking_is_asked_for_in_the_vendors_way(
    tell: Tell,
    aim: Aim,
    thinking: Thinking,
    style: str,
    expected: dict[str, Any],
    lost: bool,
) -> None:
    plain = aim()
    to = Target(replace(plain.provider, options={"reasoning": style}), plain.model)

    body, noted = tell(talk(thinking=thinking), to)

    assert {n: v for n, v in body.items() if n not in ("model", "messages")} == expected
    assert noted == (["thinking"] if lost else [])


def test_a_model_that_cannot_think_is_not_asked_to(tell: Tell, aim: Aim) -> None:
    to = aim(reasoning=False)

    assert tell(talk(thinking=Thinking(effort="low")), to)[1] == ["thinking"]
    assert tell(talk(thinking=Thinking(enabled=False)), to)[1] == []


def test_details_of_other_work_are_carried_only_beside_details(tell: Tell, aim: Aim) -> None:
    raw = Raw(b'{"type":"reasoning.server_tool_call"}')
    part = Foreign(dialect="openai", type="reasoning.server_tool_call", raw=raw)
    conversation = called(part, Text(text="a"))

    body, nothing = tell(conversation, aim(reasoning_content="reasoning_details"))
    plain, lost = tell(conversation)

    details = body["messages"][1]["reasoning_details"]
    assert details == [{"type": "reasoning.server_tool_call"}]
    assert nothing == []
    assert plain["messages"][1] == {"role": "assistant", "content": "a"}
    assert lost == ["part:reasoning.server_tool_call"]
