"""What a client may ask for besides its turns: settings, tools and the form of the answer."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Conversation,
    Output,
    Sampling,
    Thinking,
    Tool,
    ToolChoice,
)

Read = Callable[..., Conversation]


HELLO = [{"role": "user", "parts": [{"text": "Hello"}]}]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def test_a_nameless_member_is_kept_where_it_stood(read: Read) -> None:
    received = read(
        {
            "contents": [
                {
                    **user({"text": "a", "videoMetadata": {"fps": 2}}),
                    "newer": 1,
                }
            ],
            "tools": [{"functionDeclarations": [{"name": "f", "behavior": "BLOCKING"}]}],
            "safetySettings": [],
            "labels": {"a_b": "c"},
            "not_yet_known": 1,
            "generationConfig": {"speechConfig": {"a": 1}, "thinkingConfig": {"later": 1}},
            "toolConfig": {
                "retrievalConfig": {},
                "functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]},
            },
        }
    )

    assert received.turns[0].extra == {"newer": Raw(b"1")}
    assert received.turns[0].parts[0].extra == {"videoMetadata": Raw(b'{"fps":2}')}
    assert received.tools[0].extra == {"behavior": Raw(b'"BLOCKING"')}
    assert received.tool_choice == ToolChoice("auto")
    assert received.extra == {
        "safetySettings": Raw(b"[]"),
        "labels": Raw(b'{"a_b":"c"}'),
        "not_yet_known": Raw(b"1"),
        "generationConfig.speechConfig": Raw(b'{"a":1}'),
        "generationConfig.thinkingConfig.later": Raw(b"1"),
        "toolConfig.retrievalConfig": Raw(b"{}"),
        "toolConfig.functionCallingConfig.mode": Raw(b'"VALIDATED"'),
        "toolConfig.functionCallingConfig.allowedFunctionNames": Raw(b'["f"]'),
    }


def test_every_sampling_setting_has_its_place(read: Read) -> None:
    received = read(
        {
            "contents": HELLO,
            "generationConfig": {
                "maxOutputTokens": "100",
                "temperature": 0.5,
                "topP": 0.9,
                "topK": 40.0,
                "seed": 7,
                "stopSequences": ["a", "b"],
                "presencePenalty": 1,
                "frequencyPenalty": -1,
                "candidateCount": 2,
                "responseLogprobs": True,
                "logprobs": 3,
                "responseModalities": ["TEXT"],
            },
        }
    )

    assert received.sampling == Sampling(
        max_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        seed=7,
        stop=("a", "b"),
        presence_penalty=1,
        frequency_penalty=-1,
        candidates=2,
        logprobs=True,
        top_logprobs=3,
    )
    assert received.extra == {}


@pytest.mark.parametrize(
    ("config", "thinking"),
    [
        ({"thinkingBudget": 0}, Thinking(enabled=False, budget=0)),
        ({"thinkingBudget": -1}, Thinking(enabled=True, budget=-1)),
        ({"thinkingLevel": "HIGH"}, Thinking(enabled=True, effort="high")),
        ({"thinkingLevel": "minimal"}, Thinking(enabled=True, effort="minimal")),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, Thinking()),
        ({"includeThoughts": True}, Thinking(show=True)),
        ({}, None),
    ],
)
def test_thinking_is_measured_in_words_or_tokens(
    read: Read, config: Any, thinking: Thinking | None
) -> None:
    received = read({"contents": HELLO, "generationConfig": {"thinkingConfig": config}})

    assert received.thinking == thinking


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "none"}, ToolChoice("none")),
        ({"mode": 2}, ToolChoice("required")),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, ToolChoice("only", ("f",))),
        ({"mode": "MODE_UNSPECIFIED"}, None),
    ],
)
def test_a_choice_among_tools(read: Read, calling: Any, choice: ToolChoice | None) -> None:
    received = read({"contents": HELLO, "toolConfig": {"functionCallingConfig": calling}})

    assert received.tool_choice == choice
    assert received.extra == {}


def test_functions_have_json_schemas_whichever_way_they_were_declared(read: Read) -> None:
    own = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    plain = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    received = read(
        {
            "contents": HELLO,
            "tools": [
                {"functionDeclarations": [{"name": "f", "description": "d", "parameters": own}]},
                {"functionDeclarations": [{"name": "g", "parametersJsonSchema": plain}]},
                {"functionDeclarations": [{"name": "h"}]},
            ],
        }
    )

    first, second, third = received.tools
    assert first == Tool(name="f", description="d", schema=Raw(msgspec.json.encode(plain)))
    assert second.schema is not None
    assert msgspec.json.decode(second.schema) == plain
    assert third == Tool(name="h")


@pytest.mark.parametrize(
    ("name", "hosted"),
    [
        ("googleSearch", "web_search"),
        ("google_search", "web_search"),
        ("urlContext", "web_fetch"),
        ("codeExecution", "code_execution"),
        ("fileSearch", "file_search"),
        ("computerUse", "computer"),
        ("googleMaps", "other"),
        ("ofTomorrow", "other"),
    ],
)
def test_the_vendor_s_tools_have_neutral_names(read: Read, name: str, hosted: str) -> None:
    [tool] = read({"contents": HELLO, "tools": {name: {"x": 1}}}).tools

    assert (tool.hosted, tool.dialect) == (hosted, "gemini")
    assert tool.raw is not None
    assert list(msgspec.json.decode(tool.raw).values()) == [{"x": 1}]


@pytest.mark.parametrize(
    ("config", "output", "left"),
    [
        ({"responseMimeType": "application/json"}, Output(), {}),
        ({"responseMimeType": "text/plain"}, None, {}),
        (
            {"responseMimeType": "application/json", "responseSchema": {"type": "STRING"}},
            Output(schema=Raw(b'{"type":"string"}')),
            {},
        ),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"$id": "x"}},
            Output(schema=Raw(b'{"$id":"x"}')),
            {},
        ),
        (
            {"responseMimeType": "text/x.enum", "responseSchema": {"enum": ["a"]}},
            Output(schema=Raw(b'{"enum":["a"]}')),
            {"generationConfig.responseMimeType": Raw(b'"text/x.enum"')},
        ),
    ],
)
def test_the_form_of_the_answer(
    read: Read, config: Any, output: Output | None, left: dict[str, Raw]
) -> None:
    received = read({"contents": HELLO, "generationConfig": config})

    assert received.output == output
    assert received.extra == left


@pytest.mark.parametrize(
    ("written", "tier"), [("flex", "flex"), ("STANDARD", "default"), ("unspecified", None)]
)
def test_the_service_tier_has_a_neutral_name(read: Read, written: str, tier: str | None) -> None:
    assert read({"contents": HELLO, "serviceTier": written}).service_tier == tier
