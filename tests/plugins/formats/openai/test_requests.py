"""What a client may send, read into the hub."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    ClientSide,
    Conversation,
    Foreign,
    Media,
    Output,
    Reasoning,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

Ask = Callable[..., Conversation]
HI = {"role": "user", "content": "hi"}


def part(ask: Ask, piece: Any) -> Any:
    return ask([{"role": "user", "content": [piece]}]).turns[0].parts[0]


def assistant(ask: Ask, **members: Any) -> tuple[Any, ...]:
    return ask([HI, {"role": "assistant", **members}]).turns[1].parts


def test_system_and_developer_text_before_the_first_turn_are_instructions(ask: Ask) -> None:
    conversation = ask(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            HI,
        ]
    )

    assert conversation.instructions == (Text(text="Be brief."), Text(text="Be kind."))
    assert conversation.turns == (Turn("user", (Text(text="hi"),)),)


def test_an_instruction_in_mid_conversation_keeps_its_place(ask: Ask) -> None:
    conversation = ask([HI, {"role": "system", "content": "Now in French."}])

    assert conversation.instructions == ()
    assert conversation.turns[1] == Turn("system", (Text(text="Now in French."),))


def test_a_named_instruction_is_a_turn_so_that_its_name_is_kept(ask: Ask) -> None:
    conversation = ask([{"role": "system", "name": "boss", "content": "Be brief."}, HI])

    assert conversation.turns[0] == Turn("system", (Text(text="Be brief."),), "boss")


def test_input_counts_as_messages_when_messages_are_missing(ask: Ask) -> None:
    said = [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]

    assert ask({"input": said}).turns == (Turn("user", (Text(text="hi"),)),)
    assert ask({"input": "hi"}).turns == (Turn("user", (Text(text="hi"),)),)


def test_messages_win_over_input(ask: Ask) -> None:
    conversation = ask({"messages": [HI], "input": "other"})

    assert conversation.turns == (Turn("user", (Text(text="hi"),)),)
    assert conversation.extra == {"input": Raw(b'"other"')}


def test_members_that_begin_with_an_underscore_are_dropped(ask: Ask) -> None:
    assert ask(_compact=True, _x=1).extra == {}


def test_unknown_members_are_kept_at_the_level_they_stand(ask: Ask) -> None:
    conversation = ask(
        [
            {"role": "user", "content": [{"type": "text", "text": "a", "p": 1}], "t": 2},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f"}, "c": 3}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "x", "r": 4},
        ],
        tools=[{"type": "function", "function": {"name": "f", "deep": 5}, "o": 6}],
        metadata={"a": "b"},
    )

    user, said, result = (turn.parts[0] for turn in conversation.turns)
    assert conversation.dialect == "openai"
    assert conversation.extra == {"metadata": Raw(b'{"a":"b"}')}
    assert conversation.turns[0].extra == {"t": Raw(b"2")}
    assert (user.extra, said.extra, result.extra) == (
        {"p": Raw(b"1")},
        {"c": Raw(b"3")},
        {"r": Raw(b"4")},
    )
    assert conversation.tools[0].extra == {"o": Raw(b"6"), "function": Raw(b'{"deep":5}')}


def test_null_members_count_as_absent(ask: Ask) -> None:
    conversation = ask(
        [{"role": "user", "content": "hi", "name": None, "tool_calls": None}],
        temperature=None,
        stop=None,
        tools=None,
        tool_choice=None,
        response_format=None,
        safety_model=None,
    )

    assert conversation == ask(None)


def test_an_image_by_value_keeps_its_base64_undecoded(ask: Ask) -> None:
    url = {"url": "data:image/png;base64,iVBO!", "detail": "low"}

    image = part(ask, {"type": "image_url", "image_url": url})

    assert image == Media(kind="image", media_type="image/png", data="iVBO!", detail="low")


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            Media(kind="image", url="https://x/y.png"),
        ),
        (
            {"type": "image_url", "image_url": "https://x/y.png"},
            Media(kind="image", url="https://x/y.png"),
        ),
        (
            {"type": "input_image", "image_url": "https://x/y.png", "detail": "high"},
            Media(kind="image", url="https://x/y.png", detail="high"),
        ),
        (
            {"type": "input_image", "file_id": "file-1"},
            Media(kind="image", file_id="file-1", origin="~openai"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
            Media(kind="audio", media_type="audio/mpeg", data="AA=="),
        ),
        (
            {"type": "input_audio", "input_audio": "https://x/y.wav"},
            Media(kind="audio", url="https://x/y.wav"),
        ),
        ({"type": "input_audio", "input_audio": "AA=="}, Media(kind="audio", data="AA==")),
        (
            {"type": "file", "file": {"file_id": "file-1"}},
            Media(kind="document", file_id="file-1", origin="~openai"),
        ),
        (
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
            },
            Media(kind="document", media_type="application/pdf", data="AA==", name="a.pdf"),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x/a.pdf"}},
            Media(kind="document", url="https://x/a.pdf", name="a.pdf"),
        ),
        (
            {"type": "document_url", "document_url": "https://x/a.pdf", "document_name": "a"},
            Media(kind="document", url="https://x/a.pdf", name="a"),
        ),
        (
            {"type": "file_url", "file_url": {"url": "UEsDBB"}, "file_name": "a.docx"},
            Media(kind="document", data="UEsDBB", name="a.docx"),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://x/y.webm"}},
            Media(kind="video", url="https://x/y.webm"),
        ),
        ({"type": "refusal", "refusal": "No."}, Refusal(text="No.")),
        (
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
            Reasoning(text="Hm."),
        ),
        ({"text": "no type"}, Text(text="no type")),
        ("bare", Text(text="bare")),
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            Text(text="a", cache="1h"),
        ),
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
            Text(text="a", cache="5m"),
        ),
    ],
)
def test_a_content_piece_becomes_a_part(ask: Ask, piece: Any, expected: Any) -> None:
    assert part(ask, piece) == expected


def test_a_piece_of_an_unknown_type_is_kept_whole(ask: Ask) -> None:
    assert part(ask, {"type": "hologram", "hologram": [1, 2]}) == Foreign(
        dialect="openai", type="hologram", raw=Raw(b'{"type":"hologram","hologram":[1,2]}')
    )


def test_tool_results_that_follow_one_another_are_one_turn(ask: Ask) -> None:
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in "ab"
    ]
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            {"role": "user", "content": "go on"},
        ]
    )

    assert conversation.turns[2:] == (
        Turn(
            "user",
            (
                ToolResult(call_id="a", content=(Text(text="1"),)),
                ToolResult(call_id="b", content=(Text(text="2"),)),
            ),
        ),
        Turn("user", (Text(text="go on"),)),
    )


def test_a_custom_tool_call_and_its_result_say_that_they_are(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "custom", "custom": {"name": "calc", "input": "4 + 4"}}
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "8"},
        ]
    )

    call, result = conversation.turns[1].parts[0], conversation.turns[2].parts[0]
    assert call == ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)
    assert result == ToolResult(call_id="a", content=(Text(text="8"),), custom=True)


def test_older_function_messages_are_paired_by_name(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {"role": "assistant", "function_call": {"name": "add", "arguments": '{"a":1}'}},
            {"role": "function", "name": "add", "content": "2"},
        ]
    )

    call = conversation.turns[1].parts[0]
    assert call == ToolCall(id="call_1_0", name="add", arguments='{"a":1}')
    assert conversation.turns[2].parts == (
        ToolResult(call_id="call_1_0", name="add", content=(Text(text="2"),)),
    )


def test_a_result_without_an_id_belongs_to_the_call_that_waits(ask: Ask) -> None:
    calls = [{"id": i, "function": {"name": i * 2, "arguments": {"x": 1}}} for i in "ab"]
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "name": "bb", "content": "2"},
            {"role": "tool", "content": "1"},
        ]
    )

    assert conversation.turns[1].parts[0] == ToolCall(id="a", name="aa", arguments='{"x":1}')
    results = [p.call_id for p in conversation.turns[2].parts if isinstance(p, ToolResult)]
    assert results == ["b", "a"]


def test_a_piece_that_a_result_cannot_hold_is_shown_as_json(ask: Ask) -> None:
    conversation = ask(
        [
            HI,
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "json", "v": 1}]},
        ]
    )

    assert conversation.turns[2].parts == (
        ToolResult(call_id="a", content=(Text(text='{"type":"json","v":1}'),)),
    )


def test_thinking_comes_back_in_three_spellings(ask: Ask) -> None:
    assert assistant(ask, content="a", reasoning_content="Hm.") == (
        Reasoning(text="Hm."),
        Text(text="a"),
    )
    assert assistant(ask, content="a", reasoning="Hm.")[0] == Reasoning(text="Hm.")
    details = [
        {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "f", "index": 0},
        {"type": "reasoning.summary", "summary": "Short."},
        {"type": "reasoning.encrypted", "data": "sealed", "id": "rs_1"},
        {"type": "reasoning.server_tool_call", "x": 1},
    ]
    assert assistant(ask, content="a", reasoning="Hm.", reasoning_details=details) == (
        Reasoning(
            text="Hm.",
            signature="sig",
            origin="~openai",
            extra={"format": Raw(b'"f"'), "index": Raw(b"0")},
        ),
        Reasoning(text="Short.", summary=True),
        Reasoning(sealed="sealed", id="rs_1", origin="~openai"),
        Foreign(
            dialect="openai",
            type="reasoning.server_tool_call",
            raw=Raw(b'{"type":"reasoning.server_tool_call","x":1}'),
        ),
        Text(text="a"),
    )


def test_a_raw_proof_of_a_call_or_message_is_this_dialects_own(ask: Ask) -> None:
    proof = {"google": {"thought_signature": "sig"}}
    call = {"id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": proof}

    assert assistant(ask, tool_calls=[call]) == (
        ToolCall(id="a", name="f", arguments="{}", signature="sig", origin="~openai"),
    )
    assert assistant(ask, content="x", extra_content=proof) == (
        Text(text="x", signature="sig", origin="~openai"),
    )


def test_earlier_speech_is_known_by_its_id(ask: Ask) -> None:
    assert assistant(ask, audio={"id": "audio_1"}) == (
        Media(kind="audio", file_id="audio_1", origin="~openai"),
    )


def test_a_refusal_is_its_own_part(ask: Ask) -> None:
    assert assistant(ask, content=None, refusal="No.") == (Refusal(text="No."),)


def test_what_clients_echo_from_answers_is_no_extra(ask: Ask) -> None:
    conversation = ask(
        [HI, {"role": "assistant", "content": "a", "annotations": [], "refusal": None}]
    )

    assert conversation.turns[1] == Turn("assistant", (Text(text="a"),))


def test_sampling_members_have_canonical_names(ask: Ask) -> None:
    sampling = ask(
        max_completion_tokens=10,
        max_tokens=99,
        temperature=1,
        top_p=0.5,
        top_k=3,
        min_p=0.1,
        seed=7,
        stop="END",
        presence_penalty=0.2,
        frequency_penalty=0.3,
        n=2,
        logprobs=True,
        top_logprobs=4,
    ).sampling

    assert sampling.max_tokens == 10
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (1.0, 0.5, 3)
    assert (sampling.min_p, sampling.seed, sampling.stop) == (0.1, 7, ("END",))
    assert (sampling.presence_penalty, sampling.frequency_penalty) == (0.2, 0.3)
    assert (sampling.candidates, sampling.logprobs, sampling.top_logprobs) == (2, True, 4)


def test_the_older_limit_counts_when_it_stands_alone(ask: Ask) -> None:
    assert ask(max_tokens=5.0).sampling.max_tokens == 5
    assert ask(stop=["a", "b"]).sampling.stop == ("a", "b")


def test_labels_have_canonical_names(ask: Ask) -> None:
    conversation = ask(user="u", prompt_cache_key="k", service_tier="flex", model="x/y")

    assert (conversation.user, conversation.cache_key) == ("u", "k")
    assert (conversation.service_tier, conversation.model) == ("flex", "x/y")


@pytest.mark.parametrize(
    ("options", "wanted", "left"),
    [
        (None, False, {}),
        ({"include_usage": True}, True, {}),
        ({"include_usage": False}, False, {}),
        (
            {"include_usage": True, "include_obfuscation": False},
            True,
            {"stream_options": Raw(b'{"include_obfuscation":false}')},
        ),
    ],
)
def test_usage_in_the_stream_is_a_wish(
    ask: Ask, options: Any, wanted: bool, left: dict[str, Raw]
) -> None:
    conversation = ask(stream=True, stream_options=options)

    assert conversation.stream
    assert conversation.stream_usage is wanted
    assert conversation.extra == left


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"reasoning_effort": "low"}, Thinking(effort="low")),
        ({"reasoning_effort": "none"}, Thinking(effort="none", enabled=False)),
        ({"reasoning": {"effort": "high"}}, Thinking(effort="high")),
        (
            {"reasoning": {"max_tokens": 2000, "exclude": True}},
            Thinking(budget=2000, show=False),
        ),
        ({"reasoning": {"enabled": True}}, Thinking(enabled=True)),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            Thinking(enabled=True, budget=9),
        ),
        ({"thinking": {"type": "disabled"}}, Thinking(enabled=False)),
        (
            {"enable_thinking": True, "thinking_budget": 50},
            Thinking(enabled=True, budget=50),
        ),
        (
            {"reasoning_effort": "low", "thinking": {"type": "enabled", "budget_tokens": 9}},
            Thinking(enabled=True, effort="low"),
        ),
        ({"include_reasoning": False}, Thinking(show=False)),
        ({}, None),
    ],
)
def test_every_way_of_asking_for_thinking_is_understood(
    ask: Ask, members: dict[str, Any], expected: Thinking | None
) -> None:
    conversation = ask(**members)

    assert conversation.thinking == expected
    assert conversation.extra == {}


def test_a_thinking_object_that_says_more_stays_among_the_extras(ask: Ask) -> None:
    conversation = ask(thinking={"type": "enabled", "clear_thinking": False})

    assert conversation.thinking == Thinking(enabled=True)
    assert list(conversation.extra) == ["thinking"]


def test_the_header_that_hides_thinking_speaks_of_whole_answers(
    client: ClientSide, call: Callable[..., Call]
) -> None:
    headers = {"x-gateway-reasoning": "off"}

    whole = client.read_request(call({"messages": [HI]}, headers=headers))
    streamed = client.read_request(call({"messages": [HI]}, headers=headers, stream=True))

    assert whole.thinking == Thinking(show=False)
    assert streamed.thinking is None


def test_function_tools_keep_their_schemas_verbatim(ask: Ask) -> None:
    body = (
        b'{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":'
        b'{"name":"f","description":"d","strict":true,"parameters":{"type": "object" }},'
        b'"cache_control":{"type":"ephemeral"}}]}'
    )

    (tool,) = ask(body).tools

    assert (tool.name, tool.description, tool.strict, tool.cache) == ("f", "d", True, "5m")
    assert tool.schema == Raw(b'{"type": "object" }')


def test_other_tools_are_kept_in_their_own_words(ask: Ask) -> None:
    custom = {"type": "custom", "custom": {"name": "calc", "description": "d"}}
    tools = ask(
        tools=[custom, {"type": "openrouter:web_search", "parameters": {}}, {"type": "magic"}],
        web_search_options={"search_context_size": "low"},
    ).tools

    assert (tools[0].name, tools[0].custom, tools[0].dialect) == ("calc", True, "openai")
    assert [tool.hosted for tool in tools[1:]] == ["web_search", "other", "web_search"]
    assert tools[3].raw == Raw(b'{"search_context_size":"low"}')


def test_a_tool_without_a_type_is_a_function(ask: Ask) -> None:
    assert ask(tools=[{"function": {"name": "f"}}]).tools[0].name == "f"


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ("any", ToolChoice("required")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("only", ("f",))),
        ({"type": "custom", "custom": {"name": "c"}}, ToolChoice("only", ("c",))),
        ({"type": "tool", "name": "f"}, ToolChoice("only", ("f",))),
        ({"type": "auto"}, ToolChoice("auto")),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": n}} for n in "fg"],
                },
            },
            ToolChoice("only", ("f", "g")),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            ToolChoice("auto", ("f",)),
        ),
    ],
)
def test_the_choice_among_tools(ask: Ask, choice: Any, expected: ToolChoice) -> None:
    assert ask(tool_choice=choice).tool_choice == expected


def test_older_functions_are_tools_of_a_client_that_wants_the_older_answer(ask: Ask) -> None:
    conversation = ask(functions=[{"name": "add", "parameters": {}}], function_call={"name": "add"})

    (tool,) = conversation.tools
    assert (tool.name, tool.dialect) == ("add", "openai-functions")
    assert conversation.tool_choice == ToolChoice("only", ("add",))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, Output()),
        ({"type": "json_object", "schema": {}}, Output(schema=Raw(b"{}"))),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {}, "strict": True}},
            Output(schema=Raw(b"{}"), name="n", strict=True),
        ),
    ],
)
def test_the_form_of_the_answer(ask: Ask, form: Any, expected: Output | None) -> None:
    conversation = ask(response_format=form)

    assert conversation.output == expected
    assert conversation.extra == {}


def test_an_unknown_form_stays_among_the_extras(ask: Ask) -> None:
    conversation = ask(response_format={"type": "grammar", "grammar": "x"})

    assert conversation.output is None
    assert list(conversation.extra) == ["response_format"]


USER = {"role": "user"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "The request body must be a JSON object"),
        (b'{"messages":', "The request body must be a JSON object"),
        ({}, "messages is missing"),
        ({"messages": []}, "messages must not be empty"),
        ({"messages": "hi"}, "messages must be an array"),
        ({"messages": ["hi"]}, "messages[0] must be an object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role is missing"),
        (
            {"messages": [{"role": "robot"}]},
            "messages[0].role must be one of system, developer, user, assistant, tool, "
            "function, not 'robot'",
        ),
        (
            {"messages": [{**USER, "content": 5}]},
            "messages[0].content must be a string or an array of parts",
        ),
        ({"messages": [{**USER, "content": [5]}]}, "messages[0].content[0] must be an object"),
        ({"messages": [{**USER, "content": [{}]}]}, "messages[0].content[0].type is missing"),
        (
            {"messages": [{**USER, "content": [{"type": "text"}]}]},
            "messages[0].content[0].text is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "image_url"}]}]},
            "messages[0].content[0].image_url.url is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "messages[0].content[0].input_audio.data is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "file", "file": {}}]}]},
            "messages[0].content[0].file must have file_data or file_id",
        ),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages[0].tool_call_id is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]},
            "messages[0].tool_calls[0].function is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
            "messages[0].tool_calls[0].function.name is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"type": "custom"}]}]},
            "messages[0].tool_calls[0].custom.name is missing",
        ),
        ({"messages": [HI], "temperature": "hot"}, "temperature must be a number"),
        ({"messages": [HI], "max_tokens": 1.5}, "max_tokens must be an integer"),
        ({"messages": [HI], "n": True}, "n must be an integer"),
        ({"messages": [HI], "logprobs": 1}, "logprobs must be true or false"),
        ({"messages": [HI], "stop": 1}, "stop must be a string or an array of strings"),
        ({"messages": [HI], "stop": [1]}, "stop[0] must be a string"),
        ({"messages": [HI], "user": 1}, "user must be a string"),
        ({"messages": [HI], "tools": [{"type": "function"}]}, "tools[0].function is missing"),
        (
            {"messages": [HI], "tools": [{"type": "function", "function": {}}]},
            "tools[0].function.name is missing",
        ),
        ({"messages": [HI], "tools": [{"type": "custom"}]}, "tools[0].custom.name is missing"),
        (
            {"messages": [HI], "tool_choice": "maybe"},
            "tool_choice must be none, auto, required or an object",
        ),
        (
            {"messages": [HI], "response_format": {"type": "json_schema"}},
            "response_format.json_schema is missing",
        ),
        ({"messages": [HI], "stream_options": 1}, "stream_options must be an object"),
    ],
)
def test_a_malformed_request_is_refused_by_name(ask: Ask, body: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(body if isinstance(body, bytes) else dict(body))

    assert refused.value.message == message


def test_an_infinite_number_is_refused(ask: Ask) -> None:
    with pytest.raises(BadRequest, match="temperature"):
        ask(b'{"messages":[{"role":"user","content":"x"}],"temperature":1e999}')
