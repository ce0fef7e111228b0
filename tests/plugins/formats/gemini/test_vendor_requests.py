"""Any conversation as a request that the vendor takes, and what it could not say."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Output,
    Reasoning,
    Refusal,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
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


def told(write: Write, conversation: Conversation, **more: Any) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    return write(conversation, losses, **more), list(losses.names)


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def user(*parts: Any) -> Turn:
    return Turn("user", parts)


def test_roles_take_turns_and_results_follow_their_calls(write: Write) -> None:
    body, lost = told(
        write,
        chat(
            HELLO,
            user(Text(text="again")),
            assistant(Text(text="let me see")),
            assistant(ToolCall(id="1", name="f", arguments='{"q":"x"}')),
            Turn("system", (Text(text="Be kind."),)),
            user(ToolResult(call_id="1", content=(Text(text="found"),))),
            user(Text(text="well?")),
        ),
    )

    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "Hello"}, {"text": "again"}]},
        {
            "role": "model",
            "parts": [
                {"text": "let me see"},
                {"functionCall": {"id": "1", "name": "f", "args": {"q": "x"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "1", "name": "f", "response": {"result": "found"}}},
                {"text": "Be kind."},
                {"text": "well?"},
            ],
        },
    ]
    assert lost == []


def test_empty_parts_are_never_sent(write: Write) -> None:
    body, _ = told(
        write,
        chat(HELLO, assistant(Text(text="")), user(Text(text=""), Text(text="b")), assistant()),
    )

    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hello"}, {"text": "b"}]}]


def test_the_user_speaks_first(write: Write) -> None:
    body, _ = told(write, chat(assistant(Text(text="Hi, I am a bot.")), HELLO))

    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert body["contents"][0]["parts"] == [{"text": " "}]


def test_instructions_alone_are_what_the_user_says(write: Write) -> None:
    alone = Conversation(instructions=(Text(text="Tell a joke."),), dialect="openai")

    body, _ = told(write, alone)

    assert body == {"contents": [{"role": "user", "parts": [{"text": "Tell a joke."}]}]}


def test_a_conversation_without_anything_to_send_is_a_bad_request(write: Write) -> None:
    with pytest.raises(BadRequest, match="holds nothing"):
        write(chat(assistant(Text(text=""))))


@pytest.mark.parametrize(
    ("model", "options"), [("gemma-3-27b-it", {}), (OLD, {"system_instruction": False})]
)
def test_a_model_without_instructions_is_told_them_by_the_user(
    write: Write, model: str, options: Any
) -> None:
    asked = chat(instructions=(Text(text="Be brief."),))

    body, _ = told(write, asked, model=model, options=options)

    assert "systemInstruction" not in body
    assert body["contents"][0]["parts"] == [{"text": "Be brief."}, {"text": "Hello"}]
    plain, _ = told(write, asked)
    assert plain["systemInstruction"] == {"parts": [{"text": "Be brief."}]}


@pytest.mark.parametrize(
    ("content", "failed", "response"),
    [
        ("sunny", False, {"result": "sunny"}),
        ('{"sky": "blue"}', False, {"sky": "blue"}),
        ('[1, {"a": 2}]', False, {"result": [1, {"a": 2}]}),
        ('{"error": "x"}', False, {"result": {"error": "x"}}),
        ("{broken", False, {"result": "{broken"}),
        ("42", False, {"result": "42"}),
        ("", False, {"result": ""}),
        ("boom", True, {"error": "boom"}),
        ('{"code": 1}', True, {"error": {"code": 1}}),
    ],
)
def test_a_tool_s_answer_becomes_an_object(
    write: Write, content: str, failed: bool, response: Any
) -> None:
    result = ToolResult(call_id="1", name="f", content=(Text(text=content),), failed=failed)

    body, _ = told(write, chat(HELLO, assistant(ToolCall(id="1", name="f")), user(result)))

    [part] = body["contents"][2]["parts"]
    assert part["functionResponse"]["response"] == response


PICTURE = Media(kind="image", media_type="image/png", data="AAAA")
SOUND = Media(kind="audio", media_type="audio/wav", data="AAAA")


def test_pictures_of_a_tool_are_in_its_answer_where_the_model_takes_them(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="1", name="f", signature="s", origin="google")),
        user(
            ToolResult(call_id="1", content=(Text(text="see"), PICTURE, SOUND)), Text(text="what?")
        ),
    )
    blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    sound = {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}

    new, _ = told(write, chat(*turns), model=NEW)
    old, _ = told(write, chat(*turns), model=OLD)

    answer = {"id": "1", "name": "f", "response": {"result": "see"}}
    assert new["contents"][2]["parts"] == [
        {"functionResponse": {**answer, "parts": [blob]}},
        sound,
        {"text": "what?"},
    ]
    assert old["contents"][2]["parts"] == [
        {"functionResponse": answer},
        blob,
        sound,
        {"text": "what?"},
    ]


def test_a_result_bears_the_name_of_its_call(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="1", name="right", signature="s", origin="google")),
        user(
            ToolResult(call_id="1", name="wrong"),
            ToolResult(call_id="2", name="orphan"),
            ToolResult(call_id="3"),
        ),
    )

    body, _ = told(write, chat(*turns, dialect="gemini"))

    names = [part["functionResponse"]["name"] for part in body["contents"][2]["parts"]]
    assert names == ["right", "orphan", "3"]


def test_every_call_is_answered_and_every_answer_has_a_call(write: Write) -> None:
    turns = (
        HELLO,
        user(ToolResult(call_id="9", name="gone", content=(Text(text="late"),))),
        user(ToolResult(call_id="8")),
        assistant(ToolCall(id="1", name="f"), ToolCall(id="2", name="g")),
        user(Text(text="wait")),
        user(ToolResult(call_id="1", content=(Text(text="one"),)), Text(text="go on")),
    )

    body, lost = told(write, chat(*turns))

    assert body["contents"][0]["parts"][1:] == [
        {"text": "Result of gone:"},
        {"text": "late"},
        {"text": "Result of 8:"},
    ]
    assert body["contents"][2]["parts"] == [
        {"functionResponse": {"id": "1", "name": "f", "response": {"result": "one"}}},
        {
            "functionResponse": {
                "id": "2",
                "name": "g",
                "response": {"error": "This call was never answered."},
            }
        },
        {"text": "wait"},
        {"text": "go on"},
    ]
    assert lost == []


def test_without_ids_results_stand_in_the_order_of_their_calls(write: Write) -> None:
    turns = (
        HELLO,
        assistant(ToolCall(id="a", name="f"), ToolCall(id="b", name="f")),
        user(
            ToolResult(call_id="b", content=(Text(text="second"),)),
            ToolResult(call_id="a", content=(Text(text="first"),)),
        ),
    )

    body, _ = told(write, chat(*turns), options={"call_ids": False})

    assert [part["functionResponse"] for part in body["contents"][2]["parts"]] == [
        {"name": "f", "response": {"result": "first"}},
        {"name": "f", "response": {"result": "second"}},
    ]
    assert body["contents"][1]["parts"][0] == {"functionCall": {"name": "f", "args": {}}}


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (ToolCall(id="1", name="f", arguments=""), {}),
        (ToolCall(id="1", name="f", arguments=' {"a": 1} '), {"a": 1}),
        (ToolCall(id="1", name="f", arguments="[1]"), {"input": "[1]"}),
        (ToolCall(id="1", name="f", arguments='{"a": '), {"input": '{"a": '}),
        (ToolCall(id="1", name="f", arguments="{}", custom=True), {"input": "{}"}),
    ],
)
def test_arguments_are_always_an_object(write: Write, call: ToolCall, args: Any) -> None:
    body, _ = told(write, chat(HELLO, assistant(call)))

    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == args


@pytest.mark.parametrize(
    ("media", "part"),
    [
        (PICTURE, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        (
            Media(kind="image", data="iVBORw0KGgoAAA"),
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAA"}},
        ),
        (
            Media(kind="document", data="AAAA"),
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
        ),
        (
            Media(kind="image", url="data:image/webp;base64,AAAA"),
            {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}},
        ),
        (
            Media(kind="document", url="data:text/plain,a%20b"),
            {"inlineData": {"mimeType": "text/plain", "data": "YSBi"}},
        ),
        (
            Media(kind="image", url="https://example.com/a.gif"),
            {"fileData": {"mimeType": "image/gif", "fileUri": "https://example.com/a.gif"}},
        ),
        (
            Media(kind="image", url="https://example.com/a"),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a"}},
        ),
        (
            Media(kind="video", url="https://www.youtube.com/watch?v=x"),
            {"fileData": {"fileUri": "https://www.youtube.com/watch?v=x"}},
        ),
        (
            Media(kind="document", text="plain"),
            {
                "inlineData": {
                    "mimeType": "text/plain",
                    "data": base64.b64encode(b"plain").decode(),
                }
            },
        ),
        (
            Media(kind="image", file_id="files/x", origin="google"),
            {"fileData": {"fileUri": "files/x"}},
        ),
    ],
)
def test_media_by_value_by_address_and_by_id(write: Write, media: Media, part: Any) -> None:
    body, lost = told(write, chat(user(media)))

    assert body["contents"][0]["parts"] == [part]
    assert lost == []


def test_a_file_of_another_vendor_is_a_loss(write: Write) -> None:
    file = Media(kind="document", file_id="file-1", origin="openai")

    body, lost = told(write, chat(user(Text(text="a"), file)))

    assert body["contents"][0]["parts"] == [{"text": "a"}]
    assert lost == ["file_id"]


PLACEHOLDER = "skip_thought_signature_validator"


def test_a_signature_goes_back_to_the_one_who_can_read_it(write: Write) -> None:
    turns = (
        HELLO,
        assistant(
            Reasoning(text="hm", signature="r", origin="google"),
            ToolCall(id="1", name="f", signature="sig", origin="google"),
            Text(text="t", signature="txt", origin="~gemini"),
        ),
    )

    mine, lost = told(write, chat(*turns), model=NEW)
    theirs, missed = told(write, chat(*turns), model=NEW, provider="other")

    assert [part.get("thoughtSignature") for part in mine["contents"][1]["parts"]] == [
        "r",
        "sig",
        "txt",
    ]
    assert lost == []
    assert [part.get("thoughtSignature") for part in theirs["contents"][1]["parts"]] == [
        None,
        PLACEHOLDER,
        "txt",
    ]
    assert missed == ["reasoning_signature"]


def test_thinking_without_proof_is_shown_and_sealed_thinking_is_left_out(write: Write) -> None:
    turn = assistant(
        Reasoning(text="I think", signature="x", origin="anthropic"),
        Reasoning(sealed="abc", origin="anthropic"),
        Text(text="so"),
    )

    body, lost = told(write, chat(HELLO, turn))

    assert body["contents"][1]["parts"] == [{"text": "I think", "thought": True}, {"text": "so"}]
    assert lost == ["reasoning_signature"]


LOOP = (
    HELLO,
    assistant(ToolCall(id="0", name="f")),
    user(ToolResult(call_id="0", name="f")),
    assistant(Text(text="done")),
    user(Text(text="next")),
    assistant(ToolCall(id="1", name="f"), ToolCall(id="2", name="f")),
    user(ToolResult(call_id="1", name="f"), ToolResult(call_id="2", name="f")),
    assistant(Text(text="and"), ToolCall(id="3", name="f", signature="s", origin="~gemini")),
    user(ToolResult(call_id="3", name="f"), Text(text="beside")),
    assistant(ToolCall(id="4", name="f")),
)


def signatures(body: dict[str, Any]) -> dict[str, str | None]:
    return {
        part["functionCall"]["id"]: part.get("thoughtSignature")
        for content in body["contents"]
        for part in content["parts"]
        if "functionCall" in part
    }


@pytest.mark.parametrize("model", [NEW, "gemini-flash-latest", "gemini-3.1-pro", "gemini-4-argon"])
def test_the_first_call_of_each_step_of_the_turn_has_a_signature(write: Write, model: str) -> None:
    body, lost = told(write, chat(*LOOP), model=model)

    assert signatures(body) == {
        "0": None,  # an earlier turn
        "1": PLACEHOLDER,
        "2": None,  # only the first of a step
        "3": "s",
        "4": PLACEHOLDER,
    }
    assert lost == ["reasoning_signature"]


@pytest.mark.parametrize(
    ("model", "options"), [(OLD, {}), ("elsewhere", {}), (NEW, {"signature_placeholder": False})]
)
def test_others_get_no_placeholder(write: Write, model: str, options: Any) -> None:
    body, lost = told(write, chat(*LOOP), model=model, options=options)

    assert PLACEHOLDER not in str(body)
    assert lost == []


def test_functions_are_declared_with_schemas_the_vendor_takes(write: Write) -> None:
    schema = Raw(
        b'{"$schema":"x","type":"object","additionalProperties":false,'
        b'"properties":{"n":{"type":["integer","null"]}},"required":["n"]}'
    )
    tool = Tool(name="f", description="d", schema=schema, strict=True, cache="5m")

    body, lost = told(write, chat(tools=(tool, Tool(name="g"))))

    assert body["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "d",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"n": {"type": "INTEGER", "nullable": True}},
                        "required": ["n"],
                    },
                },
                {"name": "g"},
            ]
        }
    ]
    assert lost == ["cache_control", "strict", "schema:$schema", "schema:additionalProperties"]


def test_a_vendor_may_take_json_schema_as_it_is(write: Write) -> None:
    schema = Raw(b'{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}')
    asked = chat(tools=(Tool(name="f", schema=schema),), output=Output(schema=schema))

    body, lost = told(write, asked, model=NEW, options={"json_schema": True})

    plain = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}
    [declared] = body["tools"][0]["functionDeclarations"]
    assert declared == {"name": "f", "parametersJsonSchema": plain}
    assert body["generationConfig"]["responseJsonSchema"] == plain
    assert lost == []


def test_a_client_of_this_dialect_that_chose_json_schema_keeps_it(write: Write) -> None:
    needy = Raw(b'{"type":"object","properties":{"a":{"const":1.5}},"additionalProperties":false}')
    asked = chat(dialect="gemini", tools=(Tool(name="f", schema=needy), FUNCTION))

    body, lost = told(write, asked)

    first, second = body["tools"][0]["functionDeclarations"]
    assert "parametersJsonSchema" in first
    assert "parameters" in second
    assert lost == []


def test_free_text_tools_take_their_text_as_a_member(write: Write) -> None:
    tool = Tool(name="patch", custom=True, raw=Raw(b'{"type":"custom"}'), dialect="openai")

    body, lost = told(write, chat(tools=(tool,)))

    [declared] = body["tools"][0]["functionDeclarations"]
    assert declared["parameters"]["properties"] == {"input": {"type": "STRING"}}
    assert lost == ["tool:custom"]


def hosted(name: str, raw: bytes = b"{}") -> Tool:
    return Tool(name=name, hosted=name, raw=Raw(raw), dialect="claude")


def test_server_tools_have_counterparts_or_are_lost(write: Write) -> None:
    settings = b'{"type":"web_search_20250305","name":"web_search","max_uses":3}'
    tools = (
        hosted("web_search", settings),
        hosted("web_fetch"),
        hosted("code_execution"),
        hosted("computer"),
        hosted("web_search"),
    )

    body, lost = told(write, chat(tools=tools))

    assert body["tools"] == [{"googleSearch": {}}, {"urlContext": {}}, {"codeExecution": {}}]
    assert lost == ["tool:web_search.max_uses", "tool:computer"]


def test_functions_and_server_tools_go_together_since_the_third_generation(write: Write) -> None:
    asked = chat(tools=(FUNCTION, hosted("web_search")))

    old, lost = told(write, asked, model=OLD)
    new, kept = told(write, asked, model=NEW)
    bare, _ = told(write, asked, model=NEW, options={"server_tool_invocations": False})

    assert [list(tool) for tool in old["tools"]] == [["functionDeclarations"]]
    assert lost == ["tool:web_search"]
    assert [list(tool) for tool in new["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert new["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert "toolConfig" not in bare
    assert kept == []


@pytest.mark.parametrize(
    ("choice", "calling", "lost"),
    [
        (ToolChoice("auto"), {"mode": "AUTO"}, []),
        (ToolChoice("none"), {"mode": "NONE"}, []),
        (ToolChoice("required"), {"mode": "ANY"}, []),
        (ToolChoice("only", ("f",)), {"mode": "ANY", "allowedFunctionNames": ["f"]}, []),
        (
            ToolChoice("only", ("f", "web_search")),
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
            ["tool_choice"],
        ),
        (ToolChoice("only", ("web_search",)), None, ["tool_choice"]),
        (None, None, []),
    ],
)
def test_the_choice_among_tools(
    write: Write, choice: ToolChoice | None, calling: Any, lost: list[str]
) -> None:
    body, missed = told(write, chat(tools=(FUNCTION,), tool_choice=choice))

    assert body.get("toolConfig", {}).get("functionCallingConfig") == calling
    assert missed == lost


@pytest.mark.parametrize(
    ("choice", "lost"), [(ToolChoice("required"), ["tool_choice"]), (ToolChoice("auto"), [])]
)
def test_no_choice_is_sent_without_functions(
    write: Write, choice: ToolChoice, lost: list[str]
) -> None:
    body, missed = told(write, chat(tool_choice=choice))

    assert list(body) == ["contents"]
    assert missed == lost


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

    body, lost = told(write, chat(sampling=sampling))

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
    ("asked", "lost"),
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
        (chat(user(Text(text="a"), Media(kind="image"))), ["image"]),
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
def test_what_cannot_be_said_is_named(write: Write, asked: Conversation, lost: list[str]) -> None:
    body, missed = told(write, asked)

    assert body["contents"]
    assert missed == lost


def test_the_priority_of_a_request_is_its_service_tier(write: Write) -> None:
    assert told(write, chat(service_tier="priority"))[0]["serviceTier"] == "priority"
    assert "serviceTier" not in told(write, chat(service_tier="default"))[0]


def test_members_of_this_dialect_go_out_where_they_stood(write: Write) -> None:
    asked = chat(
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

    body, lost = told(write, asked)

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


@pytest.mark.parametrize(
    ("model", "thinking", "config", "lost"),
    [
        (NEW, Thinking(effort="low"), {"thinkingLevel": "low"}, []),
        (NEW, Thinking(effort="max"), {"thinkingLevel": "high"}, []),
        (NEW, Thinking(effort="minimal"), {"thinkingLevel": "minimal"}, []),
        (NEW, Thinking(effort="none"), {"thinkingLevel": "minimal"}, ["thinking"]),
        (NEW, Thinking(enabled=False), {"thinkingLevel": "minimal"}, ["thinking"]),
        (NEW, Thinking(enabled=True), None, []),
        (NEW, Thinking(budget=2000), {"thinkingLevel": "low"}, []),
        (NEW, Thinking(budget=-1), None, []),
        ("gemini-3-pro-preview", Thinking(effort="minimal"), {"thinkingLevel": "low"}, []),
        ("gemini-3-pro-preview", Thinking(effort="medium"), {"thinkingLevel": "high"}, []),
        ("gemini-3.1-pro", Thinking(effort="medium"), {"thinkingLevel": "medium"}, []),
        (OLD, Thinking(effort="low"), {"thinkingBudget": 2048}, []),
        (OLD, Thinking(effort="max"), {"thinkingBudget": 24576}, []),
        (OLD, Thinking(effort="none"), {"thinkingBudget": 0}, []),
        (OLD, Thinking(enabled=False), {"thinkingBudget": 0}, []),
        (OLD, Thinking(enabled=True), {"thinkingBudget": -1}, []),
        (OLD, Thinking(budget=5000, show=True), {"thinkingBudget": 5000}, []),
        ("gemini-2.5-pro", Thinking(effort="none"), {"thinkingBudget": 128}, ["thinking"]),
        ("gemini-2.5-pro", Thinking(budget=99999), {"thinkingBudget": 32768}, []),
        ("gemini-2.5-flash-lite", Thinking(budget=1), {"thinkingBudget": 512}, []),
        ("gemini-2.0-flash", Thinking(effort="high", show=True), None, ["thinking"]),
        ("gemini-2.0-flash", Thinking(effort="none"), None, []),
        ("elsewhere", Thinking(effort="medium"), {"thinkingBudget": 8192}, []),
        (OLD, Thinking(summary="detailed"), {"includeThoughts": True}, ["summary"]),
        (OLD, Thinking(show=False), {"includeThoughts": False}, []),
    ],
)
def test_thinking_is_asked_for_as_the_model_knows_it(
    write: Write, model: str, thinking: Thinking, config: Any, lost: list[str]
) -> None:
    body, missed = told(write, chat(thinking=thinking), model=model)

    said = body.get("generationConfig", {}).get("thinkingConfig")
    expected = {**config, "includeThoughts": True} if config and thinking.show else config
    assert said == expected
    assert missed == lost


@pytest.mark.parametrize(
    ("model", "thinking", "config"),
    [
        (NEW, Thinking(enabled=True, budget=6400), {"thinkingBudget": 6400}),
        (NEW, Thinking(enabled=True, effort="low"), {"thinkingLevel": "low"}),
        (OLD, Thinking(enabled=True, effort="low"), {"thinkingBudget": 2048}),
        ("elsewhere", Thinking(enabled=True, effort="low"), {"thinkingLevel": "low"}),
        ("gemini-2.0-flash", Thinking(show=True), {"includeThoughts": True}),
    ],
)
def test_a_client_of_this_dialect_knows_its_model(
    write: Write, model: str, thinking: Thinking, config: Any
) -> None:
    body, lost = told(write, chat(dialect="gemini", thinking=thinking), model=model)

    assert body["generationConfig"]["thinkingConfig"] == config
    assert lost == []


def test_a_model_that_is_known_not_to_think_is_not_asked_to(write: Write) -> None:
    _, lost = told(write, chat(thinking=Thinking(effort="high")), model="x", reasoning=False)

    assert lost == ["thinking"]


def test_the_form_of_the_answer(write: Write) -> None:
    schema = Raw(b'{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"null"}}}')

    form, _ = told(write, chat(output=Output(schema=schema, name="n", strict=True)))
    free, _ = told(write, chat(output=Output()))

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
    asked = chat(tools=(FUNCTION,), output=output)

    old, missed = told(write, asked, model=OLD)
    new, _ = told(write, asked, model=NEW)

    assert "generationConfig" not in old
    assert missed == [lost]
    assert new["generationConfig"]["responseMimeType"] == "application/json"
