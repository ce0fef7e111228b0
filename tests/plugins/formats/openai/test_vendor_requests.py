"""Any conversation, written for a vendor of this dialect, and what gets lost on the way."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
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
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
Aim = Callable[..., Target]

HI = Turn("user", (Text(text="hi"),))
FUNCTION = Tool(name="f", schema=Raw(b"{}"))


def talk(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HI,), **members)


def user(*parts: Any) -> Conversation:
    return talk(Turn("user", parts))


def called(*parts: Any, results: tuple[Any, ...] = ()) -> Conversation:
    return talk(HI, Turn("assistant", parts), Turn("user", results))


def test_one_system_message_holds_all_instructions(tell: Tell) -> None:
    body, lost = tell(talk(instructions=(Text(text="a"), Text(text="b"))))

    assert body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "a\n\nb"},
            {"role": "user", "content": "hi"},
        ],
    }
    assert lost == []


def test_a_vendor_may_want_developer_messages(tell: Tell, aim: Aim) -> None:
    conversation = talk(HI, Turn("system", (Text(text="b"),)), instructions=(Text(text="a"),))

    body, _ = tell(conversation, aim(system_role="developer"))

    assert [message["role"] for message in body["messages"]] == ["developer", "user", "developer"]


@pytest.mark.parametrize(
    ("model", "options", "name"),
    [
        ("llama-3", {}, "max_tokens"),
        ("gpt-4o", {}, "max_tokens"),
        ("gpt-5-mini", {}, "max_completion_tokens"),
        ("openai/gpt-5.6-sol", {}, "max_completion_tokens"),
        ("gpt-10", {}, "max_completion_tokens"),
        ("o3", {}, "max_completion_tokens"),
        ("gpt-oss-120b", {}, "max_tokens"),
        ("olmo-2", {}, "max_tokens"),
        ("o3", {"max_tokens": True}, "max_tokens"),
        ("llama-3", {"max_tokens": False}, "max_completion_tokens"),
    ],
)
def test_the_limit_has_the_name_the_vendor_knows(
    tell: Tell, aim: Aim, model: str, options: dict[str, bool], name: str
) -> None:
    body, _ = tell(talk(sampling=Sampling(max_tokens=5)), aim(model, **options))

    assert body[name] == 5
    assert len({"max_tokens", "max_completion_tokens"} & body.keys()) == 1


def test_sampling_is_written_under_its_own_names(tell: Tell) -> None:
    sampling = Sampling(
        temperature=0.0,
        top_p=0.5,
        seed=0,
        stop=("a", "b"),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        candidates=2,
        logprobs=True,
        top_logprobs=0,
    )

    body, lost = tell(talk(sampling=sampling))

    assert {name: body[name] for name in body if name not in ("model", "messages")} == {
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 0,
        "stop": ["a", "b"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "n": 2,
        "logprobs": True,
        "top_logprobs": 0,
    }
    assert lost == []


def test_members_that_not_every_vendor_takes_are_lost_unless_it_says_so(
    tell: Tell, aim: Aim
) -> None:
    conversation = talk(sampling=Sampling(top_k=4, min_p=0.1), cache_key="k")

    plain, lost = tell(conversation)
    rich, nothing = tell(conversation, aim(top_k=True, min_p=True, prompt_cache_key=True))

    assert not {"top_k", "min_p", "prompt_cache_key"} & plain.keys()
    assert lost == ["top_k", "min_p", "cache_key"]
    assert (rich["top_k"], rich["min_p"], rich["prompt_cache_key"]) == (4, 0.1, "k")
    assert nothing == []


def test_what_this_dialects_client_said_is_meant_for_the_vendor(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        sampling=Sampling(top_k=4, stop=tuple("abcde")), cache_key="k", dialect="openai"
    )

    body, lost = tell(conversation)
    refused, noted = tell(conversation, aim(top_k=False))

    assert (body["top_k"], body["prompt_cache_key"], len(body["stop"])) == (4, "k", 5)
    assert lost == []
    assert "top_k" not in refused
    assert noted == ["top_k"]


def test_more_than_four_stop_sequences_are_cut(tell: Tell) -> None:
    body, lost = tell(talk(sampling=Sampling(stop=tuple("abcde"))))

    assert body["stop"] == ["a", "b", "c", "d"]
    assert lost == ["stop"]


def test_a_stream_asks_for_usage_unless_the_vendor_refuses(tell: Tell, aim: Aim) -> None:
    asked, _ = tell(talk(stream=True, stream_usage=False))
    refused, _ = tell(talk(stream=True), aim(no_stream_usage=True))

    assert (asked["stream"], asked["stream_options"]) == (True, {"include_usage": True})
    assert refused["stream"] is True
    assert "stream_options" not in refused
    assert "stream" not in tell(talk())[0]


def test_extra_members_go_back_to_their_own_dialect_only(tell: Tell) -> None:
    extra = {"metadata": Raw(b'{"a":1}'), "temperature": Raw(b"9"), "x_y": Raw(b"1.50")}
    turn = Turn("user", (Text(text="hi", extra={"p": Raw(b"1")}),), extra={"t": Raw(b"2")})
    tool = Tool(name="f", extra={"o": Raw(b"3"), "function": Raw(b'{"deep":4}')})
    conversation = talk(
        turn, tools=(tool,), sampling=Sampling(temperature=1.0), extra=extra, dialect="openai"
    )

    body, lost = tell(conversation)

    assert (body["metadata"], body["temperature"], body["x_y"]) == ({"a": 1}, 1.0, 1.5)
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "p": 1}], "t": 2}
    ]
    assert body["tools"][0]["function"]["deep"] == 4
    assert body["tools"][0]["o"] == 3
    assert lost == []


def test_extra_members_of_another_dialect_are_named_as_lost(tell: Tell) -> None:
    part = Text(text="hi", extra={"p": Raw(b"1")})
    conversation = talk(
        Turn("user", (part,), extra={"t": Raw(b"2")}),
        Turn("assistant", (ToolCall(id="a", name="f", extra={"c": Raw(b"0")}),)),
        tools=(Tool(name="f", extra={"o": Raw(b"3")}),),
        extra={"metadata": Raw(b"{}")},
        dialect="claude",
    )

    body, lost = tell(conversation)

    assert "metadata" not in body
    assert body["messages"][0] == {"role": "user", "content": "hi"}
    assert lost == ["p", "t", "tool_calls.c", "tools.o", "metadata"]


def test_plain_texts_of_one_turn_are_one_string(tell: Tell) -> None:
    body, _ = tell(user(Text(text="a"), Text(text=""), Text(text="b")))

    assert body["messages"][0]["content"] == "a\n\nb"


def test_a_cache_breakpoint_is_written_where_the_vendor_takes_one(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        Turn("user", (Text(text="a", cache="1h"), Text(text="b", cache="5m"))),
        instructions=(Text(text="i", cache="5m"),),
        tools=(Tool(name="f", cache="5m"),),
    )

    plain, lost = tell(conversation)
    rich, nothing = tell(conversation, aim(cache_control=True))

    assert plain["messages"][1]["content"] == "a\n\nb"
    assert lost == ["cache_control"]
    assert rich["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert rich["messages"][1]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert rich["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert nothing == []


@pytest.mark.parametrize(
    ("media", "options", "piece"),
    [
        (
            Media(kind="image", data="AA==", media_type="image/webp", detail="low"),
            {},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/webp;base64,AA==", "detail": "low"},
            },
        ),
        (
            Media(kind="image", url="https://x/y"),
            {},
            {"type": "image_url", "image_url": {"url": "https://x/y"}},
        ),
        (
            Media(kind="audio", data="AA==", media_type="audio/mpeg"),
            {},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
        (
            Media(kind="video", url="https://x/y"),
            {"video": True},
            {"type": "video_url", "video_url": {"url": "https://x/y"}},
        ),
        (
            Media(kind="document", data="AA==", media_type="application/pdf"),
            {},
            {
                "type": "file",
                "file": {
                    "filename": "document.pdf",
                    "file_data": "data:application/pdf;base64,AA==",
                },
            },
        ),
        (
            Media(kind="document", url="https://x/a.pdf", name="a.pdf"),
            {"documents": "file_or_url"},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x/a.pdf"}},
        ),
        (
            Media(kind="document", url="https://x/a.pdf", name="a"),
            {"documents": "document_url"},
            {"type": "document_url", "document_url": "https://x/a.pdf", "document_name": "a"},
        ),
        (
            Media(kind="document", data="AA==", name="a"),
            {"documents": "file_url"},
            {"type": "file_url", "file_url": {"url": "AA=="}, "file_name": "a"},
        ),
        (
            Media(kind="document", file_id="f1", name="a", origin="acme"),
            {},
            {"type": "file", "file": {"file_id": "f1", "filename": "a"}},
        ),
    ],
)
def test_media_are_written_as_the_vendor_takes_them(
    tell: Tell, aim: Aim, media: Media, options: dict[str, Any], piece: dict[str, Any]
) -> None:
    body, lost = tell(user(media, Text(text="?")), aim(**options))

    assert body["messages"][0]["content"] == [piece, {"type": "text", "text": "?"}]
    assert lost == []


@pytest.mark.parametrize(
    ("media", "options", "name"),
    [
        (Media(kind="audio", url="https://x/y"), {}, "audio"),
        (Media(kind="video", url="https://x/y"), {}, "video"),
        (Media(kind="document", url="https://x/y"), {}, "document"),
        (Media(kind="document", data="AA=="), {"documents": "none"}, "document"),
        (Media(kind="image", file_id="f", origin="other"), {}, "file_id"),
        (Media(kind="document", file_id="f", origin="other"), {}, "file_id"),
    ],
)
def test_media_without_a_way_are_lost(
    tell: Tell, aim: Aim, media: Media, options: dict[str, Any], name: str
) -> None:
    body, lost = tell(user(media, Text(text="?")), aim(**options))

    assert body["messages"][0]["content"] == "?"
    assert lost == [name]


def test_a_document_of_text_is_text(tell: Tell) -> None:
    body, lost = tell(user(Media(kind="document", text="words", name="a.txt"), Text(text="?")))

    assert body["messages"][0]["content"] == "a.txt\n\nwords\n\n?"
    assert lost == []


def test_foreign_parts_are_carried_only_at_home(tell: Tell) -> None:
    own = Foreign(dialect="openai", type="hologram", raw=Raw(b'{"type":"hologram"}'))
    other = Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}"))

    body, lost = tell(user(own, other, Text(text="?")))

    assert body["messages"][0]["content"] == [
        {"type": "hologram"},
        {"type": "text", "text": "?"},
    ]
    assert lost == ["part:server_tool_use"]


def test_a_turn_of_which_nothing_is_left_is_left_out(tell: Tell) -> None:
    gone = Turn("user", (Media(kind="video", url="https://x"),))

    body, lost = tell(talk(gone, HI))

    assert len(body["messages"]) == 1
    assert lost == ["video"]


def test_a_conversation_of_which_nothing_is_left_is_refused(tell: Tell) -> None:
    with pytest.raises(BadRequest):
        tell(user(Media(kind="video", url="https://x")))


def test_a_clients_own_empty_message_is_kept(tell: Tell) -> None:
    body, _ = tell(talk(Turn("user", ()), Turn("assistant", ())))

    assert body["messages"] == [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
    ]


def test_an_answer_with_calls_says_nothing_beside_them(tell: Tell) -> None:
    call = ToolCall(id="a", name="f", arguments='{"x":1}')
    result = ToolResult(call_id="a", name="f", content=(Text(text="1"), Text(text="2")))

    body, _ = tell(called(call, results=(result,)))

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"x":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1\n\n2", "name": "f"},
    ]


def test_a_call_without_arguments_has_an_empty_object(tell: Tell) -> None:
    body, _ = tell(called(ToolCall(id="a", name="f")))

    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_texts_around_a_call_do_not_run_into_one_another(tell: Tell) -> None:
    call = ToolCall(id="a", name="f")

    body, _ = tell(called(Text(text="x"), Text(text="y"), call, Text(text="z")))

    assert body["messages"][1]["content"] == "xy\n\nz"


def test_results_stand_right_behind_their_calls(tell: Tell) -> None:
    conversation = talk(
        HI,
        Turn("assistant", (ToolCall(id="a", name="f"), ToolCall(id="b", name="f"))),
        Turn("user", (Text(text="wait"),)),
        Turn("user", (Text(text="here"), ToolResult(call_id="b", content=(Text(text="2"),)))),
    )

    messages = tell(conversation)[0]["messages"]

    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in messages[2:]] == [
        ("tool", "a", "No result was given for this call."),
        ("tool", "b", "2"),
        ("user", None, "wait"),
        ("user", None, "here"),
    ]


def test_a_result_of_no_known_call_becomes_words(tell: Tell) -> None:
    body, _ = tell(user(ToolResult(call_id="z", content=(Text(text="9"),))))

    assert body["messages"] == [
        {"role": "user", "content": "Result of the tool call z:\n\n9"},
    ]


def test_one_id_may_be_used_again_in_a_later_round(tell: Tell) -> None:
    call = Turn("assistant", (ToolCall(id="0", name="f"),))
    first = Turn("user", (ToolResult(call_id="0", content=(Text(text="1"),)),))
    second = Turn("user", (ToolResult(call_id="0", content=(Text(text="2"),)),))

    messages = tell(talk(call, first, call, second))[0]["messages"]

    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "2"]


def test_pictures_of_results_follow_in_a_message_of_their_own(tell: Tell, aim: Aim) -> None:
    image = Media(kind="image", url="https://x/y")
    results = (
        ToolResult(call_id="a", content=(image,)),
        ToolResult(call_id="b", content=(Text(text="t"), image)),
    )
    conversation = called(ToolCall(id="a", name="f"), ToolCall(id="b", name="f"), results=results)
    piece = {"type": "image_url", "image_url": {"url": "https://x/y"}}

    apart = tell(conversation)[0]["messages"]
    within = tell(conversation, aim(images_in_tool_results=True))[0]["messages"]

    assert [m["role"] for m in apart] == ["user", "assistant", "tool", "tool", "user"]
    assert [m["content"] for m in apart[2:4]] == ["The result is in the next message.", "t"]
    assert apart[4]["content"] == [
        {"type": "text", "text": "Result of the tool call a:"},
        piece,
        {"type": "text", "text": "Result of the tool call b:"},
        piece,
    ]
    assert [m["content"] for m in within[2:]] == [
        [piece],
        [{"type": "text", "text": "t"}, piece],
    ]


def test_a_failed_result_says_so(tell: Tell) -> None:
    results = (
        ToolResult(call_id="a", content=(Text(text="no file"),), failed=True),
        ToolResult(call_id="b", content=(Text(text="Error: x"),), failed=True),
        ToolResult(call_id="c", failed=True),
    )
    calls = [ToolCall(id=i, name="f") for i in "abc"]

    messages = tell(called(*calls, results=results))[0]["messages"]

    assert [m["content"] for m in messages[2:]] == ["Error: no file", "Error: x", "Error"]


def test_a_breakpoint_behind_a_result_stands_on_its_last_text(tell: Tell, aim: Aim) -> None:
    result = ToolResult(call_id="a", content=(Text(text="1"), Text(text="2")), cache="5m")

    messages = tell(called(ToolCall(id="a", name="f"), results=(result,)), aim(cache_control=True))[
        0
    ]["messages"]

    assert messages[2]["content"] == [
        {"type": "text", "text": "1"},
        {"type": "text", "text": "2", "cache_control": {"type": "ephemeral"}},
    ]


@pytest.mark.parametrize("options", [{}, {"short_ids": True}], ids=["long", "short"])
def test_ids_fit_the_vendor_and_still_pair(tell: Tell, aim: Aim, options: dict[str, bool]) -> None:
    ids = ["x" * 41, "call_1", ""]
    calls = [ToolCall(id=i, name="f") for i in ids]
    results = tuple(ToolResult(call_id=i, content=(Text(text="r"),)) for i in ids)

    messages = tell(called(*calls, results=results), aim(**options))[0]["messages"]

    sent = [call["id"] for call in messages[1]["tool_calls"]]
    assert sent == [m["tool_call_id"] for m in messages[2:]]
    assert len(set(sent)) == 3
    longest = 9 if options else 40
    assert all(0 < len(i) <= longest for i in sent)
    assert not options or all(len(i) == 9 and i.isalnum() for i in sent)


def test_nine_characters_are_kept_where_they_are_wanted(tell: Tell, aim: Aim) -> None:
    body, _ = tell(called(ToolCall(id="gSIMJiOkT", name="f")), aim(short_ids=True))

    assert body["messages"][1]["tool_calls"][0]["id"] == "gSIMJiOkT"


def test_a_refusal_is_words_unless_it_was_said_in_this_dialect(tell: Tell) -> None:
    turns = (HI, Turn("assistant", (Refusal(text="No."),)))

    assert tell(talk(*turns))[0]["messages"][1] == {"role": "assistant", "content": "No."}
    assert tell(talk(*turns, dialect="openai"))[0]["messages"][1] == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
    }


def test_citations_of_earlier_answers_are_lost(tell: Tell) -> None:
    text = Text(text="a", citations=(Citation(url="https://x"),))

    assert tell(called(text))[1] == ["citations"]


def test_media_the_model_made_are_lost_but_for_its_own_speech(tell: Tell) -> None:
    own = Media(kind="audio", file_id="audio_1", origin="acme")
    image = Media(kind="image", data="AA==")

    body, lost = tell(called(own, image, Text(text="a")))

    assert body["messages"][1]["audio"] == {"id": "audio_1"}
    assert lost == ["image"]


def test_a_signature_goes_back_to_who_gave_it(tell: Tell) -> None:
    def sent(origin: str) -> tuple[dict[str, Any], list[str]]:
        call = ToolCall(id="a", name="f", signature="sig", origin=origin)
        body, lost = tell(called(Text(text="t", signature="s2", origin=origin), call))
        return body["messages"][1], lost

    own, nothing = sent("acme")
    brought, _ = sent("~openai")
    foreign, lost = sent("gemini")

    assert own["extra_content"] == {"google": {"thought_signature": "s2"}}
    assert own["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert brought == own
    assert nothing == []
    assert "extra_content" not in foreign
    assert "extra_content" not in foreign["tool_calls"][0]
    assert lost == ["reasoning_signature"]


SIGNED = Reasoning(text="Hm.", signature="sig", origin="acme")


@pytest.mark.parametrize(
    ("style", "members", "lost"),
    [
        (None, {"content": "a"}, ["reasoning_signature", "reasoning"]),
        (True, {"content": "a", "reasoning_content": "Hm."}, ["reasoning_signature"]),
        ("reasoning", {"content": "a", "reasoning": "Hm."}, ["reasoning_signature"]),
        (
            "reasoning_details",
            {
                "content": "a",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "Hm.", "signature": "sig"}
                ],
            },
            [],
        ),
        (
            "content",
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                    {"type": "text", "text": "a"},
                ]
            },
            ["reasoning_signature"],
        ),
    ],
)
def test_earlier_thinking_goes_back_in_the_vendors_spelling(
    tell: Tell, aim: Aim, style: Any, members: dict[str, Any], lost: list[str]
) -> None:
    options = {} if style is None else {"reasoning_content": style}

    body, noted = tell(called(SIGNED, Text(text="a")), aim(**options))

    assert body["messages"][1] == {"role": "assistant", **members}
    assert noted == lost


def test_sealed_thinking_is_written_for_its_own_vendor_only(tell: Tell, aim: Aim) -> None:
    to = aim("openai/gpt-5", reasoning_content="reasoning_details")
    own = Reasoning(sealed="data", id="rs_1", origin="acme")
    foreign = Reasoning(sealed="data", id="rs_1", origin="other")

    body, nothing = tell(called(own, Text(text="a")), to)
    without, lost = tell(called(foreign, Text(text="a")), to)

    assert body["messages"][1]["reasoning_details"] == [
        {
            "type": "reasoning.encrypted",
            "data": "data",
            "id": "rs_1",
            "format": "openai-responses-v1",
        }
    ]
    assert nothing == []
    assert "reasoning_details" not in without["messages"][1]
    assert lost == ["reasoning_signature"]


def test_unsigned_thinking_is_plain_text_for_a_vendor_that_takes_details(
    tell: Tell, aim: Aim
) -> None:
    to = aim(reasoning_content="reasoning_details")

    body, _ = tell(called(Reasoning(text="Hm."), Text(text="a")), to)

    assert body["messages"][1]["reasoning"] == "Hm."


def test_a_call_without_its_thinking_gets_the_least_the_vendor_accepts(
    tell: Tell, aim: Aim
) -> None:
    conversation = called(ToolCall(id="a", name="f"))

    body, _ = tell(conversation, aim(reasoning_content=True))
    plain, _ = tell(conversation, aim(reasoning_content=True, reasoning=False))
    quiet, _ = tell(
        talk(*conversation.turns, thinking=Thinking(enabled=False)), aim(reasoning_content=True)
    )

    assert body["messages"][1]["reasoning_content"] == " "
    assert "reasoning_content" not in plain["messages"][1]
    assert "reasoning_content" not in quiet["messages"][1]


@pytest.mark.parametrize(
    ("thinking", "style", "expected", "lost"),
    [
        (Thinking(effort="max"), "effort", {"reasoning_effort": "max"}, False),
        (Thinking(budget=100), "effort", {"reasoning_effort": "low"}, False),
        (Thinking(budget=60000), "effort", {"reasoning_effort": "high"}, False),
        (Thinking(enabled=True), "effort", {"reasoning_effort": "medium"}, False),
        (Thinking(enabled=False), "effort", {}, True),
        (
            Thinking(enabled=False, effort="none"),
            "effort",
            {"reasoning_effort": "none"},
            False,
        ),
        (Thinking(show=False), "effort", {}, False),
        (Thinking(effort="low"), "openrouter", {"reasoning": {"effort": "low"}}, False),
        (
            Thinking(budget=9, show=False),
            "openrouter",
            {"reasoning": {"max_tokens": 9, "exclude": True}},
            False,
        ),
        (Thinking(enabled=False), "openrouter", {"reasoning": {"enabled": False}}, False),
        (Thinking(show=False), "openrouter", {"reasoning": {"exclude": True}}, False),
        (Thinking(effort="low"), "thinking", {"thinking": {"type": "enabled"}}, False),
        (Thinking(enabled=False), "thinking", {"thinking": {"type": "disabled"}}, False),
        (
            Thinking(effort="low"),
            "thinking+effort",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
            False,
        ),
        (
            Thinking(enabled=False),
            "thinking+effort",
            {"thinking": {"type": "disabled"}},
            False,
        ),
        (
            Thinking(budget=9),
            "enable_thinking",
            {"enable_thinking": True, "thinking_budget": 9},
            False,
        ),
        (
            Thinking(effort="low"),
            "enable_thinking",
            {"enable_thinking": True, "thinking_budget": 2048},
            False,
        ),
        (Thinking(enabled=False), "enable_thinking", {"enable_thinking": False}, False),
        (Thinking(effort="low"), "none", {}, True),
    ],
)
def test_thinking_is_asked_for_in_the_vendors_way(
    tell: Tell,
    aim: Aim,
    thinking: Thinking,
    style: str,
    expected: dict[str, Any],
    lost: bool,
) -> None:
    plain = aim()
    to = Target(replace(plain.provider, options={"reasoning": style}), plain.model)

    body, noted = tell(talk(thinking=thinking), to)

    assert {n: v for n, v in body.items() if n not in ("model", "messages")} == expected
    assert noted == (["thinking"] if lost else [])


def test_a_model_that_cannot_think_is_not_asked_to(tell: Tell, aim: Aim) -> None:
    to = aim(reasoning=False)

    assert tell(talk(thinking=Thinking(effort="low")), to)[1] == ["thinking"]
    assert tell(talk(thinking=Thinking(enabled=False)), to)[1] == []


def test_tools_and_the_choice_among_them(tell: Tell) -> None:
    tool = Tool(name="f", description="d", schema=Raw(b'{"type": "object"}'), strict=True)

    body, lost = tell(
        talk(tools=(tool,), tool_choice=ToolChoice("only", ("f",)), parallel_tools=False)
    )

    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object"},
                "strict": True,
            },
        }
    ]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert body["parallel_tool_calls"] is False
    assert lost == []


def test_nothing_is_said_of_tools_when_there_are_none(tell: Tell) -> None:
    body, _ = tell(talk(tool_choice=ToolChoice("auto"), parallel_tools=True))

    assert body.keys() == {"model", "messages"}


def test_a_tool_without_a_schema_takes_nothing(tell: Tell) -> None:
    body, _ = tell(talk(tools=(Tool(name="f"),)))

    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_several_allowed_tools_are_all_that_is_offered(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        tools=tuple(Tool(name=n) for n in "fgh"), tool_choice=ToolChoice("only", ("f", "g"))
    )

    plain, _ = tell(conversation)
    rich, _ = tell(conversation, aim(allowed_tools=True))

    assert [tool["function"]["name"] for tool in plain["tools"]] == ["f", "g"]
    assert plain["tool_choice"] == "required"
    assert len(rich["tools"]) == 3
    assert rich["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "required",
            "tools": [{"type": "function", "function": {"name": n}} for n in "fg"],
        },
    }


def test_a_hosted_tool_of_another_dialect_is_lost_unless_the_vendor_has_it(
    tell: Tell, aim: Aim
) -> None:
    search = Tool(name="web_search", hosted="web_search", raw=Raw(b"{}"), dialect="claude")
    code = Tool(name="code", hosted="code_execution", raw=Raw(b"{}"), dialect="claude")

    body, lost = tell(talk(tools=(search, code)))

    assert "tools" not in body
    assert lost == ["tool:web_search", "tool:code_execution"]
    assert (
        tell(talk(tools=(search,)), aim(web_search="web_search_options"))[0]["web_search_options"]
        == {}
    )
    assert tell(talk(tools=(search,)), aim(web_search="plugins"))[0]["plugins"] == [{"id": "web"}]
    assert tell(talk(tools=(search,)), aim(web_search="openrouter:web_search"))[0]["tools"] == [
        {"type": "openrouter:web_search"}
    ]


def test_a_tool_of_this_dialect_keeps_its_own_words(tell: Tell) -> None:
    raw = Raw(b'{"type":"magic","x":1}')
    magic = Tool(name="magic", hosted="other", raw=raw, dialect="openai")
    search = Tool(
        name="web_search_options", hosted="web_search", raw=Raw(b'{"a":1}'), dialect="openai"
    )

    body, lost = tell(talk(tools=(magic, search), dialect="openai"))

    assert body["tools"] == [{"type": "magic", "x": 1}]
    assert body["web_search_options"] == {"a": 1}
    assert lost == []


CUSTOM = Tool(
    name="calc",
    description="d",
    custom=True,
    raw=Raw(
        b'{"type":"custom","name":"calc","format":{"type":"grammar","syntax":"lark",'
        b'"definition":"x"}}'
    ),
    dialect="openai-responses",
)


def test_a_custom_tool_is_a_function_with_one_text_where_it_must_be(tell: Tell) -> None:
    call = ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)

    body, lost = tell(talk(HI, Turn("assistant", (call,)), tools=(CUSTOM,)))

    assert body["tools"][0]["function"]["parameters"]["required"] == ["input"]
    assert body["messages"][1]["tool_calls"][0]["function"] == {
        "name": "calc",
        "arguments": '{"input":"4 + 4"}',
    }
    assert lost == []


def test_a_custom_tool_keeps_its_grammar_where_the_vendor_takes_it(tell: Tell, aim: Aim) -> None:
    call = ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)
    conversation = talk(
        HI,
        Turn("assistant", (call,)),
        tools=(CUSTOM,),
        tool_choice=ToolChoice("only", ("calc",)),
    )

    body, _ = tell(conversation, aim(custom_tools=True))

    assert body["tools"] == [
        {
            "type": "custom",
            "custom": {
                "name": "calc",
                "description": "d",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "lark", "definition": "x"},
                },
            },
        }
    ]
    assert body["messages"][1]["tool_calls"][0]["custom"] == {"name": "calc", "input": "4 + 4"}
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "calc"}}


def test_older_functions_are_sent_as_tools_with_room_for_one_call(tell: Tell) -> None:
    body, _ = tell(talk(tools=(Tool(name="f", dialect="openai-functions"),), dialect="openai"))

    assert body["tools"][0]["type"] == "function"
    assert body["parallel_tool_calls"] is False


def test_the_form_of_the_answer_is_written(tell: Tell) -> None:
    output = Output(schema=Raw(b'{"type": "object"}'), strict=True, description="d")

    body, lost = tell(talk(output=output))

    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "response",
            "description": "d",
            "schema": {"type": "object"},
            "strict": True,
        },
    }
    assert lost == []


def test_a_vendor_without_schemas_is_told_in_words(tell: Tell, aim: Aim) -> None:
    output = Output(schema=Raw(b'{"type":"object"}'))

    body, lost = tell(talk(output=output), aim(json_schema=False))

    assert body["response_format"] == {"type": "json_object"}
    assert '{"type":"object"}' in body["messages"][0]["content"]
    assert lost == ["output_schema"]


def test_json_mode_is_not_asked_for_without_the_word(tell: Tell) -> None:
    silent, _ = tell(talk(output=Output()))
    spoken, _ = tell(talk(Turn("user", (Text(text="as JSON"),)), output=Output()))
    own, _ = tell(talk(output=Output(), dialect="openai"))

    assert "JSON" in silent["messages"][0]["content"]
    assert len(spoken["messages"]) == 1
    assert len(own["messages"]) == 1


@pytest.mark.parametrize(
    ("tier", "dialect", "sent", "lost"),
    [
        ("auto", "claude", "auto", []),
        ("standard_only", "claude", "default", []),
        ("batch", "claude", None, ["service_tier"]),
        ("on_demand", "openai", "on_demand", []),
    ],
)
def test_the_service_tier_is_sent_when_it_is_known_here(
    tell: Tell, tier: str, dialect: str, sent: str | None, lost: list[str]
) -> None:
    body, noted = tell(talk(service_tier=tier, dialect=dialect))

    assert body.get("service_tier") == sent
    assert noted == lost


def test_another_dialects_long_user_id_is_shortened_the_same_way_each_time(tell: Tell) -> None:
    long = "user_" + "x" * 100

    first = tell(talk(user=long, dialect="claude"))[0]["user"]
    again = tell(talk(user=long, dialect="claude"))[0]["user"]

    assert first == again
    assert len(first) == 64
    assert tell(talk(user=long, dialect="openai"))[0]["user"] == long
    assert tell(talk(user="u", dialect="claude"))[0]["user"] == "u"
