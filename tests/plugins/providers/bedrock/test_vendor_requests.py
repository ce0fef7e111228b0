"""Any conversation as a request for Converse, and what is lost on the way."""

import base64
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Media,
    PartUnsupported,
    Reasoning,
    Refusal,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

HELLO = Turn("user", (Text(text="Hello"),))
CALL = ToolCall(id="c1", name="f", arguments='{"a":1}')
NOVA = "us.amazon.nova-lite-v1:0"
LLAMA = "meta.llama3-2-1b-instruct-v1:0"
X = {"x": Raw(b"1")}


def saying(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), **members)


def user(*parts: Any) -> Turn:
    return Turn("user", (Text(text="Look"), *parts))


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def result(id: str = "c1", *content: Any, **members: Any) -> Turn:
    return Turn("user", (ToolResult(call_id=id, content=content, **members),))


def test_a_plain_question(tell: Any) -> None:
    body, losses = tell(saying(instructions=(Text(text="Be"), Text(text=" "), Text(text="brief."))))

    assert body == {
        "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
        "system": [{"text": "Be"}, {"text": "brief."}],
    }
    assert losses == []


def test_messages_alternate_and_begin_and_end_with_the_user(tell: Any) -> None:
    body, losses = tell(saying(assistant(Text(text="a")), assistant(Text(text="b"))))

    assert body["messages"] == [
        {"role": "user", "content": [{"text": "Continue."}]},
        {"role": "assistant", "content": [{"text": "a"}, {"text": "b"}]},
        {"role": "user", "content": [{"text": "Continue."}]},
    ]
    assert losses == ["added_turn"]


def test_results_stand_first_and_each_call_has_one(tell: Any) -> None:
    second = ToolCall(id="c2", name="g")
    body, losses = tell(
        saying(
            HELLO,
            assistant(CALL, second),
            Turn(
                "user",
                (
                    Text(text="And?"),
                    ToolResult(call_id="c1", content=(Text(text="one"),)),
                    ToolResult(call_id="c9", content=(Text(text="nobody's"),)),
                ),
            ),
        )
    )

    assert body["messages"][1]["content"] == [
        {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}},
        {"toolUse": {"toolUseId": "c2", "name": "g", "input": {}}},
    ]
    first, missing, *rest = body["messages"][2]["content"]
    assert first == {"toolResult": {"toolUseId": "c1", "content": [{"text": "one"}]}}
    assert (missing["toolResult"]["toolUseId"], missing["toolResult"]["status"]) == ("c2", "error")
    assert rest == [{"text": "And?"}, {"text": "nobody's"}]
    assert losses == []


def test_calls_at_the_end_get_results_too(tell: Any) -> None:
    body, _ = tell(saying(HELLO, assistant(CALL)), LLAMA)

    (missing,) = body["messages"][2]["content"]
    assert missing["toolResult"].keys() == {"toolUseId", "content"}


def test_a_result_without_words_is_an_empty_object(tell: Any) -> None:
    body, _ = tell(saying(HELLO, assistant(CALL), result("c1", Text(text=""))))

    assert body["messages"][2]["content"][0]["toolResult"]["content"] == [{"json": {}}]


def test_a_result_may_hold_pictures_and_documents(tell: Any) -> None:
    media = (
        Media(kind="image", media_type="image/png", data="AAAA"),
        Media(kind="document", text="Milk", name="list"),
    )

    body, losses = tell(saying(HELLO, assistant(CALL), result("c1", *media)))

    milk = base64.b64encode(b"Milk").decode()
    assert body["messages"][2]["content"][0]["toolResult"]["content"] == [
        {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
        {"document": {"format": "txt", "source": {"bytes": milk}, "name": "list"}},
    ]
    assert losses == []


@pytest.mark.parametrize("id", ["", "call:1/2", "x" * 65, "fc é"])
def test_an_id_that_the_vendor_refuses_becomes_another_everywhere(tell: Any, id: str) -> None:
    body, _ = tell(saying(HELLO, assistant(ToolCall(id=id, name="f")), result(id)))

    call = body["messages"][1]["content"][0]["toolUse"]["toolUseId"]
    assert call == body["messages"][2]["content"][0]["toolResult"]["toolUseId"]
    assert call.startswith("tooluse_")
    assert len(call) <= 64


@pytest.mark.parametrize(
    ("arguments", "written"),
    [("", {}), ('{"a":1}', {"a": 1}), ("[1]", {"input": [1]}), ("ls", {"input": "ls"})],
)
def test_arguments_are_an_object(tell: Any, arguments: str, written: Any) -> None:
    body, _ = tell(saying(HELLO, assistant(ToolCall(id="c", name="f", arguments=arguments))))

    assert body["messages"][1]["content"][0]["toolUse"]["input"] == written


def test_thinking_stands_before_words_and_only_if_its_vendor_is_this_one(tell: Any) -> None:
    body, losses = tell(
        saying(
            HELLO,
            assistant(
                Text(text="So"),
                Reasoning(text="Hm", signature="s", origin="bedrock"),
                Reasoning(sealed="QQ==", origin="~bedrock"),
                Reasoning(text="No", signature="s", origin="claude"),
                Reasoning(text="Never signed"),
                Reasoning(),
                CALL,
            ),
            result("c1"),
        )
    )

    assert body["messages"][1]["content"][:3] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}},
        {"reasoningContent": {"redactedContent": "QQ=="}},
        {"text": "So"},
    ]
    assert losses == ["reasoning_signature", "reasoning"]


