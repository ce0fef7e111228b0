"""What a client of the local model server may send, and what it may not."""

import json
from typing import Any

import pytest
from gateway_format_ollama import OLLAMA
from msgspec import Raw

from gateway_core import (
    Answered,
    BadRequest,
    Intake,
    Media,
    Output,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    seal_id,
)

HELLO = {"role": "user", "content": "Hello"}
CALL = {"function": {"name": "weather", "arguments": {"city": "Rome"}}}


def asking(**members: Any) -> dict[str, Any]:
    return {"model": "gemma3", "messages": [HELLO], **members}


@pytest.mark.parametrize("endpoint", OLLAMA.endpoints, ids=lambda endpoint: endpoint.path)
@pytest.mark.parametrize(
    ("members", "intake"),
    [
        ({}, Intake("llama3.2", True)),
        ({"model": Raw(b'""')}, Intake("llama3.2", True)),
        ({"model": Raw(b'"a/b"'), "stream": Raw(b"false")}, Intake("a/b", False)),
        ({"stream": Raw(b"null")}, Intake("llama3.2", True)),
    ],
)
def test_routing_knows_the_dialects_defaults(endpoint: Any, members: Any, intake: Intake) -> None:
    assert endpoint.read({}, {}, members) == intake


@pytest.mark.parametrize("member", ["model", "stream"])
def test_routing_refuses_what_makes_no_sense(member: str) -> None:
    with pytest.raises(BadRequest, match=member):
        OLLAMA.endpoints[0].read({}, {}, {member: Raw(b"7")})


def test_both_paths_are_served() -> None:
    assert [endpoint.path for endpoint in OLLAMA.endpoints] == ["/v1/api/chat", "/api/chat"]


def test_a_request_without_a_model_or_stream_flag_gets_the_defaults(ask: Any) -> None:
    conversation = ask({"messages": [HELLO]})

    assert (conversation.model, conversation.stream) == ("llama3.2", True)


def test_system_messages_at_the_beginning_are_instructions(ask: Any) -> None:
    conversation = ask(
        asking(
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "SYSTEM", "content": "Be kind."},
                HELLO,
                {"role": "system", "content": "Now in French."},
            ]
        )
    )

    assert conversation.instructions == (Text(text="Be brief."), Text(text="Be kind."))
    assert [turn.role for turn in conversation.turns] == ["user", "system"]


def test_a_system_messages_further_members_stay_with_its_text(ask: Any) -> None:
    conversation = ask(asking(messages=[{"role": "system", "content": "a", "x": 1}, HELLO]))

    assert conversation.instructions == (Text(text="a", extra={"messages.x": Raw(b"1")}),)
    assert len(conversation.turns) == 1


def test_a_system_message_with_an_image_stays_a_turn(ask: Any) -> None:
    shown = {"role": "system", "content": "a", "images": ["AAAA"]}

    conversation = ask(asking(messages=[shown, HELLO]))

    assert conversation.instructions == ()
    assert conversation.turns[0].role == "system"


@pytest.mark.parametrize(
    ("image", "media_type"),
    [
        ("iVBORw0KGgoAAA==", "image/png"),
        ("/9j/4AAQSkZJRg==", "image/jpeg"),
        ("R0lGODlhAQABAA==", "image/gif"),
        ("UklGRiQAAABXRUJQVlA4IA==", "image/webp"),
        ("UklGRiQAAABXQVZFZm10IA==", None),
        ("AAAA", None),
    ],
)
def test_an_images_type_is_told_by_its_first_bytes(ask: Any, image: str, media_type: Any) -> None:
    conversation = ask(asking(messages=[{**HELLO, "images": [image]}]))

    media = Media(kind="image", media_type=media_type, data=image)
    assert conversation.turns[0].parts == (Text(text="Hello"), media)


def test_a_data_url_is_taken_apart(ask: Any) -> None:
    conversation = ask(asking(messages=[{"role": "user", "images": ["data:image/png;base64,AA"]}]))

    assert conversation.turns[0].parts == (Media(kind="image", media_type="image/png", data="AA"),)


def test_an_assistants_thinking_words_and_calls_come_in_that_order(ask: Any) -> None:
    message = {"role": "assistant", "content": "Let me see", "thinking": "Hm", "tool_calls": [CALL]}

    (turn,) = ask(asking(messages=[message])).turns

    assert turn.parts == (
        Reasoning(text="Hm"),
        Text(text="Let me see"),
        ToolCall(id="call_0001", name="weather", arguments='{"city":"Rome"}'),
    )


