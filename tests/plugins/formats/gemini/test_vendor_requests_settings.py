"""Settings as the vendor takes them, and what it could not be told."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Output,
    Refusal,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    ToolResult,
    Turn,
)

Write = Callable[..., dict[str, Any]]


NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"


HELLO = Turn("user", (Text(text="Hello"),))


SCHEMA = Raw(b'{"type":"object","properties":{"q":{"type":"string"}}}')


FUNCTION = Tool(name="f", schema=SCHEMA)


def chat(*turns: Turn, dialect: str = "openai", **more: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), dialect=dialect, **more)


def reported(
    write: Write, conversation: Conversation, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    return write(conversation, losses, **more), list(losses.names)


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def user(*parts: Any) -> Turn:
    return Turn("user", parts)


def test_every_sampling_setting_goes_out(write: Write) -> None:
    sampling = Sampling(
        max_tokens=10,
        temperature=0.5,
        top_p=0.9,
        top_k=4,
        seed=1,
        stop=("a",),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        candidates=2,
        logprobs=True,
        top_logprobs=3,
    )

    body, lost = reported(write, chat(sampling=sampling))

    assert body["generationConfig"] == {
        "maxOutputTokens": 10,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 4,
        "seed": 1,
        "stopSequences": ["a"],
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "candidateCount": 2,
        "responseLogprobs": True,
        "logprobs": 3,
    }
    assert lost == []


@pytest.mark.parametrize(
    ("received", "lost"),
    [
        (chat(sampling=Sampling(min_p=0.1)), ["min_p"]),
        (chat(sampling=Sampling(stop=("a", "b", "c", "d", "e", "f"))), ["stop"]),
        (chat(tools=(FUNCTION,), parallel_tools=False), ["parallel_tools"]),
        (chat(user="u"), ["user"]),
        (chat(cache_key="k"), ["cache_key"]),
        (chat(service_tier="scale"), ["service_tier"]),
        (chat(service_tier="auto"), []),
        (chat(service_tier="flex"), []),
        (chat(Turn("user", (Text(text="a"),), name="Ann")), ["name"]),
        (chat(user(Text(text="a", cache="5m"))), ["cache_control"]),
        (chat(instructions=(Text(text="a", cache="1h"),)), ["cache_control"]),
        (chat(HELLO, assistant(Refusal(text="no"))), ["refusal"]),
        (chat(HELLO, assistant(Text(text="a", citations=(Citation(),)))), ["citations"]),
        (
            chat(user(Media(kind="image", data="AAAA", name="a.png", detail="high"))),
            ["file_name", "detail"],
        ),
        (
            chat(HELLO, assistant(Foreign(dialect="claude", type="mcp_tool_use", raw=Raw(b"{}")))),
            ["part:mcp_tool_use"],
        ),
        (chat(extra={"store": Raw(b"true")}), ["store"]),
        (chat(Turn("user", (Text(text="a"),), extra={"t": Raw(b"1")})), ["t"]),
        (chat(user(Text(text="a", extra={"p": Raw(b"1")}))), ["p"]),
        (chat(tools=(Tool(name="f", extra={"x": Raw(b"1")}),)), ["x"]),
        (chat(instructions=(Text(text="a", extra={"i": Raw(b"1")}),)), ["i"]),
    ],
)
def test_what_cannot_be_said_is_named(
    write: Write, received: Conversation, lost: list[str]
) -> None:
    body, missed = reported(write, received)

    assert body["contents"]
    assert missed == lost


def test_the_priority_of_a_request_is_its_service_tier(write: Write) -> None:
    assert reported(write, chat(service_tier="priority"))[0]["serviceTier"] == "priority"
    assert "serviceTier" not in reported(write, chat(service_tier="default"))[0]


def test_members_of_this_dialect_go_out_where_they_stood(write: Write) -> None:
    received = chat(
        Turn(
            "user",
            (
                Text(text="a", extra={"videoMetadata": Raw(b"1")}),
                ToolResult(call_id="1", name="f", extra={"functionResponse.scheduling": Raw(b"2")}),
            ),
            extra={"t": Raw(b"3")},
        ),
        dialect="gemini",
        tools=(Tool(name="f", extra={"behavior": Raw(b'"BLOCKING"')}),),
        tool_choice=ToolChoice("auto"),
        thinking=Thinking(show=True),
        extra={
            "safetySettings": Raw(b"[]"),
            "generationConfig.speechConfig": Raw(b"4"),
            "generationConfig.thinkingConfig.later": Raw(b"5"),
            "toolConfig.retrievalConfig": Raw(b"6"),
            "toolConfig.functionCallingConfig.mode": Raw(b'"VALIDATED"'),
        },
    )

    body, lost = reported(write, received)

    assert body["contents"] == [
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "1",
                        "name": "f",
                        "response": {"result": ""},
                        "scheduling": 2,
                    }
                },
                {"text": "a", "videoMetadata": 1},
            ],
            "t": 3,
        }
    ]
    assert body["tools"][0]["functionDeclarations"] == [{"name": "f", "behavior": "BLOCKING"}]
    assert body["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"},
        "retrievalConfig": 6,
    }
    assert body["generationConfig"] == {
        "speechConfig": 4,
        "thinkingConfig": {"includeThoughts": True, "later": 5},
    }
    assert body["safetySettings"] == []
    assert lost == []


def test_the_form_of_the_answer(write: Write) -> None:
    schema = Raw(b'{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"null"}}}')

    form, _ = reported(write, chat(output=Output(schema=schema, name="n", strict=True)))
    free, _ = reported(write, chat(output=Output()))

    assert form["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseSchema": {
            "type": "OBJECT",
            "properties": {"b": {"type": "STRING"}, "a": {"type": "NULL"}},
            "propertyOrdering": ["b", "a"],
        },
    }
    assert free["generationConfig"] == {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("output", "lost"), [(Output(), "output_json"), (Output(schema=SCHEMA), "output_schema")]
)
def test_older_models_take_functions_or_a_form_but_not_both(
    write: Write, output: Output, lost: str
) -> None:
    received = chat(tools=(FUNCTION,), output=output)

    old, missed = reported(write, received, model=OLD)
    new, _ = reported(write, received, model=NEW)

    assert "generationConfig" not in old
    assert missed == [lost]
    assert new["generationConfig"]["responseMimeType"] == "application/json"
