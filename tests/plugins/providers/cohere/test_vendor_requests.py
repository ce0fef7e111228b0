"""Any conversation as a request for Cohere's chat, and what is lost on the way."""

from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Media,
    Output,
    PartUnsupported,
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

HELLO = Turn("user", (Text(text="Hello"),))
TOOL = Tool(name="f", schema=Raw(b'{"type":"object"}'))
THINKS = "command-a-reasoning-08-2025"
X = {"x": Raw(b"1")}


def saying(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), **members)


def user(*parts: Any) -> Turn:
    return Turn("user", (Text(text="Look"), *parts))


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def test_a_plain_question(tell: Any) -> None:
    body, losses = tell(saying(instructions=(Text(text="Be"), Text(text="brief."))))

    assert body == {
        "model": "command-a-03-2025",
        "messages": [
            {"role": "system", "content": "Be\n\nbrief."},
            {"role": "user", "content": "Hello"},
        ],
        "stream": False,
    }
    assert losses == []


def test_images_stand_in_blocks_and_documents_beside_the_messages(tell: Any) -> None:
    body, losses = tell(
        saying(
            user(
                Media(kind="image", media_type="image/jpeg", data="AAAA"),
                Media(kind="image", url="https://a/b.png", detail="low"),
                Media(kind="document", text="Milk", name="notes"),
                Media(kind="document", text="Eggs"),
            )
        )
    )

    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
    ]
    assert body["documents"] == [
        {"id": "doc:0", "data": {"title": "notes", "text": "Milk"}},
        {"id": "doc:1", "data": {"text": "Eggs"}},
    ]
    assert losses == []


def test_thinking_beside_a_call_is_the_plan(tell: Any) -> None:
    call = ToolCall(id="c1", name="f", arguments='{"a":1}')
    result = ToolResult(call_id="c1", content=(Text(text="a"), Media(kind="document", text="b")))

    body, losses = tell(
        saying(HELLO, assistant(Reasoning(text="Hm. "), Text(text="So."), call), user(result))
    )

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "tool_plan": "Hm. So.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "document", "document": {"data": {"text": "b"}}},
            ],
        },
        {"role": "user", "content": "Look"},
    ]
    assert losses == []


def test_thinking_goes_back_as_a_block_to_a_model_that_thinks(tell: Any) -> None:
    call = ToolCall(id="c1", name="f")

    body, losses = tell(
        saying(
            HELLO,
            assistant(Reasoning(text="Hm"), Text(text="Hi")),
            assistant(Reasoning(text="Hm"), Text(text="So"), call),
        ),
        THINKS,
    )

    thinking = {"type": "thinking", "thinking": "Hm"}
    assert body["messages"][1]["content"] == [thinking, {"type": "text", "text": "Hi"}]
    assert body["messages"][2]["content"] == [thinking]
    assert body["messages"][2]["tool_plan"] == "So"
    assert losses == []


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ("", "{}"),
        ('{"a" : 1}', '{"a" : 1}'),
        ("[1]", '{"input":[1]}'),
        ("ls", '{"input":"ls"}'),
    ],
)
def test_arguments_are_the_text_of_an_object(tell: Any, arguments: str, written: str) -> None:
    body, _ = tell(saying(HELLO, assistant(ToolCall(id="c", name="f", arguments=arguments))))

    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == written


@pytest.mark.parametrize("content", [(), (Text(text=""),)])
def test_a_result_without_words_is_an_empty_object(tell: Any, content: Any) -> None:
    body, _ = tell(saying(HELLO, Turn("user", (ToolResult(call_id="c", content=content),))))

    assert body["messages"][1] == {"role": "tool", "tool_call_id": "c", "content": "{}"}


