"""What a client may send, and what the hub makes of it."""

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_gemini.requests import read_conversation
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Foreign,
    Media,
    Output,
    Reasoning,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

Read = Callable[..., Conversation]

HELLO = [{"role": "user", "parts": [{"text": "Hello"}]}]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def result(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def test_the_path_names_the_model_and_the_way_of_answering(read: Read) -> None:
    asked = read({"contents": HELLO, "model": "models/other"}, "google/gemini-x", True)

    assert (asked.model, asked.stream, asked.dialect) == ("google/gemini-x", True, "gemini")
    assert asked.turns == (Turn("user", (Text(text="Hello"),)),)
    assert asked.extra == {}


def test_both_spellings_of_every_name_are_read(read: Read) -> None:
    camel = read(
        {
            "contents": [user({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "generationConfig": {
                "maxOutputTokens": 5,
                "stopSequences": ["x"],
                "thinkingConfig": {"thinkingBudget": 7, "includeThoughts": True},
                "responseMimeType": "application/json",
            },
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
        }
    )

    snake = read(
        {
            "contents": [user({"inline_data": {"mime_type": "image/png", "data": "AAAA"}})],
            "system_instruction": {"parts": [{"text": "Be brief."}]},
            "generation_config": {
                "max_output_tokens": 5,
                "stop_sequences": ["x"],
                "thinking_config": {"thinking_budget": 7, "include_thoughts": True},
                "response_mime_type": "application/json",
            },
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
            "tools": [{"function_declarations": [{"name": "f"}]}],
        }
    )

    assert camel == snake


@pytest.mark.parametrize(
    "instruction",
    ["Be brief.", {"parts": [{"text": "Be brief."}], "role": "user"}, [{"text": "no"}]],
    ids=["a string", "a content", "neither"],
)
def test_instructions_are_a_string_or_a_content(read: Read, instruction: Any) -> None:
    body = {"contents": HELLO, "systemInstruction": instruction}
    if isinstance(instruction, list):
        with pytest.raises(BadRequest, match="systemInstruction must be an object"):
            read(body)
    else:
        assert read(body).instructions == (Text(text="Be brief."),)


def test_contents_of_one_role_in_a_row_are_one_turn(read: Read) -> None:
    asked = read(
        {
            "contents": [
                user({"text": "a"}),
                {"parts": [{"text": "b"}]},
                model({"text": "Hel"}),
                model({"text": "lo"}, {"text": ""}),
                {"role": "function", "parts": [result("f", {})]},
            ]
        }
    )

    assert asked.turns[0] == Turn("user", (Text(text="a"), Text(text="b")))
    assert asked.turns[1] == Turn("assistant", (Text(text="Hello"),))
    assert asked.turns[2].role == "user"


def test_parts_beside_a_function_s_result_follow_it(read: Read) -> None:
    asked = read(
        {
            "contents": [
                user({"text": "go"}),
                model(call("f", id="1")),
                user({"text": "and look"}, result("f", {"result": "done"}, id="1")),
            ]
        }
    )

    assert asked.turns[2].parts == (
        ToolResult(call_id="1", name="f", content=(Text(text="done"),)),
        Text(text="and look"),
    )


def test_calls_without_ids_are_matched_by_name_in_order(read: Read) -> None:
    asked = read(
        {
            "contents": [
                user({"text": "go"}),
                model(call("f"), call("g"), call("f")),
                user(result("f", {"result": "1"}), result("f", {"result": "2"}), result("g", {})),
                model(call("f")),
                user(result("f", {"result": "3"}), result("f", {"result": "orphan"})),
            ]
        }
    )

    calls = [part.id for turn in asked.turns for part in turn.parts if isinstance(part, ToolCall)]
    results = [p.call_id for t in asked.turns for p in t.parts if isinstance(p, ToolResult)]
    assert calls == ["call_f", "call_g", "call_f_2", "call_f_3"]
    assert results == ["call_f", "call_f_2", "call_g", "call_f_3", "call_f_4"]


def test_ids_that_were_given_are_kept(read: Read) -> None:
    contents = [user({"text": "go"}), model(call("f", id="b"), call("f", id="a"))]
    asked = read({"contents": [*contents, user(result("f", {}, id="a"), result("f", {}))]})

    assert [part.call_id for part in asked.turns[2].parts if isinstance(part, ToolResult)] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"result": "ok"}, "ok", False),
        ({"output": [1, 2]}, "[1,2]", False),
        ({"result": {"a": 1}}, '{"a":1}', False),
        ({"error": "boom"}, "boom", True),
        ({"error": {"code": 3}}, '{"code":3}', True),
        ({"city": "Paris", "result": 1}, '{"city":"Paris","result":1}', False),
        ({"answer": 42}, '{"answer":42}', False),
        ({}, "{}", False),
    ],
)
def test_a_function_s_response_is_any_object(
    read: Read, response: Any, text: str, failed: bool
) -> None:
    asked = read({"contents": [user(result("f", response, id="1"))]})

    expected = ToolResult(call_id="1", name="f", content=(Text(text=text),), failed=failed)
    assert asked.turns[0].parts == (expected,)