def test_calls_without_ids_get_unique_ones_and_results_find_them(ask: Any) -> None:
    second = {"function": {"name": "time", "arguments": {}}}
    turns = ask(
        asking(
            messages=[
                {"role": "assistant", "tool_calls": [CALL, CALL, second]},
                {"role": "tool", "tool_name": "time", "content": "noon"},
                {"role": "tool", "content": "sunny"},
                {"role": "tool", "name": "weather", "content": "rainy"},
                {"role": "assistant", "tool_calls": [CALL]},
                {"role": "tool", "content": "cloudy"},
            ]
        )
    ).turns

    calls = [part.id for turn in turns for part in turn.parts if isinstance(part, ToolCall)]
    results = [p.call_id for turn in turns for p in turn.parts if isinstance(p, ToolResult)]
    assert calls == ["call_0001", "call_0002", "call_0003", "call_0004"]
    assert results == ["call_0003", "call_0001", "call_0002", "call_0004"]


def test_ids_that_the_client_has_are_kept_and_never_given_twice(ask: Any) -> None:
    turns = ask(
        asking(
            messages=[
                {"role": "assistant", "tool_calls": [{"id": "call_0002", **CALL}, CALL, CALL]},
                {"role": "tool", "tool_call_id": "call_0002", "content": "sunny"},
                {"role": "tool", "tool_name": "unheard_of", "content": "?"},
            ]
        )
    ).turns

    calls = [part.id for part in turns[0].parts if isinstance(part, ToolCall)]
    results = [p.call_id for turn in turns[1:] for p in turn.parts if isinstance(p, ToolResult)]
    assert calls[0] == results[0] == "call_0002"
    assert len({*calls, results[1]}) == 4


@pytest.mark.parametrize(
    ("spelled", "arguments"),
    [
        (b'{"a": 1.0,  "b":[ ]}', '{"a": 1.0,  "b":[ ]}'),
        (b'"{\\"a\\":1}"', '{"a":1}'),
        (b"null", "{}"),
    ],
)
def test_arguments_stay_as_the_client_spelled_them(
    ask: Any, spelled: bytes, arguments: str
) -> None:
    body = (
        b'{"messages":[{"role":"assistant","tool_calls":'
        b'[{"function":{"name":"f","arguments":%b,"index":0}}]}]}' % spelled
    )

    (turn,) = ask(body).turns

    assert turn.parts == (ToolCall(id="call_0001", name="f", arguments=arguments),)


def test_thinking_comes_back_out_of_the_id_that_carried_it(ask: Any) -> None:
    thought = Reasoning(text="Hm. ", signature="sig", origin="maker")
    sealed = seal_id("c1", "maker", "own", [thought])
    messages = [
        {
            "role": "assistant",
            "content": "So",
            "thinking": "Hm. And more.",
            "tool_calls": [{"id": sealed, **CALL}],
        },
        {"role": "tool", "tool_call_id": sealed, "content": "sunny"},
    ]

    turns = ask(asking(messages=messages)).turns

    call = ToolCall(
        id="c1", name="weather", arguments='{"city":"Rome"}', signature="own", origin="maker"
    )
    assert turns[0].parts == (thought, Reasoning(text="And more."), Text(text="So"), call)
    assert turns[1].parts == (ToolResult(call_id="c1", content=(Text(text="sunny"),)),)


def test_thinking_that_the_client_changed_gives_way_to_what_was_signed(ask: Any) -> None:
    thought = Reasoning(text="Hm.", signature="sig", origin="maker")
    call = {"id": seal_id("c1", "maker", None, [thought]), **CALL}
    second = {"id": seal_id("c2", "maker", None, [Reasoning(sealed="x", origin="maker")]), **CALL}
    message = {"role": "assistant", "thinking": "Hmm?", "tool_calls": [call, second]}

    (turn,) = ask(asking(messages=[message])).turns

    assert [part for part in turn.parts if isinstance(part, Reasoning)] == [
        thought,
        Reasoning(sealed="x", origin="maker"),
    ]


def test_options_become_sampling_and_the_rest_stays(ask: Any) -> None:
    conversation = ask(
        asking(
            options={
                "num_predict": 5,
                "temperature": 1,
                "top_p": 0.5,
                "top_k": 40.0,
                "min_p": 0.1,
                "seed": 9007199254740993,
                "stop": "END",
                "presence_penalty": 0.2,
                "frequency_penalty": 0.3,
                "num_ctx": 4096,
            },
            logprobs=True,
            top_logprobs=2,
        )
    )

    sampling = conversation.sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p) == (5, 1.0, 0.5)
    assert (sampling.top_k, sampling.min_p, sampling.seed) == (40, 0.1, 9007199254740993)
    assert (sampling.stop, sampling.presence_penalty) == (("END",), 0.2)
    assert (sampling.frequency_penalty, sampling.logprobs, sampling.top_logprobs) == (0.3, True, 2)
    assert conversation.extra == {"options": Raw(b'{"num_ctx":4096}')}


