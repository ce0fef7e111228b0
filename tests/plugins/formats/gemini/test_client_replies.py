"""Whole answers of any vendor, as a client of this dialect gets them."""

from typing import Any

import msgspec
import pytest
from google.genai import types
from msgspec import Raw

from gateway_core import (
    Choice,
    Citation,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCall,
    Usage,
    VendorSide,
)
from gateway_formats.fold import unfold

ASKED = Conversation(model="asked", dialect="gemini")


def whole(
    client: ClientSide, *parts: Any, received: Conversation = ASKED, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    usage = more.pop("usage", None)
    reply = Reply(id="id-1", model="m-1", choices=(Choice(parts=parts, **more),), usage=usage)
    body: dict[str, Any] = msgspec.json.decode(client.write_reply(reply, received, losses))
    types.GenerateContentResponse.model_validate(body)
    return body, list(losses.names)


def test_a_reply_has_the_vendor_s_shape(client: ClientSide) -> None:
    usage = Usage(input_tokens=10, output_tokens=7, reasoning_tokens=3, cached_tokens=4)

    body, lost = whole(client, Reasoning(text="hm"), Text(text="Hello"), usage=usage)

    assert body == {
        "candidates": [
            {
                "content": {
                    "parts": [{"text": "hm", "thought": True}, {"text": "Hello"}],
                    "role": "model",
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 4,
            "totalTokenCount": 17,
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 4,
        },
        "modelVersion": "m-1",
        "responseId": "id-1",
    }
    assert lost == []


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "STOP"),
        ("length", "MAX_TOKENS"),
        ("tool_calls", "STOP"),
        ("content_filter", "SAFETY"),
        ("refusal", "SAFETY"),
        ("pause", "TOO_MANY_TOOL_CALLS"),
        ("error", "OTHER"),
    ],
)
def test_every_end_has_a_reason(client: ClientSide, finish: Any, reason: str) -> None:
    body, _ = whole(client, Text(text="a"), finish=finish)

    assert body["candidates"][0]["finishReason"] == reason


def test_the_vendor_s_own_reason_stays_while_it_is_true(client: ClientSide) -> None:
    spii = {"finishReason": Raw(b'"SPII"'), "finishMessage": Raw(b'"why"')}

    kept, lost = whole(client, Text(text="a"), finish="content_filter", extra=spii)
    changed, _ = whole(client, Text(text="a"), finish="stop", extra=spii)

    assert kept["candidates"][0]["finishReason"] == "SPII"
    assert kept["candidates"][0]["finishMessage"] == "why"
    assert changed["candidates"][0]["finishReason"] == "STOP"
    assert lost == []


def test_calls_are_complete_with_their_ids(client: ClientSide) -> None:
    call = ToolCall(id="c1", name="f", arguments=' {"a":\n 1} ')

    body, _ = whole(client, call, finish="tool_calls")

    [part] = body["candidates"][0]["content"]["parts"]
    assert part == {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (ToolCall(id="1", name="f", arguments=""), {}),
        (ToolCall(id="1", name="f", arguments="[1]"), {"input": "[1]"}),
        (ToolCall(id="1", name="f", arguments='{"a'), {"input": '{"a'}),
        (ToolCall(id="1", name="f", arguments="{}", custom=True), {"input": "{}"}),
    ],
)
def test_arguments_are_always_an_object(client: ClientSide, call: ToolCall, args: Any) -> None:
    body, _ = whole(client, call)

    [part] = body["candidates"][0]["content"]["parts"]
    assert part["functionCall"]["args"] == args


def test_texts_that_touch_are_one_part(client: ClientSide) -> None:
    body, _ = whole(client, Text(text="a"), Text(text="b"), Refusal(text="no"))

    assert body["candidates"][0]["content"]["parts"] == [{"text": "abno"}]


def test_no_line_reader_splits_within_an_answer(client: ClientSide) -> None:
    text = Text(text="a\u2028b\u2029c\x85d")
    reply = Reply(id="i", model="m", choices=(Choice(parts=(text,)),))

    body = client.write_reply(reply, ASKED, Losses())

    assert len(body.decode().splitlines()) == 1
    reported = msgspec.json.decode(body)["candidates"][0]["content"]["parts"]
    assert reported == [{"text": "a\u2028b\u2029c\x85d"}]


def test_an_empty_answer_has_an_empty_text(client: ClientSide) -> None:
    body, _ = whole(client, finish="length")

    [candidate] = body["candidates"]
    assert candidate["content"]["parts"] == [{"text": ""}]
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_a_refused_prompt_has_no_candidates(client: ClientSide) -> None:
    extra = {"promptFeedback": Raw(b'{"blockReason":"SAFETY"}')}

    body, _ = whole(client, finish="content_filter", extra=extra, usage=Usage(input_tokens=1))

    assert "candidates" not in body
    assert body["promptFeedback"] == {"blockReason": "SAFETY"}
    assert body["usageMetadata"]["promptTokenCount"] == 1


def test_thinking_is_not_shown_to_one_who_does_not_want_it(client: ClientSide) -> None:
    received = Conversation(thinking=Thinking(show=False))

    body, _ = whole(client, Reasoning(text="hm"), Text(text="a"), received=received)

    assert body["candidates"][0]["content"]["parts"] == [{"text": "a"}]