def test_pictures_in_a_function_s_result_stay_in_it(read: Read) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}}
    asked = read({"contents": [user(result("f", {"result": "see"}, id="1", parts=[picture]))]})

    media = Media(kind="image", media_type="image/png", data="AAAA", name="a.png")
    assert asked.turns[0].parts == (
        ToolResult(call_id="1", name="f", content=(Text(text="see"), media)),
    )


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"inlineData": {"mimeType": "audio/mp3", "data": "AA=="}},
            Media(kind="audio", media_type="audio/mp3", data="AA=="),
        ),
        (
            {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}},
            Media(kind="document", media_type="application/pdf", data="AA=="),
        ),
        (
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/film"}},
            Media(kind="video", media_type="video/mp4", url="gs://bucket/film"),
        ),
        (
            {"fileData": {"fileUri": "https://youtu.be/x"}},
            Media(kind="video", url="https://youtu.be/x"),
        ),
        (
            {"fileData": {"fileUri": "https://example.com/a.png?x=1"}},
            Media(kind="image", url="https://example.com/a.png?x=1"),
        ),
        (
            {
                "fileData": {
                    "mimeType": "text/plain",
                    "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/abc",
                }
            },
            Media(
                kind="document",
                media_type="text/plain",
                file_id="https://generativelanguage.googleapis.com/v1beta/files/abc",
                origin="~gemini",
            ),
        ),
    ],
)
def test_media_are_told_apart_by_type_and_address(read: Read, part: Any, media: Media) -> None:
    assert read({"contents": [user(part)]}).turns[0].parts == (media,)


def test_thinking_and_signatures_of_the_client_are_its_dialect_s_own(read: Read) -> None:
    asked = read(
        {
            "contents": [
                user({"text": "go"}),
                model(
                    {"text": "Hm", "thought": True},
                    {"text": "m.", "thought": True},
                    {**call("f", id="1"), "thoughtSignature": "c2ln"},
                    {"text": "then"},
                    {"text": "", "thoughtSignature": "dGFpbA=="},
                ),
            ]
        }
    )

    assert asked.turns[1].parts == (
        Reasoning(text="Hmm."),
        ToolCall(id="1", name="f", arguments="{}", signature="c2ln", origin="~gemini"),
        Text(text="then", signature="dGFpbA==", origin="~gemini"),
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("executableCode", "executableCode"),
        ("executable_code", "executableCode"),
        ("codeExecutionResult", "codeExecutionResult"),
        ("toolCall", "toolCall"),
        ("toolResponse", "toolResponse"),
        ("fromTomorrow", "fromTomorrow"),
    ],
)
def test_what_only_this_dialect_knows_is_kept_as_it_is(read: Read, name: str, kind: str) -> None:
    asked = read({"contents": [model({name: {"x": 1}, "thoughtSignature": "c2ln"})]})

    [part] = asked.turns[0].parts
    assert isinstance(part, Foreign)
    assert (part.type, part.dialect) == (kind, "gemini")
    assert bytes(part.raw) == b'{"%b":{"x":1}}' % name.encode()
    assert (part.signature, part.origin) == ("c2ln", "~gemini")


def test_a_picture_drawn_while_thinking_is_no_answer(read: Read) -> None:
    drawn = {"thought": True, "inlineData": {"mimeType": "image/png", "data": "AAAA"}}

    [part] = read({"contents": [model(drawn)]}).turns[0].parts

    assert isinstance(part, Foreign)
    assert part.type == "inlineData"