@pytest.mark.parametrize(
    ("media", "block"),
    [
        (
            Media(kind="image", media_type="image/jpg", data="A"),
            {"image": {"format": "jpeg", "source": {"bytes": "A"}}},
        ),
        (
            Media(kind="image", data="iVBORw0KGgoA"),
            {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgoA"}}},
        ),
        (
            Media(kind="image", url="s3://bucket/cat.webp"),
            {
                "image": {
                    "format": "webp",
                    "source": {"s3Location": {"uri": "s3://bucket/cat.webp"}},
                }
            },
        ),
        (
            Media(kind="video", media_type="video/quicktime", data="A"),
            {"video": {"format": "mov", "source": {"bytes": "A"}}},
        ),
        (
            Media(kind="audio", media_type="audio/mpeg; rate=1", data="A"),
            {"audio": {"format": "mp3", "source": {"bytes": "A"}}},
        ),
        (
            Media(kind="document", media_type="text/x-python", data="A", name="a_b.py"),
            {"document": {"format": "txt", "source": {"bytes": "A"}, "name": "a b py"}},
        ),
        (
            Media(kind="document", data="A", name="Report (1).PDF"),
            {"document": {"format": "pdf", "source": {"bytes": "A"}, "name": "Report (1) PDF"}},
        ),
    ],
)
def test_media_have_a_format_and_a_source(tell: Any, media: Media, block: Any) -> None:
    body, losses = tell(saying(user(media)))

    assert body["messages"][0]["content"][1] == block
    assert losses == []


def test_documents_have_names_of_their_own_and_a_text_beside_them(tell: Any) -> None:
    document = Media(kind="document", text="a", name="!!")

    body, _ = tell(saying(Turn("user", (document, document))))

    first, second, text = body["messages"][0]["content"]
    names = (first["document"]["name"], second["document"]["name"])
    assert names == ("document", "document (2)")
    assert text == {"text": "document"}


def test_cache_points_follow_what_is_to_be_kept(tell: Any) -> None:
    body, losses = tell(
        saying(
            HELLO,
            assistant(CALL),
            Turn("user", (ToolResult(call_id="c1", cache="5m"), Text(text="b", cache="1h"))),
            instructions=(Text(text="s", cache="5m"),),
            tools=(Tool(name="f", cache="5m"),),
        )
    )

    point = {"cachePoint": {"type": "default"}}
    assert body["system"] == [{"text": "s"}, point]
    assert body["toolConfig"]["tools"][1] == point
    assert body["messages"][2]["content"][1:] == [
        point,
        {"text": "b"},
        {"cachePoint": {"type": "default", "ttl": "1h"}},
    ]
    assert losses == []


def test_only_the_last_four_cache_points_are_kept(tell: Any) -> None:
    texts = tuple(Text(text=f"t{i}", cache="5m") for i in range(6))

    body, losses = tell(saying(Turn("user", texts)))

    points = ["cachePoint" in block for block in body["messages"][0]["content"]]
    assert points == [False, False, False, True, False, True, False, True, False, True]
    assert losses == ["cache_control"]


def test_a_model_that_caches_nothing_gets_no_cache_points(tell: Any) -> None:
    body, losses = tell(saying(Turn("user", (Text(text="a", cache="5m"),))), LLAMA)

    assert body["messages"][0]["content"] == [{"text": "a"}]
    assert losses == ["cache_control"]


def test_the_providers_switches_are_sent_with_every_request(tell: Any) -> None:
    options = {"guardrail": "abc", "guardrail_version": "1", "latency": "optimized"}

    body, _ = tell(saying(service_tier="flex"), options=options)

    assert body["guardrailConfig"] == {"guardrailIdentifier": "abc", "guardrailVersion": "1"}
    assert body["performanceConfig"] == {"latency": "optimized"}
    assert body["serviceTier"] == {"type": "flex"}


@pytest.mark.parametrize(
    ("stream", "place"), [(True, "/delta/stop_sequence"), (False, "/stop_sequence")]
)
def test_a_model_that_says_which_stop_sequence_it_met_is_asked(
    tell: Any, stream: bool, place: str
) -> None:
    stop = Sampling(stop=("END", ""))

    body, _ = tell(saying(sampling=stop, stream=stream))

    assert body["inferenceConfig"] == {"stopSequences": ["END"]}
    assert body["additionalModelResponseFieldPaths"] == [place]
    assert "additionalModelResponseFieldPaths" not in tell(saying(sampling=stop), NOVA)[0]


def test_parts_and_members_of_the_own_dialect_return_to_their_places(tell: Any) -> None:
    block = (
        b'{"toolUse":{"toolUseId":"t","name":"nova_grounding","input":{},"type":"server_tool_use"}}'
    )
    own = Foreign(dialect="bedrock", type="server_tool_use", raw=Raw(block))

    body, losses = tell(
        Conversation(
            turns=(HELLO, assistant(own, Text(text="a")), HELLO),
            sampling=Sampling(max_tokens=5),
            dialect="bedrock",
            extra={"inferenceConfig": Raw(b'{"topP":0.5}'), "requestMetadata": Raw(b'{"a":"b"}')},
        )
    )

    assert body["messages"][1]["content"][0]["toolUse"]["type"] == "server_tool_use"
    assert body["messages"][2]["content"] == [{"text": "Hello"}]
    assert body["inferenceConfig"] == {"maxTokens": 5, "topP": 0.5}
    assert body["requestMetadata"] == {"a": "b"}
    assert losses == []


@pytest.mark.parametrize(
    ("conversation", "lost"),
    [
        (saying(parallel_tools=False), ["parallel_tools"]),
        (
            saying(user="u", cache_key="k", service_tier="gold"),
            ["service_tier", "user", "cache_key"],
        ),
        (saying(service_tier="auto"), []),
        (saying(tools=(Tool(name="w", hosted="web_search"),)), ["tool:web_search"]),
        (saying(tools=(Tool(name="w", custom=True),)), ["tool:custom"]),
        (saying(tools=(Tool(name="w", extra=X),)), ["tools.x"]),
        (saying(extra=X), ["x"]),
        (saying(Turn("user", (Text(text="a"),), name="Ann", extra=X)), ["name", "messages.x"]),
        (saying(HELLO, Turn("system", (Text(text="a"),))), ["system_turn"]),
        (saying(user(Text(text="a", extra=X))), ["content.x"]),
        (saying(user(Media(kind="document", text=""))), ["document"]),
        (saying(user(Foreign(dialect="d", type="t", raw=Raw(b"{}")))), ["part:t"]),
        (
            saying(HELLO, assistant(Text(text="a"), Media(kind="image", data="/9j/"))),
            ["image", "added_turn"],
        ),
        (saying(HELLO, assistant(Refusal(text="No"))), ["refusal", "added_turn"]),
        (
            saying(HELLO, assistant(Text(text="a", citations=(Citation(),)))),
            ["citations", "added_turn"],
        ),
        (
            saying(HELLO, assistant(ToolCall(id="c", name="f", signature="s", origin="g"))),
            ["reasoning_signature", "added_turn"],
        ),
        (
            saying(HELLO, assistant(CALL), result("c1", Text(text="a", cache="5m"))),
            ["cache_control"],
        ),
    ],
)
def test_what_cannot_be_said_is_recorded(
    tell: Any, conversation: Conversation, lost: list[str]
) -> None:
    assert tell(conversation)[1] == lost


@pytest.mark.parametrize(("model", "lost"), [(NOVA, []), (LLAMA, ["failed"])])
def test_only_some_models_take_the_status_of_a_result(
    tell: Any, model: str, lost: list[str]
) -> None:
    _, losses = tell(saying(HELLO, assistant(CALL), result("c1", failed=True)), model)

    assert losses == lost


def test_instructions_alone_are_something_to_say(tell: Any) -> None:
    body, _ = tell(Conversation(instructions=(Text(text="Write."),)))

    assert body["messages"] == [{"role": "user", "content": [{"text": "Continue."}]}]


@pytest.mark.parametrize(
    "content",
    [
        user(Media(kind="image", url="https://a/b.png")),
        user(Media(kind="image", media_type="image/heic", data="A")),
        user(Media(kind="image", data="A", detail="low")),
        user(Media(kind="document", file_id="f")),
        result("c1", Media(kind="audio", media_type="audio/wav", data="A")),
        assistant(Media(kind="image", data="/9j/")),
    ],
)
def test_an_attachment_that_cannot_be_sent_is_refused(tell: Any, content: Turn) -> None:
    with pytest.raises(PartUnsupported):
        tell(saying(HELLO, assistant(CALL), content))


def test_nothing_to_say_is_an_error(tell: Any) -> None:
    with pytest.raises(BadRequest, match="Nothing in this request can be sent to"):
        tell(saying(Turn("user", (Text(text=""),))))
