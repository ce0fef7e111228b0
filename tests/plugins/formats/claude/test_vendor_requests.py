"""Conversations of any dialect as this vendor's requests: what is said, and what is recorded."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    AnyPart,
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Media,
    Output,
    Reasoning,
    Refusal,
    Sampling,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
At = Callable[..., Target]

PNG = "iVBORw0KGgoAAAA"
SCHEMA = Raw(b'{"type":"object","properties":{"a":{"type":"string"}}}')
LOOK = Tool(name="look", description="d", schema=SCHEMA)


def asking(*parts: AnyPart, **members: Any) -> Conversation:
    """A conversation of another dialect with one user turn."""
    turns = (Turn("user", parts or (Text(text="hi"),)),)
    return Conversation(**{"turns": turns, "dialect": "openai", **members})


def blocks(*parts: AnyPart) -> Conversation:
    return asking(Text(text="first"), *parts)


def test_the_least_request(tell: Tell) -> None:
    assert tell(asking()) == (
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 8192,
            "messages": [{"role": "user", "content": "hi"}],
        },
        [],
    )


@pytest.mark.parametrize(
    ("asked", "longest", "written", "losses"),
    [
        (None, None, 8192, []),
        (None, 64000, 64000, []),
        (500, 64000, 500, []),
        (70000, 64000, 64000, ["max_tokens"]),
        (70000, None, 70000, []),
    ],
)
def test_max_tokens_is_always_said(
    tell: Tell, at: At, asked: int | None, longest: int | None, written: int, losses: list[str]
) -> None:
    conversation = asking(sampling=Sampling(max_tokens=asked))

    said, lost = tell(conversation, at(longest=longest))

    assert (said["max_tokens"], lost) == (written, losses)


def test_streaming_is_said_only_when_it_is_wanted(tell: Tell) -> None:
    assert "stream" not in tell(asking())[0]
    assert tell(asking(stream=True))[0]["stream"] is True


def test_instructions(tell: Tell) -> None:
    one = asking(instructions=(Text(text="a"),))
    two = asking(instructions=(Text(text="a", cache="1h"), Text(text=""), Text(text="b")))

    assert tell(one)[0]["system"] == "a"
    assert tell(two)[0]["system"] == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": "b"},
    ]


def test_text_of_nothing_but_white_space_is_left_out(tell: Tell) -> None:
    said, losses = tell(asking(Text(text=""), Text(text="a"), Text(text=" \n")))

    assert said["messages"] == [{"role": "user", "content": "a"}]
    assert losses == []


def test_nothing_to_say_is_refused(tell: Tell) -> None:
    with pytest.raises(BadRequest, match="nothing in the conversation"):
        tell(asking(Media(kind="audio", data="QUJD")))
    with pytest.raises(BadRequest, match="nothing in the conversation"):
        tell(Conversation())


def test_instructions_alone_get_a_user_turn(tell: Tell) -> None:
    said, _ = tell(Conversation(instructions=(Text(text="greet"),)))

    assert said["system"] == "greet"
    assert [message["role"] for message in said["messages"]] == ["user"]


MEDIA: list[tuple[str, Media, Any]] = [
    (
        "a png",
        Media(kind="image", media_type="image/png", data=PNG),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "a png that is called a jpeg",
        Media(kind="image", media_type="image/jpeg", data=PNG),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "an image in a data address",
        Media(kind="image", url=f"data:image/png;base64,{PNG}"),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
    ),
    (
        "an image by address",
        Media(kind="image", url="https://a/b.png", detail="auto"),
        {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
    ),
    (
        "an image of this vendor's store",
        Media(kind="image", file_id="f", origin="anthropic"),
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
    ),
    (
        "a pdf",
        Media(kind="document", media_type="application/pdf", data="QUJD", name="a.pdf"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
            "title": "a.pdf",
        },
    ),
    (
        "a text file",
        Media(
            kind="document",
            media_type="text/csv; charset=utf-8",
            data=base64.b64encode(b"a,b").decode(),
        ),
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
        },
    ),
    (
        "a document by address",
        Media(kind="document", url="https://a/b.pdf"),
        {"type": "document", "source": {"type": "url", "url": "https://a/b.pdf"}},
    ),
]


@pytest.mark.parametrize(("media", "block"), [m[1:] for m in MEDIA], ids=[m[0] for m in MEDIA])
def test_media(tell: Tell, media: Media, block: Any) -> None:
    said, losses = tell(blocks(media))

    assert said["messages"][0]["content"][1] == block
    assert losses == []


LOST: list[tuple[str, AnyPart, list[str]]] = [
    ("sound", Media(kind="audio", data="QUJD"), ["audio"]),
    ("film", Media(kind="video", url="https://a"), ["video"]),
    ("an odd image", Media(kind="image", media_type="image/heic", data="QUJD"), ["image"]),
    ("an image elsewhere", Media(kind="image", url="gs://a/b"), ["image"]),
    ("another's file", Media(kind="image", file_id="f", origin="openai"), ["file_id"]),
    (
        "an office file",
        Media(kind="document", media_type="application/zip", data="QQ=="),
        ["document"],
    ),
    ("broken text", Media(kind="document", media_type="text/plain", data="?"), ["document"]),
    ("another's part", Foreign(dialect="gemini", type="x", raw=Raw(b"{}")), ["part:x"]),
]


@pytest.mark.parametrize(("part", "losses"), [m[1:] for m in LOST], ids=[m[0] for m in LOST])
def test_parts_that_cannot_be_sent_are_recorded(
    tell: Tell, part: AnyPart, losses: list[str]
) -> None:
    said, lost = tell(blocks(part))

    assert said["messages"] == [{"role": "user", "content": "first"}]
    assert lost == losses


def test_an_images_detail_is_recorded_and_the_image_sent(tell: Tell) -> None:
    said, losses = tell(blocks(Media(kind="image", url="https://a", detail="high")))

    assert said["messages"][0]["content"][1]["type"] == "image"
    assert losses == ["detail"]


def test_the_assistant_shows_nothing_on_this_wire(tell: Tell) -> None:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (Text(text="a"), Media(kind="image", data=PNG))),
        Turn("user", (Text(text="r"),)),
    )

    said, losses = tell(asking(turns=turns))

    assert said["messages"][1] == {"role": "assistant", "content": "a"}
    assert losses == ["image"]


def answered(*parts: AnyPart, **members: Any) -> Conversation:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", parts),
        Turn("user", (Text(text="r"),)),
    )
    return asking(turns=turns, **members)


def test_earlier_refusals_are_words(tell: Tell) -> None:
    said, losses = tell(answered(Refusal(text="no")))

    assert said["messages"][1]["content"] == "no"
    assert losses == ["refusal"]


def test_only_thinking_that_this_vendor_can_read_goes_back(tell: Tell) -> None:
    said, losses = tell(
        answered(
            Reasoning(text="mine", signature="s1", origin="anthropic"),
            Reasoning(text="the client's", signature="s2", origin="~claude"),
            Reasoning(sealed="s3", origin="anthropic"),
            Reasoning(text="gemini's", signature="s4", origin="gemini"),
            Reasoning(sealed="s5", origin="openai"),
            Text(text="a"),
        )
    )

    assert said["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "mine", "signature": "s1"},
        {"type": "thinking", "thinking": "the client's", "signature": "s2"},
        {"type": "redacted_thinking", "data": "s3"},
        {"type": "text", "text": "a"},
    ]
    assert losses == ["reasoning_signature", "reasoning"]


def test_thinking_without_proof_stays_behind(tell: Tell, at: At) -> None:
    conversation = answered(Reasoning(text="hm"), Text(text="a"))

    assert tell(conversation)[0]["messages"][1]["content"] == "a"
    assert tell(conversation)[1] == ["reasoning"]

    said, losses = tell(conversation, at("kimi-k2", unsigned_thinking=True))

    assert said["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "",
    }
    assert losses == []


def test_thinking_that_came_back_with_a_call_stands_before_the_text(tell: Tell) -> None:
    said, _ = tell(
        asking(
            turns=(
                Turn("user", (Text(text="q"),)),
                Turn(
                    "assistant",
                    (
                        Text(text="let me see"),
                        Reasoning(text="hm", signature="s", origin="anthropic"),
                        ToolCall(id="t1", name="look"),
                    ),
                ),
                Turn("user", (ToolResult(call_id="t1"),)),
            )
        )
    )

    kinds = [block["type"] for block in said["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "tool_use"]


def test_another_vendors_signatures_are_recorded(tell: Tell) -> None:
    _, losses = tell(
        answered(
            Text(text="a", signature="s", origin="gemini"),
            ToolCall(id="t", name="look", signature="s", origin="gemini"),
        )
    )

    assert losses == ["reasoning_signature"]


def test_citations_go_back_only_as_the_vendors_own(tell: Tell) -> None:
    own = Citation(quote="w", raw=Raw(b'{"type":"char_location"}'), dialect="claude")

    said, losses = tell(answered(Text(text="a", citations=(own, Citation(url="https://a")))))

    assert said["messages"][1]["content"] == [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]}
    ]
    assert losses == ["citations"]


ARGUMENTS = [
    ('{"a": 1}', {"a": 1}, []),
    ("", {}, []),
    ("[1]", {"input": "[1]"}, ["arguments"]),
    ('{"a": ', {"input": '{"a": '}, ["arguments"]),
]


@pytest.mark.parametrize(("arguments", "sent", "losses"), ARGUMENTS)
def test_arguments_are_an_object(tell: Tell, arguments: str, sent: Any, losses: list[str]) -> None:
    said, lost = tell(answered(ToolCall(id="t", name="look", arguments=arguments)))

    assert said["messages"][1]["content"][0]["input"] == sent
    assert lost == losses


def test_a_call_with_free_text_is_wrapped(tell: Tell) -> None:
    call = ToolCall(id="t", name="sh", arguments="ls -l", custom=True)

    said, losses = tell(answered(call))

    assert said["messages"][1]["content"][0]["input"] == {"input": "ls -l"}
    assert losses == ["tool:custom"]


def test_results_carry_text_images_and_documents(tell: Tell) -> None:
    result = ToolResult(
        call_id="t",
        content=(
            Text(text="seen"),
            Media(kind="image", data=PNG),
            Media(kind="document", media_type="application/pdf", data="QUJD"),
            Media(kind="audio", data="QUJD"),
        ),
    )
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (ToolCall(id="t", name="look"),)),
        Turn("user", (result,)),
    )

    said, losses = tell(asking(turns=turns))

    (block,) = said["messages"][2]["content"]
    assert [piece["type"] for piece in block["content"]] == ["text", "image", "document"]
    assert losses == ["audio"]


def test_a_result_that_failed_silently_gets_words(tell: Tell) -> None:
    turns = (
        Turn("user", (Text(text="q"),)),
        Turn("assistant", (ToolCall(id="t", name="look"), ToolCall(id="u", name="look"))),
        Turn("user", (ToolResult(call_id="t", failed=True), ToolResult(call_id="u"))),
    )

    failed, empty = tell(asking(turns=turns))[0]["messages"][2]["content"]

    assert failed["is_error"] is True
    assert failed["content"]
    assert empty == {"type": "tool_result", "tool_use_id": "u"}


def test_tools(tell: Tell) -> None:
    bare = Tool(name="bare")

    said, losses = tell(asking(tools=(LOOK, bare)))

    assert said["tools"] == [
        {
            "name": "look",
            "description": "d",
            "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        {"name": "bare", "input_schema": {"type": "object"}},
    ]
    assert losses == []


def test_no_tools_are_not_said(tell: Tell) -> None:
    said, losses = tell(asking(tool_choice=ToolChoice("auto"), parallel_tools=False))

    assert "tools" not in said
    assert "tool_choice" not in said
    assert losses == []


@pytest.mark.parametrize(
    ("schema", "sent", "losses"),
    [
        (b"{}", {"type": "object"}, []),
        (b'{"properties":{}}', {"type": "object", "properties": {}}, []),
        (
            b'{"anyOf":[{"type":"object"}],"title":"t"}',
            {"type": "object", "title": "t"},
            ["tool_schema"],
        ),
        (b'"x"', {"type": "object"}, ["tool_schema"]),
    ],
)
def test_a_tools_schema_is_an_object_at_its_top(
    tell: Tell, schema: bytes, sent: Any, losses: list[str]
) -> None:
    said, lost = tell(asking(tools=(Tool(name="t", schema=Raw(schema)),)))

    assert (said["tools"][0]["input_schema"], lost) == (sent, losses)


def test_a_strict_tool_has_a_schema_the_vendor_can_hold_to(tell: Tell, at: At) -> None:
    strict = Tool(
        name="t",
        strict=True,
        schema=Raw(b'{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}'),
    )

    said, losses = tell(asking(tools=(strict,)))

    (tool,) = said["tools"]
    assert tool["strict"] is True
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "{minimum: 1}"}},
        "additionalProperties": False,
    }
    assert losses == ["strict"]

    said, losses = tell(asking(tools=(strict,)), at("claude-3-7-sonnet"))

    assert "strict" not in said["tools"][0]
    assert losses == ["strict"]


def test_a_tool_for_free_text_takes_it_as_input(tell: Tell) -> None:
    said, losses = tell(asking(tools=(Tool(name="sh", custom=True),)))

    assert said["tools"][0]["input_schema"]["required"] == ["input"]
    assert losses == ["tool:custom"]


@pytest.mark.parametrize(
    ("hosted", "declared"),
    [
        ("web_search", "web_search_20250305"),
        ("web_fetch", "web_fetch_20250910"),
        ("code_execution", "code_execution_20250825"),
    ],
)
def test_a_server_tool_of_another_dialect_becomes_the_vendors_own(
    tell: Tell, at: At, hosted: str, declared: str
) -> None:
    tool = Tool(
        name=hosted,
        hosted=hosted,
        raw=Raw(b'{"type":"x","user_location":{"city":"Ulm"}}'),
        dialect="openai",
    )

    said, losses = tell(asking(tools=(tool,)))

    assert said["tools"] == [{"type": declared, "name": hosted}]
    assert losses == [f"tool:{hosted}.user_location"]

    said, losses = tell(asking(tools=(tool,)), at("kimi-k2"))

    assert "tools" not in said
    assert losses == [f"tool:{hosted}"]


def test_a_server_tool_that_has_no_like_is_recorded(tell: Tell) -> None:
    tools = (LOOK, Tool(name="f", hosted="file_search", raw=Raw(b"{}"), dialect="openai"))

    said, losses = tell(asking(tools=tools))

    assert [tool["name"] for tool in said["tools"]] == ["look"]
    assert losses == ["tool:file_search"]


@pytest.mark.parametrize(
    ("choice", "parallel", "sent"),
    [
        (None, None, None),
        (None, True, None),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("auto"), None, {"type": "auto"}),
        (ToolChoice("none"), False, {"type": "none"}),
        (ToolChoice("required"), None, {"type": "any"}),
        (ToolChoice("required"), False, {"type": "any", "disable_parallel_tool_use": True}),
        (ToolChoice("only", ("look",)), None, {"type": "tool", "name": "look"}),
    ],
)
def test_tool_choice(
    tell: Tell, choice: ToolChoice | None, parallel: bool | None, sent: Any
) -> None:
    said, losses = tell(asking(tools=(LOOK,), tool_choice=choice, parallel_tools=parallel))

    assert said.get("tool_choice") == sent
    assert losses == []


def test_a_choice_among_several_tools_leaves_the_others_out(tell: Tell) -> None:
    tools = tuple(Tool(name=name, schema=SCHEMA) for name in "abc")

    said, losses = tell(asking(tools=tools, tool_choice=ToolChoice("only", ("a", "c"))))

    assert [tool["name"] for tool in said["tools"]] == ["a", "c"]
    assert said["tool_choice"] == {"type": "any"}
    assert losses == []


def test_a_forced_call_without_tools_is_recorded(tell: Tell) -> None:
    assert tell(asking(tool_choice=ToolChoice("required")))[1] == ["tool_choice"]


def test_a_form_by_schema(tell: Tell, at: At) -> None:
    output = Output(schema=Raw(b'{"type":"object","properties":{"n":{"type":"string"}}}'))

    said, losses = tell(asking(output=output))

    assert said["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"n": {"type": "string"}},
            "additionalProperties": False,
        },
    }
    assert losses == []

    said, losses = tell(asking(output=output, instructions=(Text(text="s"),)), at("kimi-k2"))

    assert "output_config" not in said
    assert '"properties":{"n"' in said["system"][1]["text"]
    assert losses == ["output_schema"]

    said, losses = tell(asking(output=output), at("kimi-k2", structured_outputs=True))

    assert "output_config" in said
    assert losses == []


def test_a_form_that_must_give_way_is_recorded(tell: Tell) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "string", "maxLength": 3}},
        "additionalProperties": False,
    }

    said, losses = tell(asking(output=Output(schema=Raw(json.dumps(schema).encode()))))

    assert (
        "maxLength: 3"
        in said["output_config"]["format"]["schema"]["properties"]["n"]["description"]
    )
    assert losses == ["output_schema"]


def test_any_json_is_asked_for_in_words(tell: Tell) -> None:
    said, losses = tell(asking(output=Output()))

    assert "JSON" in said["system"]
    assert losses == ["output_json"]


@pytest.mark.parametrize(
    ("tier", "sent", "losses"),
    [
        ("auto", "auto", []),
        ("default", "standard_only", []),
        ("flex", None, ["service_tier"]),
    ],
)
def test_service_tiers(tell: Tell, tier: str, sent: Any, losses: list[str]) -> None:
    said, lost = tell(asking(service_tier=tier))

    assert (said.get("service_tier"), lost) == (sent, losses)


def test_the_user_and_what_is_not_known_here(tell: Tell) -> None:
    said, losses = tell(
        asking(
            Text(text="hi", extra={"annotations": Raw(b"[]")}),
            user="u",
            cache_key="k",
            extra={"logit_bias": Raw(b"{}")},
        )
    )

    assert said["metadata"] == {"user_id": "u"}
    assert losses == ["annotations", "cache_key", "logit_bias"]


def test_a_name_of_a_turn_is_recorded(tell: Tell) -> None:
    turns = (Turn("user", (Text(text="hi"),), name="Ann", extra={"x": Raw(b"1")}),)

    assert tell(asking(turns=turns))[1] == ["name", "x"]


def test_members_of_this_dialect_go_back_where_they_stood(tell: Tell) -> None:
    said, losses = tell(
        Conversation(
            dialect="claude",
            turns=(
                Turn("user", (Text(text="hi", extra={"a": Raw(b"1")}),), extra={"b": Raw(b"2")}),
            ),
            tools=(Tool(name="look", schema=SCHEMA, extra={"defer_loading": Raw(b"true")}),),
            user="u",
            extra={
                "container": Raw(b'"c"'),
                "metadata": Raw(b'{"team":4}'),
                "thinking": Raw(b'{"x":1}'),
                "output_config": Raw(b'{"task_budget":1}'),
            },
        )
    )

    assert said["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "a": 1}], "b": 2}
    ]
    assert said["tools"][0]["defer_loading"] is True
    assert said["container"] == "c"
    assert said["metadata"] == {"user_id": "u", "team": 4}
    assert said["output_config"] == {"task_budget": 1}
    assert "thinking" not in said
    assert losses == []


def test_a_kept_search_result_goes_back_whole(tell: Tell) -> None:
    kept = Media(
        kind="document", text="t", extra={"search_result": Raw(b'{"type":"search_result"}')}
    )

    said, _ = tell(asking(Text(text="a"), kept, dialect="claude"))

    assert said["messages"][0]["content"][1] == {"type": "search_result"}


def marked(count: int, lifetime: str = "5m") -> tuple[Text, ...]:
    return tuple(Text(text=str(n), cache=lifetime) for n in range(count))


def test_four_breakpoints_are_kept_and_the_earliest_beyond_go(tell: Tell) -> None:
    tools = (Tool(name="look", schema=SCHEMA, cache="5m"),)

    said, losses = tell(asking(*marked(4), tools=tools))

    assert "cache_control" not in said["tools"][0]
    assert all("cache_control" in block for block in said["messages"][0]["content"])
    assert losses == ["cache_control"]


def test_a_marker_for_the_whole_request_counts(tell: Tell) -> None:
    said, losses = tell(
        asking(*marked(4), dialect="claude", extra={"cache_control": Raw(b'{"type":"ephemeral"}')})
    )

    assert [("cache_control" in b) for b in said["messages"][0]["content"]] == [
        False,
        True,
        True,
        True,
    ]
    assert losses == ["cache_control"]


def test_a_long_breakpoint_behind_a_short_one_is_shortened(tell: Tell) -> None:
    said, losses = tell(asking(Text(text="a", cache="5m"), Text(text="b", cache="1h")))

    assert said["messages"][0]["content"][1]["cache_control"] == {"type": "ephemeral"}
    assert losses == ["cache_control"]


def test_a_breakpoint_on_thinking_is_recorded(tell: Tell) -> None:
    thinking = Reasoning(text="hm", signature="s", origin="~claude", cache="5m")

    assert tell(answered(thinking, Text(text="a")))[1] == ["cache_control"]


@pytest.mark.parametrize(
    ("sampling", "losses"),
    [
        (Sampling(seed=1), ["seed"]),
        (Sampling(min_p=0.1), ["min_p"]),
        (Sampling(presence_penalty=0.5), ["presence_penalty"]),
        (Sampling(frequency_penalty=0.5), ["frequency_penalty"]),
        (Sampling(presence_penalty=0, frequency_penalty=0, candidates=1, logprobs=False), []),
        (Sampling(candidates=2), ["candidates"]),
        (Sampling(logprobs=True, top_logprobs=2), ["logprobs"]),
        (Sampling(stop=("a", " ")), ["stop"]),
    ],
)
def test_sampling_that_this_wire_does_not_know(
    tell: Tell, sampling: Sampling, losses: list[str]
) -> None:
    said, lost = tell(asking(sampling=sampling))

    assert lost == losses
    assert set(said) <= {"model", "max_tokens", "messages", "stop_sequences"}
    assert said.get("stop_sequences", ["a"]) == ["a"]
