"""Any conversation as a request for the local model server, and what is lost on the way."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Model,
    Output,
    PartUnsupported,
    Reasoning,
    Refusal,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    VendorSide,
)

HELLO = Turn("user", (Text(text="Hello"),))
TOOL = Tool(name="f", schema=Raw(b'{"type":"object"}'))


def saying(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), **members)


def test_the_stream_flag_is_always_said_and_the_model_is_the_targets(tell: Any) -> None:
    body, losses = tell(saying(model="box/gemma3"))

    assert body == {
        "model": "gemma3",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": False,
    }
    assert losses == []


def test_instructions_are_one_system_message(tell: Any) -> None:
    texts = (Text(text="Be brief."), Text(text=""), Text(text="Be kind."))

    body, _ = tell(saying(instructions=texts))

    assert body["messages"][0] == {"role": "system", "content": "Be brief.\n\nBe kind."}


def test_results_stand_before_what_the_user_says_beside_them(tell: Any) -> None:
    image = Media(kind="image", media_type="image/png", data="AAAA")
    call = ToolCall(id="c1", name="look", arguments='{"at":"sky"}')
    result = ToolResult(call_id="c1", content=(Text(text="a"), Text(text="b"), image))

    body, losses = tell(
        saying(
            HELLO,
            Turn("assistant", (Reasoning(text="Hm"), Text(text="I "), Text(text="look"), call)),
            Turn("user", (Text(text="And?"), result)),
        )
    )

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I look",
            "thinking": "Hm",
            "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": {"at": "sky"}}}],
        },
        {
            "role": "tool",
            "content": "a\n\nb",
            "images": ["AAAA"],
            "tool_name": "look",
            "tool_call_id": "c1",
        },
        {"role": "user", "content": "And?"},
    ]
    assert losses == []


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ("", {}),
        ('{"a":1}', {"a": 1}),
        ('\n{"a":\n1}\n', {"a": 1}),
        ("[1]", {"input": [1]}),
        ("null", {"input": None}),
        ('{"a":', {"input": '{"a":'}),
        ("ls -l", {"input": "ls -l"}),
    ],
)
def test_arguments_that_are_no_object_are_put_into_one(
    tell: Any, arguments: str, written: Any
) -> None:
    call = ToolCall(id="c1", name="f", arguments=arguments)

    body, _ = tell(saying(HELLO, Turn("assistant", (call,))))

    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == written


def test_sampling_becomes_options(tell: Any) -> None:
    sampling = Sampling(
        max_tokens=5,
        temperature=0.0,
        top_p=0.5,
        top_k=4,
        min_p=0.1,
        seed=7,
        stop=("a", "b"),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        logprobs=True,
        top_logprobs=3,
    )

    body, losses = tell(saying(sampling=sampling))

    assert body["options"] == {
        "num_predict": 5,
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 4,
        "min_p": 0.1,
        "seed": 7,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop": ["a", "b"],
    }
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)
    assert losses == []


@pytest.mark.parametrize(
    ("thinking", "think"),
    [
        (Thinking(enabled=True), True),
        (Thinking(enabled=False, effort="high"), False),
        (Thinking(effort="none"), False),
        (Thinking(effort="minimal"), "low"),
        (Thinking(effort="medium"), "medium"),
        (Thinking(effort="xhigh"), "high"),
        (Thinking(effort="max"), "max"),
        (Thinking(budget=0), False),
        (Thinking(budget=2000), "low"),
        (Thinking(enabled=True, budget=-1), True),
        (Thinking(show=True), None),
    ],
)
def test_thinking_becomes_a_flag_or_a_word(tell: Any, thinking: Thinking, think: Any) -> None:
    body, losses = tell(saying(thinking=thinking))

    assert body.get("think") == think
    assert losses == []


def test_a_model_that_cannot_think_is_not_asked_to(vendor: VendorSide, target: Target) -> None:
    plain = replace(target, model=Model("gemma3", reasoning=False))
    losses = Losses()

    body = msgspec.json.decode(
        vendor.write_request(saying(thinking=Thinking(effort="low")), plain, losses)
    )

    assert "think" not in body
    assert [*losses.names] == ["thinking"]


def test_a_model_that_cannot_think_may_be_told_not_to(vendor: VendorSide, target: Target) -> None:
    plain = replace(target, model=Model("gemma3", reasoning=False))
    losses = Losses()

    body = msgspec.json.decode(
        vendor.write_request(saying(thinking=Thinking(enabled=False)), plain, losses)
    )

    assert "think" not in body
    assert not losses


def test_a_tool_for_free_text_is_a_function_with_one_text(tell: Any) -> None:
    body, losses = tell(saying(tools=(Tool(name="patch", description="d", custom=True),)))

    produced = {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    (tool,) = body["tools"]
    assert tool["function"] == {"name": "patch", "description": "d", "parameters": produced}
    assert losses == ["tool:custom"]


def test_an_output_schema_is_the_format(tell: Any) -> None:
    schema = Raw(b'{"type":"object"}')

    assert tell(saying(output=Output(schema=schema)))[0]["format"] == {"type": "object"}
    assert tell(saying(output=Output()))[0]["format"] == "json"


def test_tools_always_have_parameters(tell: Any) -> None:
    body, _ = tell(saying(tools=(TOOL, Tool(name="g", description="d"))))

    empty = {"type": "object", "properties": {}}
    assert body["tools"] == [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "g", "description": "d", "parameters": empty}},
    ]


def test_forbidding_every_tool_is_to_name_none(tell: Any) -> None:
    body, losses = tell(saying(tools=(TOOL,), tool_choice=ToolChoice("none")))

    assert "tools" not in body
    assert losses == []


def user(*parts: Any) -> Turn:
    return Turn("user", (Text(text="Look"), *parts))


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", (Text(text="Well"), *parts))


X = {"x": Raw(b"1")}


@pytest.mark.parametrize(
    ("conversation", "lost"),
    [
        (saying(sampling=Sampling(candidates=2)), ["candidates"]),
        (saying(sampling=Sampling(candidates=1)), []),
        (saying(tool_choice=ToolChoice("auto")), []),
        (saying(tool_choice=ToolChoice("required")), ["tool_choice"]),
        (saying(tool_choice=ToolChoice("only", ("f",))), ["tool_choice"]),
        (saying(parallel_tools=False), ["parallel_tools"]),
        (saying(parallel_tools=True), []),
        (
            saying(user="u", cache_key="k", service_tier="flex"),
            ["user", "cache_key", "service_tier"],
        ),
        (saying(output=Output(description="d")), ["output_description"]),
        (saying(tools=(Tool(name="w", hosted="web_search"),)), ["tool:web_search"]),
        (saying(tools=(Tool(name="w", custom=True),)), ["tool:custom"]),
        (saying(tools=(Tool(name="w", strict=True, cache="5m"),)), ["strict", "cache_control"]),
        (saying(tools=(Tool(name="w", extra=X),), dialect="openai"), ["tools.x"]),
        (saying(extra=X, dialect="openai"), ["x"]),
        (saying(Turn("user", (Text(text="a"),), extra=X), dialect="openai"), ["messages.x"]),
        (saying(Turn("user", (Text(text="a", extra=X),)), dialect="openai"), ["content.x"]),
        (saying(Turn("user", (Text(text="a"),), name="Ann")), ["name"]),
        (saying(user(Text(text="a", cache="5m"))), ["cache_control"]),
        (saying(user(Media(kind="image", data="AAAA", detail="low"))), ["detail"]),
        (saying(user(Foreign(dialect="d", type="t", raw=Raw(b"{}")))), ["part:t"]),
        (saying(user(ToolResult(call_id="c", failed=True))), ["failed"]),
        (saying(assistant(Refusal(text="No"))), ["refusal"]),
        (saying(assistant(Text(text="a", citations=(Citation(url="u"),)))), ["citations"]),
        (
            saying(assistant(Reasoning(text="a", signature="s", origin="box"))),
            ["reasoning_signature"],
        ),
        (saying(assistant(Reasoning(sealed="s", origin="~ollama"))), ["reasoning_signature"]),
        (
            saying(assistant(ToolCall(id="c", name="f", signature="s", origin="g"))),
            ["reasoning_signature"],
        ),
    ],
)
def test_what_cannot_be_said_is_recorded(
    tell: Any, conversation: Conversation, lost: list[str]
) -> None:
    assert tell(conversation)[1] == lost


def test_a_document_that_is_text_is_said_as_text(tell: Any) -> None:
    document = Media(kind="document", name="notes.txt", text="Milk")

    body, losses = tell(saying(user(document)))

    assert body["messages"][0]["content"] == "Look\n\nnotes.txt\nMilk"
    assert losses == []


def test_an_image_in_a_data_url_needs_no_fetching(tell: Any) -> None:
    body, losses = tell(saying(user(Media(kind="image", url="data:image/png;base64,AAAA"))))

    assert body["messages"][0]["images"] == ["AAAA"]
    assert losses == []


@pytest.mark.parametrize(
    "media",
    [
        Media(kind="image", url="https://a/b.png"),
        Media(kind="image", file_id="f1"),
        Media(kind="audio", data="AAAA"),
        Media(kind="video", data="AAAA"),
        Media(kind="document", data="AAAA"),
    ],
    ids=lambda media: media.kind,
)
def test_an_attachment_that_cannot_be_sent_is_refused(tell: Any, media: Media) -> None:
    for content in (user(media), user(ToolResult(call_id="c", content=(media,)))):
        with pytest.raises(PartUnsupported, match=f"'{media.kind}' cannot be sent"):
            tell(saying(content))


def test_the_models_own_media_stay_behind(tell: Any) -> None:
    sound = Media(kind="audio", data="AAAA")

    assert tell(saying(assistant(Text(text="a"), sound)))[1] == ["audio"]
    with pytest.raises(PartUnsupported):
        tell(saying(HELLO, Turn("assistant", (sound,)), HELLO))


def test_a_message_of_which_nothing_is_left_is_left_out(tell: Any) -> None:
    search = Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}"))

    body, losses = tell(saying(HELLO, Turn("assistant", (search,)), HELLO))

    assert len(body["messages"]) == 2
    assert losses == ["part:server_tool_use"]


def test_nothing_to_say_is_an_error(tell: Any) -> None:
    with pytest.raises(BadRequest, match="Nothing in this request can be sent to gemma3"):
        tell(saying(Turn("assistant", (Text(text=""), Reasoning()))))


def test_members_of_the_own_dialect_return_to_their_places(tell: Any) -> None:
    call = ToolCall(id="c", name="f", extra={"function": Raw(b'{"deep":1}'), "x": Raw(b"2")})
    tool = Tool(name="f", extra={"function": Raw(b'{"deep":3}')})
    body, losses = tell(
        Conversation(
            turns=(HELLO, Turn("assistant", (call,), extra={"y": Raw(b"4")})),
            tools=(tool,),
            sampling=Sampling(seed=1),
            dialect="ollama",
            extra={"options": Raw(b'{"num_ctx":9}'), "keep_alive": Raw(b"0")},
        )
    )

    message = body["messages"][1]
    assert message["tool_calls"] == [
        {"id": "c", "function": {"name": "f", "arguments": {}, "deep": 1}, "x": 2}
    ]
    assert message["y"] == 4
    assert body["tools"][0]["function"]["deep"] == 3
    assert body["options"] == {"seed": 1, "num_ctx": 9}
    assert body["keep_alive"] == 0
    assert losses == []