@pytest.mark.parametrize(
    ("part", "made"),
    [
        (
            Media(kind="image", media_type="image/png", data="AAAA"),
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        ),
        (
            Media(kind="video", url="https://a/b.mp4"),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a/b.mp4"}},
        ),
        (
            Foreign(dialect="gemini", type="executableCode", raw=Raw(b'{"executableCode":{}}')),
            {"executableCode": {}},
        ),
    ],
)
def test_parts_that_come_in_one_piece(client: ClientSide, part: Any, made: Any) -> None:
    body, lost = whole(client, Text(text="a"), part)

    assert body["candidates"][0]["content"]["parts"] == [{"text": "a"}, made]
    assert lost == []


@pytest.mark.parametrize(
    ("reply", "lost"),
    [
        (Choice(parts=(Foreign(dialect="x", type="y", raw=Raw(b"{}")),)), ["part:y"]),
        (Choice(parts=(Media(kind="document", file_id="f", origin="x"),)), ["document"]),
        (Choice(parts=(Media(kind="image", data="AAAA...AAAA"),)), ["image"]),
        (Choice(parts=(Refusal(text="no"),)), ["refusal"]),
        (Choice(stop_sequence="x"), ["stop_sequence"]),
        (Choice(extra={"seen": Raw(b"1")}), ["seen"]),
    ],
)
def test_what_cannot_be_said_is_named(client: ClientSide, reply: Choice, lost: list[str]) -> None:
    losses = Losses()

    client.write_reply(Reply(id="i", model="m", choices=(reply,)), ASKED, losses)

    assert list(losses.names) == lost


def test_citations_are_grounding_with_places_in_bytes(client: ClientSide) -> None:
    first = Text(text="Ä ", citations=(Citation(url="https://a", title="A", start=0, end=1),))
    second = Text(
        text="bc",
        citations=(
            Citation(url="https://a", title="A"),
            Citation(title="Doc", quote="words", start=1, end=99),
        ),
    )

    body, _ = whole(client, first, second)

    assert body["candidates"][0]["groundingMetadata"] == {
        "groundingChunks": [
            {"web": {"uri": "https://a", "title": "A"}},
            {"retrievedContext": {"title": "Doc", "text": "words"}},
        ],
        "groundingSupports": [
            {
                "segment": {"startIndex": 0, "endIndex": 2, "text": "Ä"},
                "groundingChunkIndices": [0],
            },
            {
                "segment": {"startIndex": 3, "endIndex": 5, "text": "bc"},
                "groundingChunkIndices": [0],
            },
            {
                "segment": {"startIndex": 4, "endIndex": 5, "text": "c"},
                "groundingChunkIndices": [1],
            },
        ],
    }


def test_the_vendor_s_own_record_of_sources_stands_for_the_citations(client: ClientSide) -> None:
    text = Text(text="a", citations=(Citation(url="https://a"),))

    body, _ = whole(client, text, extra={"groundingMetadata": Raw(b'{"webSearchQueries":["q"]}')})

    assert body["candidates"][0]["groundingMetadata"] == {"webSearchQueries": ["q"]}


LOGPROBS = Raw(
    b'{"content":[{"token":"a","logprob":-1.0,"bytes":[97],"top_logprobs":'
    b'[{"token":"a","logprob":-1.0,"bytes":[97]}]},{"token":"b","logprob":-2.0}]}'
)


def test_probabilities_take_the_vendor_s_shape(client: ClientSide) -> None:
    body, _ = whole(client, Text(text="ab"), logprobs=LOGPROBS)

    [candidate] = body["candidates"]
    assert candidate["avgLogprobs"] == -1.5
    assert candidate["logprobsResult"] == {
        "chosenCandidates": [
            {"token": "a", "logProbability": -1.0},
            {"token": "b", "logProbability": -2.0},
        ],
        "topCandidates": [
            {"candidates": [{"token": "a", "logProbability": -1.0}]},
            {"candidates": []},
        ],
    }


@pytest.mark.parametrize(
    "logprobs", [b'{"content":[null]}', b'{"content":[{"logprob":true}]}', b'{"content":{}}']
)
def test_probabilities_that_make_no_sense_do_not_spoil_the_answer(
    client: ClientSide, logprobs: bytes
) -> None:
    body, _ = whole(client, Text(text="ab"), logprobs=Raw(logprobs))

    assert body["candidates"][0]["content"]["parts"] == [{"text": "ab"}]
    assert "logprobsResult" not in body["candidates"][0]


def test_whole_and_streamed_agree(client: ClientSide, vendor: VendorSide) -> None:
    parts = (Reasoning(text="hm"), Text(text="so"), ToolCall(id="1", name="f", arguments="{}"))
    reply = Reply(id="i", model="m", choices=(Choice(parts=parts, finish="tool_calls"),))
    writer = client.stream_writer(ASKED, Losses())
    reader = vendor.stream_reader()

    events = [*reader.feed(writer.feed(unfold(reply)) + writer.close()), *reader.close()]
    reported = vendor.read_reply(client.write_reply(reply, ASKED, Losses()))

    assert reported.choices[0].parts == parts
    assert [event for event in events if isinstance(event, PartStarted)] == [
        PartStarted(0, Reasoning()),
        PartStarted(1, Text(text="")),
        PartStarted(2, ToolCall(id="1", name="f")),
    ]
