"""What a client may ask, as the hub has it, and what is refused."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_openai_responses import read_intake
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Citation,
    Conversation,
    Foreign,
    Intake,
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

Json = dict[str, Any]
Ask = Callable[..., Conversation]
OWN = "~openai-responses"


def user(content: Any, **more: Any) -> Json:
    return {"role": "user", "content": content, **more}


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def parts(conversation: Conversation) -> list[Any]:
    return [part for turn in conversation.turns for part in turn.parts]


def test_a_string_is_a_users_turn(ask: Ask) -> None:
    conversation = ask("hello")

    assert conversation.turns == (Turn("user", (Text(text="hello"),)),)
    assert (conversation.model, conversation.dialect) == ("m", "openai-responses")


def test_instructions_stand_before_those_in_the_input(ask: Ask) -> None:
    found = [
        {"role": "system", "content": "one"},
        {"type": "message", "role": "developer", "content": "two"},
        user("q"),
        {"role": "developer", "content": "three"},
    ]

    conversation = ask(found, instructions="zero")

    assert [text.text for text in conversation.instructions] == ["zero", "one", "two"]
    assert conversation.turns[1:] == (Turn("system", (Text(text="three"),)),)


def test_a_developers_picture_is_not_lost_among_instructions(ask: Ask) -> None:
    picture = {"type": "input_image", "image_url": "https://a.example/b.png"}

    conversation = ask([{"role": "developer", "content": [picture]}, user("q")])

    assert conversation.instructions == ()
    assert conversation.turns[0].role == "system"
    assert conversation.turns[0].parts == (Media(kind="image", url="https://a.example/b.png"),)


def test_what_the_model_wrote_is_one_turn_and_so_are_its_results(ask: Ask) -> None:
    found = [
        user("q"),
        {"type": "reasoning", "summary": [], "encrypted_content": "opaque"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x":1}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "free"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
        user("r"),
    ]

    turns = ask(found).turns

    assert turns == (
        Turn("user", (Text(text="q"),)),
        Turn(
            "assistant",
            (
                Reasoning(sealed="opaque", origin=OWN),
                Text(text="a"),
                ToolCall(id="c1", name="f", arguments='{"x":1}'),
                ToolCall(id="c2", name="g", arguments="free", custom=True),
            ),
        ),
        Turn(
            "user",
            (
                ToolResult(call_id="c1", content=(Text(text="one"),)),
                ToolResult(call_id="c2", content=(Text(text="two"),), custom=True),
            ),
        ),
        Turn("user", (Text(text="r"),)),
    )


def test_every_kind_of_content_is_read(ask: Ask) -> None:
    content = [
        {"type": "input_text", "text": "t", "prompt_cache_breakpoint": {"mode": "explicit"}},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,BBB"},
        {"type": "input_file", "file_url": "https://a.example/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "CCCC", "format": "mp3"}},
        {"type": "input_hologram", "beam": 1},
    ]

    (turn,) = ask([user(content)]).turns

    assert turn.parts[:-1] == (
        Text(text="t", cache="5m"),
        Media(kind="image", media_type="image/png", data="AAAA", detail="low"),
        Media(kind="image", file_id="file-1", origin=OWN),
        Media(kind="document", media_type="application/pdf", data="BBB", name="a.pdf"),
        Media(kind="document", url="https://a.example/a.pdf"),
        Media(kind="audio", media_type="audio/mpeg", data="CCCC"),
    )
    unknown = turn.parts[-1]
    assert isinstance(unknown, Foreign)
    assert (unknown.type, json.loads(bytes(unknown.raw))) == ("message.input_hologram", content[-1])


def test_the_long_cache_lifetime_is_kept(ask: Ask) -> None:
    marked = {"mode": "explicit", "ttl": "12h"}
    content = [{"type": "input_text", "text": "t", "prompt_cache_breakpoint": marked}]

    assert parts(ask([user(content)])) == [Text(text="t", cache="1h")]


def test_what_the_model_said_keeps_its_sources_its_refusal_and_its_phase(ask: Ask) -> None:
    source = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    said = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": "commentary",
        "content": [
            {"type": "output_text", "text": "a", "annotations": [source], "logprobs": []},
            {"type": "refusal", "refusal": "no"},
        ],
    }

    text, refusal = parts(ask([user("q"), said]))[1:]

    cited = Citation(url="u", title="t", start=0, end=1, raw=text.citations[0].raw, dialect=OWN[1:])
    assert text == Text(text="a", citations=(cited,), extra={"phase": raw("commentary")})
    assert json.loads(bytes(cited.raw or b"")) == source
    assert refusal == Refusal(text="no")


def test_ids_are_kept_only_where_the_vendor_stores_thinking(ask: Ask) -> None:
    said = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}

    (plain,) = parts(ask([said]))
    stored, call = parts(ask([thought, said]))

    assert plain.extra == {}
    assert stored == Reasoning(id="rs_1", origin=OWN)
    assert call.extra == {"id": raw("fc_1")}


def test_thinking_keeps_its_words_and_whether_they_are_a_summary(ask: Ask) -> None:
    summed = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "x",
    }
    shown = {
        "type": "reasoning",
        "id": "rs_2",
        "summary": [{"type": "summary_text", "text": "a"}],
        "content": [{"type": "reasoning_text", "text": "b"}],
        "encrypted_content": "y",
    }

    found = parts(ask([summed, shown]))

    assert found == [
        Reasoning(text="a\n\nb", summary=True, id="rs_1", sealed="x", origin=OWN),
        Reasoning(text="a", summary=True, id="rs_2", origin=OWN),
        Reasoning(text="b", id="rs_2", sealed="y", origin=OWN),
    ]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("web_search_call", "assistant"),
        ("file_search_call", "assistant"),
        ("computer_call", "assistant"),
        ("computer_call_output", "user"),
        ("code_interpreter_call", "assistant"),
        ("local_shell_call", "assistant"),
        ("local_shell_call_output", "user"),
        ("shell_call_output", "user"),
        ("apply_patch_call_output", "user"),
        ("mcp_list_tools", "assistant"),
        ("mcp_approval_request", "assistant"),
        ("mcp_approval_response", "user"),
        ("mcp_call", "assistant"),
        ("image_generation_call", "assistant"),
        ("compaction", "assistant"),
        ("item_reference", "user"),
        ("something_new", "assistant"),
    ],
)
def test_an_item_of_this_dialect_alone_is_kept_whole(ask: Ask, kind: str, role: str) -> None:
    item = {"type": kind, "id": "x_1", "novelty": {"deep": [1, 2]}}

    turn = ask([user("q"), item]).turns[-1]

    assert turn.role == role
    (part,) = turn.parts
    assert isinstance(part, Foreign)
    assert (part.type, part.dialect) == (kind, "openai-responses")
    assert json.loads(bytes(part.raw)) == item


def test_a_bare_id_refers_to_an_item(ask: Ask) -> None:
    (part,) = parts(ask([{"id": "msg_1"}], previous_response_id="resp_1"))

    assert part.type == "item_reference"


def test_a_picture_the_model_drew_is_a_picture(ask: Ask) -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}

    (part,) = parts(ask([{**drawn, "output_format": "webp"}]))

    assert (part.kind, part.data, part.media_type) == ("image", "AAAA", "image/webp")
    assert set(part.extra) == {"id", "status"}


def test_results_may_hold_pictures_and_files(ask: Ask) -> None:
    output = [
        {"type": "input_text", "text": "t"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]

    (result,) = parts(ask([{"type": "function_call_output", "call_id": "c", "output": output}]))

    assert result.content == (
        Text(text="t"),
        Media(kind="image", media_type="image/png", data="AAAA"),
    )


def test_settings_are_read(ask: Ask) -> None:
    conversation = ask(
        max_output_tokens=100,
        temperature=0.5,
        top_p=1,
        top_logprobs=3,
        include=["message.output_text.logprobs", "web_search_call.action.sources"],
        parallel_tool_calls=False,
        prompt_cache_key="k",
        service_tier="flex",
        user="u",
        store=False,
        metadata={"a": "b"},
        truncation=None,
        _compact=True,
        stream=True,
        x_novelty=[1.50],
    )

    assert conversation.sampling == Sampling(
        max_tokens=100, temperature=0.5, top_p=1.0, top_logprobs=3, logprobs=True
    )
    assert conversation.parallel_tools is False
    assert (conversation.cache_key, conversation.service_tier) == ("k", "flex")
    assert conversation.user == "u"
    assert {name: bytes(value) for name, value in conversation.extra.items()} == {
        "include": b'["web_search_call.action.sources"]',
        "store": b"false",
        "metadata": b'{"a":"b"}',
        "x_novelty": b"[1.5]",
    }


def test_the_newer_name_of_the_user_wins_and_the_older_is_kept(ask: Ask) -> None:
    conversation = ask(user="old", safety_identifier="new")

    assert conversation.user == "new"
    assert conversation.extra == {"user": raw("old")}


@pytest.mark.parametrize(
    ("said", "expected", "extra"),
    [
        ({"effort": "high"}, Thinking(enabled=True, effort="high"), {}),
        ({"effort": "none"}, Thinking(enabled=False, effort="none"), {}),
        ({"summary": "auto"}, Thinking(summary="auto", show=True), {}),
        ({"generate_summary": "concise"}, Thinking(summary="concise", show=True), {}),
        ({"context": "all_turns"}, Thinking(), {"reasoning.context": raw("all_turns")}),
    ],
)
def test_thinking_is_read(ask: Ask, said: Json, expected: Thinking, extra: Any) -> None:
    conversation = ask(reasoning=said)

    assert (conversation.thinking, conversation.extra) == (expected, extra)


def test_a_client_that_keeps_encrypted_thinking_is_remembered(ask: Ask) -> None:
    assert ask(include=["reasoning.encrypted_content"]).thinking == Thinking()


def test_the_form_of_the_answer_is_read(ask: Ask) -> None:
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}

    conversation = ask(text={"format": form, "verbosity": "low"})

    assert conversation.output == Output(schema=raw({"type": "object"}), name="n", strict=True)
    assert conversation.extra == {"text.verbosity": raw("low")}
    assert ask(text={"format": {"type": "json_object"}}).output == Output()
    assert ask(text={"format": {"type": "text"}}).output is None
    assert ask(text={"format": {"type": "grammar", "rule": 1}}).extra == {
        "text.format": raw({"type": "grammar", "rule": 1})
    }


def test_tools_are_read(ask: Ask) -> None:
    custom = {"type": "custom", "name": "c", "format": {"type": "text"}}
    search = {"type": "web_search_preview_2025_03_11", "search_context_size": "low"}
    tools = [
        {
            "type": "function",
            "name": "f",
            "description": "d",
            "parameters": {"type": "object"},
            "strict": None,
            "defer_loading": True,
        },
        custom,
        search,
        {"type": "novelty"},
    ]

    function, free, web, other = ask(tools=tools).tools

    assert function == Tool(
        name="f",
        description="d",
        schema=raw({"type": "object"}),
        extra={"defer_loading": Raw(b"true")},
    )
    assert (free.name, free.custom, json.loads(bytes(free.raw or b""))) == ("c", True, custom)
    assert (web.hosted, json.loads(bytes(web.raw or b""))) == ("web_search", search)
    assert (other.name, other.hosted) == ("novelty", "other")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "f"}, ToolChoice("only", ("f",))),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("only", ("f",))),
        ({"type": "custom", "name": "c"}, ToolChoice("only", ("c",))),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}],
            },
            ToolChoice("only", ("f", "c")),
        ),
    ],
)
def test_a_choice_of_tools_is_read(ask: Ask, said: Any, expected: ToolChoice) -> None:
    conversation = ask(tool_choice=said)

    assert (conversation.tool_choice, conversation.extra) == (expected, {})


@pytest.mark.parametrize(
    "said",
    [
        {"type": "web_search_preview"},
        {"type": "mcp", "server_label": "s", "name": "n"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "file_search"}]},
    ],
)
def test_a_choice_only_this_dialect_has_is_kept_as_it_is(ask: Ask, said: Json) -> None:
    conversation = ask(tool_choice=said)

    assert conversation.tool_choice is None
    assert json.loads(bytes(conversation.extra["tool_choice"])) == said


@pytest.mark.parametrize("name", ["previous_response_id", "conversation", "prompt"])
def test_input_that_the_vendor_keeps_will_do(ask: Ask, name: str) -> None:
    conversation = ask({"model": "m", name: {"id": "x_1"}})

    assert conversation.turns == ()
    assert set(conversation.extra) == {name}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[]", "must be a JSON object"),
        (b"{", "must be a JSON object"),
        ({"model": "m"}, "Missing required parameter: 'input'."),
        ({"input": 7}, "'input': expected a string or an array"),
        ({"input": []}, "'input' must not be empty"),
        ({"input": ["x"]}, "'input[0]': expected an object"),
        ({"input": [{"role": "king", "content": "x"}]}, "'input[0].role': 'king'"),
        ({"input": [{"role": "user"}]}, "'input[0].content'"),
        ({"input": [{"role": "user", "content": 7}]}, "'input[0].content': expected a string"),
        ({"input": [{"role": 7, "content": "x"}]}, "'input[0].role': expected a string"),
        ({"input": [{"role": "user", "content": [{"type": "x"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": [{"text": "x"}]}]}, "input[0].content[0].type"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
            "Missing required parameter: 'input[0].content[0].text'",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input[0].content[0].image_url",
        ),
        (
            {
                "input": [
                    {"role": "user", "content": [{"type": "input_image", "image_url": {"url": 1}}]}
                ]
            },
            "input[0].content[0].image_url': expected a string",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file"}]}]},
            "needs one of file_data, file_url and file_id",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "input[0].content[0].input_audio",
        ),
        ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
        (
            {
                "input": [
                    {
                        "type": "function_call_output",
                        "call_id": "c",
                        "output": [{"type": "refusal", "refusal": "x"}],
                    }
                ]
            },
            "may hold only texts, images and files",
        ),
        ({"input": [{"type": "reasoning", "summary": "x"}]}, "input[0].summary"),
        ({"input": "x", "instructions": 7}, "'instructions': expected a string"),
        ({"input": "x", "tools": {}}, "'tools': expected an array"),
        ({"input": "x", "tools": [{}]}, "'tools[0].type'"),
        ({"input": "x", "tools": [{"type": "function"}]}, "'tools[0].name'"),
        (
            {"input": "x", "tools": [{"type": "function", "name": "f", "parameters": []}]},
            "'tools[0].parameters': expected an object",
        ),
        ({"input": "x", "tools": [{"type": "namespace", "name": "n"}]}, "'tools[0].tools'"),
        ({"input": "x", "tool_choice": "sometimes"}, "'tool_choice': 'sometimes'"),
        ({"input": "x", "tool_choice": {"type": "function"}}, "'tool_choice.name'"),
        ({"input": "x", "tool_choice": 7}, "'tool_choice': expected an object"),
        ({"input": "x", "max_output_tokens": 0}, "max_output_tokens"),
        ({"input": "x", "max_output_tokens": "9"}, "'max_output_tokens': expected an integer"),
        ({"input": "x", "temperature": "hot"}, "'temperature': expected a number"),
        ({"input": "x", "parallel_tool_calls": 1}, "'parallel_tool_calls': expected a boolean"),
        ({"input": "x", "include": "all"}, "'include': expected an array of strings"),
        ({"input": "x", "reasoning": "much"}, "'reasoning': expected an object"),
        ({"input": "x", "text": {"format": {}}}, "'text.format.type'"),
        ({"input": "x", "text": {"format": {"type": "json_schema"}}}, "'text.format.schema'"),
    ],
)
def test_nonsense_is_refused_by_name(ask: Ask, body: Any, words: str) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(body)

    assert words in refused.value.message


def test_the_body_is_not_decoded_twice(client: Any) -> None:
    members = {"model": raw("m"), "input": raw("hello")}
    call = Call(kind="llm", format="x", model="m", stream=True, body=b"not read", members=members)  # type: ignore[arg-type]

    conversation = client.read_request(call)

    assert conversation.stream is True
    assert parts(conversation) == [Text(text="hello")]
    assert set(members) == {"model", "input"}


@pytest.mark.parametrize(
    ("body", "accept", "stream"),
    [
        ({}, "", False),
        ({"stream": True}, "application/json", True),
        ({}, "text/event-stream", True),
        ({}, "application/json, text/event-stream", True),
        ({"stream": False}, "text/event-stream", True),
        ({"stream": False}, "application/json, text/event-stream", False),
        ({"stream": None}, "*/*", False),
    ],
)
def test_a_stream_is_asked_for_by_body_or_header(body: Json, accept: str, stream: bool) -> None:
    members = {name: raw(value) for name, value in {"model": "m", **body}.items()}

    assert read_intake({}, {"accept": accept}, members) == Intake("m", stream)


def test_a_stream_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(BadRequest, match="stream"):
        read_intake({}, {}, {"stream": raw("yes")})