def test_a_nameless_member_is_kept_where_it_stood(read: Read) -> None:
    asked = read(
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

    assert asked.turns[0].extra == {"newer": Raw(b"1")}
    assert asked.turns[0].parts[0].extra == {"videoMetadata": Raw(b'{"fps":2}')}
    assert asked.tools[0].extra == {"behavior": Raw(b'"BLOCKING"')}
    assert asked.tool_choice == ToolChoice("auto")
    assert asked.extra == {
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
    asked = read(
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

    assert asked.sampling == Sampling(
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
    assert asked.extra == {}


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
    asked = read({"contents": HELLO, "generationConfig": {"thinkingConfig": config}})

    assert asked.thinking == thinking


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
    asked = read({"contents": HELLO, "toolConfig": {"functionCallingConfig": calling}})

    assert asked.tool_choice == choice
    assert asked.extra == {}


def test_functions_have_json_schemas_whichever_way_they_were_declared(read: Read) -> None:
    own = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    plain = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    asked = read(
        {
            "contents": HELLO,
            "tools": [
                {"functionDeclarations": [{"name": "f", "description": "d", "parameters": own}]},
                {"functionDeclarations": [{"name": "g", "parametersJsonSchema": plain}]},
                {"functionDeclarations": [{"name": "h"}]},
            ],
        }
    )

    first, second, third = asked.tools
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
    asked = read({"contents": HELLO, "generationConfig": config})

    assert asked.output == output
    assert asked.extra == left


@pytest.mark.parametrize(
    ("said", "tier"), [("flex", "flex"), ("STANDARD", "default"), ("unspecified", None)]
)
def test_the_service_tier_has_a_neutral_name(read: Read, said: str, tier: str | None) -> None:
    assert read({"contents": HELLO, "serviceTier": said}).service_tier == tier


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ([], "the body must be an object"),
        ({}, "contents must hold"),
        ({"contents": []}, "contents must hold"),
        ({"contents": "Hello"}, "contents must be a list"),
        ({"contents": ["Hello"]}, r"contents\[0\] must be an object"),
        ({"contents": [{"role": "system", "parts": []}]}, r"contents\[0\].role: please use"),
        ({"contents": [{"role": "user", "parts": []}]}, "at least one part"),
        ({"contents": [user({"text": 5})]}, r"contents\[0\].parts\[0\].text must be a string"),
        ({"contents": [user("x")]}, r"contents\[0\].parts\[0\] must be an object"),
        ({"contents": [model({"functionCall": {}})]}, "functionCall.name must be given"),
        ({"contents": [model(call("f", args=[1]))]}, "functionCall.args must be an object"),
        ({"contents": [user(result("f", "text"))]}, "functionResponse.response must be an object"),
        ({"contents": [user({"functionResponse": {"response": {}}})]}, "functionResponse.name"),
        ({"contents": [user({"fileData": {}})]}, "fileData.fileUri must be given"),
        ({"contents": HELLO, "tools": "x"}, "tools must be a list"),
        ({"contents": HELLO, "tools": [{"functionDeclarations": [{}]}]}, "name must be given"),
        (
            {"contents": HELLO, "generationConfig": {"temperature": "hot"}},
            "generationConfig.temperature must be a number",
        ),
        (
            {"contents": HELLO, "generationConfig": {"topK": 1.5}},
            "generationConfig.topK must be a whole number",
        ),
        (
            {"contents": HELLO, "generationConfig": {"responseLogprobs": "yes"}},
            "responseLogprobs must be true or false",
        ),
        (
            {"contents": HELLO, "generationConfig": {"stopSequences": [1]}},
            "stopSequences must be a list of strings",
        ),
        (
            {"contents": HELLO, "toolConfig": {"functionCallingConfig": {"mode": []}}},
            "functionCallingConfig.mode must be a word",
        ),
        (
            {
                "contents": HELLO,
                "generationConfig": {
                    "thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "low"}
                },
            },
            "cannot be used together",
        ),
        ({"contents": HELLO, "systemInstruction": {"parts": [{"inlineData": {}}]}}, "be a text"),
    ],
)
def test_a_malformed_request_is_refused_by_its_member_s_name(
    read: Read, body: Any, complaint: str
) -> None:
    with pytest.raises(BadRequest, match=complaint):
        read(body)


@pytest.mark.parametrize("body", [b"", b"{", b'{"contents": [', b"[" * 5000, b"\xff{}", b"nul"])
def test_bytes_that_are_no_json_are_a_bad_request(read: Read, body: bytes) -> None:
    with pytest.raises(BadRequest):
        read(body)


NAMES = st.sampled_from(
    [
        *("contents", "role", "parts", "text", "thought", "thoughtSignature", "functionCall"),
        *("functionResponse", "inlineData", "fileData", "name", "args", "response", "id", "mode"),
        *("tools", "functionDeclarations", "parameters", "type", "properties", "toolConfig"),
        *("functionCallingConfig", "allowedFunctionNames", "generationConfig", "thinkingConfig"),
        *("thinkingBudget", "thinkingLevel", "responseSchema", "systemInstruction", "mimeType"),
    ]
)
WORDS = st.sampled_from(["user", "model", "ANY", "OBJECT", "f", "", "X2d3UzFf"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@given(st.dictionaries(NAMES, ANYTHING, max_size=5), ANYTHING)
def test_no_json_whatever_is_met_with_surprise(body: dict[str, Any], contents: Any) -> None:
    for sent in (body, {**body, "contents": contents}, {**body, "contents": HELLO}):
        with contextlib.suppress(BadRequest):
            assert read_conversation(msgspec.json.encode(sent), "m", stream=False).turns