def test_sampling_has_coheres_names(tell: Any) -> None:
    sampling = Sampling(
        max_tokens=5,
        temperature=0.0,
        top_p=0.5,
        top_k=4,
        seed=7,
        stop=("a",),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        logprobs=True,
    )

    body, losses = tell(saying(sampling=sampling))

    reported = {name: body[name] for name in body.keys() - {"model", "messages", "stream"}}
    assert reported == {
        "max_tokens": 5,
        "temperature": 0.0,
        "p": 0.5,
        "k": 4,
        "seed": 7,
        "stop_sequences": ["a"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "logprobs": True,
    }
    assert losses == []


@pytest.mark.parametrize(
    ("sampling", "written", "lost"),
    [
        (Sampling(top_p=1.0), {"p": 0.99}, []),
        (Sampling(top_p=0.0), {"p": 0.01}, []),
        (Sampling(top_k=1000), {"k": 500}, ["top_k"]),
        (Sampling(presence_penalty=-1.0), {"presence_penalty": 0.0}, ["presence_penalty"]),
        (Sampling(frequency_penalty=2.0), {"frequency_penalty": 1.0}, ["frequency_penalty"]),
        (Sampling(seed=-1), {}, ["seed"]),
        (Sampling(stop=tuple("abcdef")), {"stop_sequences": list("abcde")}, ["stop"]),
        (Sampling(min_p=0.1), {}, ["min_p"]),
        (Sampling(top_logprobs=2), {}, ["top_logprobs"]),
        (Sampling(candidates=2), {}, ["candidates"]),
    ],
)
def test_what_cohere_would_refuse_is_brought_within_bounds(
    tell: Any, sampling: Sampling, written: dict[str, Any], lost: list[str]
) -> None:
    body, losses = tell(saying(sampling=sampling))

    assert {name: body[name] for name in body.keys() - {"model", "messages", "stream"}} == written
    assert losses == lost


@pytest.mark.parametrize(
    ("choice", "written", "names"),
    [
        (None, None, ["f", "g"]),
        (ToolChoice("auto"), None, ["f", "g"]),
        (ToolChoice("none"), "NONE", ["f", "g"]),
        (ToolChoice("required"), "REQUIRED", ["f", "g"]),
        (ToolChoice("only", ("g",)), "REQUIRED", ["g"]),
    ],
)
def test_which_tools_may_be_called(
    tell: Any, choice: ToolChoice | None, written: str | None, names: list[str]
) -> None:
    body, losses = tell(saying(tools=(TOOL, Tool(name="g")), tool_choice=choice))

    assert body.get("tool_choice") == written
    assert [tool["function"]["name"] for tool in body["tools"]] == names
    assert losses == []


def test_no_tools_are_not_an_empty_list(tell: Any) -> None:
    body, _ = tell(saying(tool_choice=ToolChoice("required")))

    assert body.keys() == {"model", "messages", "stream"}


@pytest.mark.parametrize(
    ("strict", "written", "lost"),
    [((True, True), True, []), ((None, False), None, []), ((True, None), None, ["strict"])],
)
def test_strictness_is_for_all_tools_or_none(
    tell: Any, strict: tuple[bool | None, ...], written: Any, lost: list[str]
) -> None:
    tools = tuple(Tool(name=f"f{i}", strict=one) for i, one in enumerate(strict))

    body, losses = tell(saying(tools=tools))

    assert (body.get("strict_tools"), losses) == (written, lost)


@pytest.mark.parametrize(
    ("thinking", "written"),
    [
        (Thinking(enabled=True), {"type": "enabled"}),
        (Thinking(enabled=True, budget=500), {"type": "enabled", "token_budget": 500}),
        (Thinking(effort="low"), {"type": "enabled", "token_budget": 2048}),
        (Thinking(budget=-1), {"type": "enabled"}),
        (Thinking(effort="none"), {"type": "disabled"}),
        (Thinking(budget=0), {"type": "disabled"}),
        (Thinking(enabled=False), {"type": "disabled"}),
        (Thinking(show=True), None),
    ],
)
def test_thinking_has_a_budget(tell: Any, thinking: Thinking, written: Any) -> None:
    body, losses = tell(saying(thinking=thinking), THINKS)

    assert body.get("thinking") == written
    assert losses == []


@pytest.mark.parametrize(
    ("thinking", "lost"), [(Thinking(effort="high"), ["thinking"]), (Thinking(enabled=False), [])]
)
def test_a_model_that_cannot_think_is_not_told_to(
    tell: Any, thinking: Thinking, lost: list[str]
) -> None:
    body, losses = tell(saying(thinking=thinking))

    assert "thinking" not in body
    assert losses == lost


def test_the_form_of_the_answer(tell: Any) -> None:
    schema = Raw(b'{"type":"object"}')

    assert tell(saying(output=Output()))[0]["response_format"] == {"type": "json_object"}
    assert tell(saying(output=Output(schema=schema)))[0]["response_format"] == {
        "type": "json_object",
        "json_schema": {"type": "object"},
    }


def test_the_providers_switches_are_sent_with_every_request(tell: Any) -> None:
    options = {"safety_mode": "OFF", "citation_mode": "FAST"}

    body, _ = tell(saying(), options=options)

    assert (body["safety_mode"], body["citation_options"]) == ("OFF", {"mode": "FAST"})


@pytest.mark.parametrize(
    ("conversation", "lost"),
    [
        (saying(parallel_tools=False), ["parallel_tools"]),
        (saying(user="u", cache_key="k", service_tier="t"), ["user", "cache_key", "service_tier"]),
        (saying(output=Output(description="d")), ["output_description"]),
        (saying(tools=(Tool(name="w", hosted="web_search"),)), ["tool:web_search"]),
        (saying(tools=(Tool(name="w", custom=True),)), ["tool:custom"]),
        (saying(tools=(Tool(name="w", cache="5m", extra=X),)), ["cache_control", "tools.x"]),
        (saying(extra=X), ["x"]),
        (saying(Turn("user", (Text(text="a"),), name="Ann", extra=X)), ["messages.x", "name"]),
        (saying(user(Text(text="a", cache="5m", extra=X))), ["content.x", "cache_control"]),
        (saying(instructions=(Text(text="a", cache="5m"),)), ["cache_control"]),
        (saying(user(Foreign(dialect="d", type="t", raw=Raw(b"{}")))), ["part:t"]),
        (saying(user(ToolResult(call_id="c", failed=True))), ["failed"]),
        (saying(HELLO, assistant(Refusal(text="No"))), ["refusal"]),
        (saying(HELLO, assistant(Text(text="a", citations=(Citation(),)))), ["citations"]),
        (saying(HELLO, assistant(Text(text="a"), Reasoning(text="b"))), ["reasoning"]),
        (
            saying(HELLO, assistant(Text(text="a"), Reasoning(sealed="b", origin="cohere"))),
            ["reasoning_signature"],
        ),
    ],
)
def test_what_cannot_be_said_is_recorded(
    tell: Any, conversation: Conversation, lost: list[str]
) -> None:
    assert tell(conversation)[1] == lost


@pytest.mark.parametrize(
    "content",
    [
        user(Media(kind="image", file_id="f")),
        user(Media(kind="audio", data="AAAA")),
        user(Media(kind="video", data="AAAA")),
        user(Media(kind="document", data="AAAA")),
        user(ToolResult(call_id="c", content=(Media(kind="image", data="A"),))),
    ],
)
def test_an_attachment_that_cannot_be_sent_is_refused(tell: Any, content: Turn) -> None:
    with pytest.raises(PartUnsupported):
        tell(saying(content))


def test_the_models_own_media_stay_behind(tell: Any) -> None:
    drawn = Media(kind="image", data="AAAA")

    assert tell(saying(HELLO, assistant(Text(text="a"), drawn)))[1] == ["image"]
    with pytest.raises(PartUnsupported):
        tell(saying(HELLO, assistant(drawn)))


def test_nothing_to_say_is_an_error(tell: Any) -> None:
    with pytest.raises(
        BadRequest, match="Nothing in this request can be sent to command-a-03-2025"
    ):
        tell(saying(Turn("user", (Text(text=""),))))