@pytest.mark.parametrize("limit", [-1, -2, 0])
def test_a_limit_that_is_no_count_stays_in_its_own_dialect(ask: Any, limit: int) -> None:
    conversation = ask(asking(options={"num_predict": limit}))

    assert conversation.sampling.max_tokens is None
    assert conversation.extra == {"options": Raw(b'{"num_predict":%d}' % limit)}


@pytest.mark.parametrize(
    ("think", "thinking"),
    [
        (True, Thinking(enabled=True, show=True)),
        (False, Thinking(enabled=False)),
        ("low", Thinking(enabled=True, effort="low", show=True)),
        ("max", Thinking(enabled=True, effort="max", show=True)),
        (None, None),
    ],
)
def test_think_is_a_flag_or_a_word(ask: Any, think: Any, thinking: Thinking | None) -> None:
    assert ask(asking(think=think)).thinking == thinking


@pytest.mark.parametrize(
    ("form", "output"),
    [
        ("json", Output()),
        ({"type": "object"}, Output(schema=Raw(b'{"type":"object"}'))),
        ("", None),
        (None, None),
    ],
)
def test_format_is_json_or_a_schema(ask: Any, form: Any, output: Output | None) -> None:
    assert ask(asking(format=form)).output == output


def test_tools_keep_their_schemas_undecoded_and_what_is_unknown(ask: Any) -> None:
    body = (
        b'{"messages":[{"role":"user"}],"keep_alive":"5m","tools":[{"type":"function","cache":1,'
        b'"function":{"name":"f","description":"d","parameters":{"type" : "object"},"deep":2}}]}'
    )

    conversation = ask(body)

    (tool,) = conversation.tools
    assert (tool.name, tool.description, tool.schema) == ("f", "d", Raw(b'{"type" : "object"}'))
    assert tool.extra == {"cache": Raw(b"1"), "function": Raw(b'{"deep":2}')}
    assert conversation.extra == {"keep_alive": Raw(b'"5m"')}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"model": "m"}, "load"),
        ({"model": "m", "messages": []}, "load"),
        ({"model": "m", "messages": [], "keep_alive": "10m"}, "load"),
        ({"model": "m", "messages": None, "keep_alive": -1}, "load"),
        ({"model": "m", "messages": [], "keep_alive": 0}, "unload"),
        ({"model": "m", "messages": [], "keep_alive": "0s"}, "unload"),
    ],
)
def test_a_request_without_messages_has_a_known_answer(
    ask: Any, body: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Answered) as raised:
        ask(body)

    line = raised.value.write(1_800_000_000)

    assert line.endswith(b"}\n")
    assert json.loads(line) == {
        "model": "m",
        "created_at": "2027-01-15T08:00:00Z",
        "message": {"role": "assistant", "content": ""},
        "done_reason": reason,
        "done": True,
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "JSON object"),
        (b"[]", "JSON object"),
        (b'{"messages":', "JSON object"),
        (b"\xff", "JSON object"),
        (b"[" * 100_000, "JSON object"),
        ({"messages": "Hello"}, "messages must be a list of objects"),
        ({"messages": [7]}, "messages must be a list of objects"),
        ({"messages": [{"content": "a"}]}, r"messages\[0\].role must be system, user"),
        ({"messages": [{"role": "robot"}]}, r"messages\[0\].role must be system, user"),
        ({"messages": [HELLO, {"role": 1}]}, r"messages\[1\].role must be a string"),
        ({"messages": [{"role": "user", "content": []}]}, r"messages\[0\].content must be a str"),
        ({"messages": [{"role": "user", "images": "A"}]}, r"messages\[0\].images must be a list"),
        ({"messages": [{"role": "assistant", "thinking": 1}]}, r"messages\[0\].thinking must be"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            r"messages\[0\].tool_calls\[0\].function must be an object",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
            r"messages\[0\].tool_calls\[0\].function.name must be a string",
        ),
        (b'{"model":7,"messages":[{"role":"user"}]}', "model must be a string"),
        (asking(stream="yes"), "stream must be true or false"),
        (asking(tools={}), "tools must be a list of objects"),
        (asking(tools=[{}]), r"tools\[0\].function.name must be a string"),
        (asking(options=[]), "options must be an object"),
        (asking(options={"temperature": "hot"}), "options.temperature must be a number"),
        (asking(options={"top_k": 1.5}), "options.top_k must be an integer"),
        (asking(options={"stop": [1]}), "options.stop must be a string or a list of strings"),
        (asking(logprobs=1), "logprobs must be true or false"),
        (asking(think="hard"), "think must be true, false or one of low, medium, high, max"),
        (asking(think=[]), "think must be"),
        (asking(format="xml"), 'format must be "json" or a JSON schema'),
        (asking(format=7), "format must be"),
    ],
)
def test_a_malformed_request_is_refused_by_name(ask: Any, body: Any, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        ask(body)
