"""Answers of any vendor, as a client of this dialect gets them."""

from collections.abc import Sequence
from typing import Any

import httpx2
import msgspec
import pytest
from google.genai import types
from google.genai._api_client import HttpResponse
from msgspec import Raw

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Thinking,
    ToolCall,
    Usage,
    UsageReported,
    VendorSide,
    WireFormat,
)
from gateway_formats.fold import unfold
from gateway_formats.grammar import violation

ASKED = Conversation(model="asked", dialect="gemini")
START = ReplyStarted("id-1", "m-1", extra={})


def whole(
    client: ClientSide, *parts: Any, asked: Conversation = ASKED, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    usage = more.pop("usage", None)
    reply = Reply(id="id-1", model="m-1", choices=(Choice(parts=parts, **more),), usage=usage)
    body: dict[str, Any] = msgspec.json.decode(client.write_reply(reply, asked, losses))
    types.GenerateContentResponse.model_validate(body)
    return body, list(losses.names)


def frames(stream: bytes) -> list[dict[str, Any]]:
    assert stream == b"" or stream.endswith(b"\r\n\r\n")
    found = [part.removeprefix(b"data: ") for part in stream.split(b"\r\n\r\n")[:-1]]
    return [msgspec.json.decode(frame) for frame in found]


def streamed(client: ClientSide, *events: StreamEvent) -> list[dict[str, Any]]:
    writer = client.stream_writer(ASKED, Losses())
    return frames(b"".join(writer.feed([event]) for event in events) + writer.close())


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
    asked = Conversation(thinking=Thinking(show=False))

    body, _ = whole(client, Reasoning(text="hm"), Text(text="a"), asked=asked)

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


def test_a_stream_shows_text_as_it_grows_and_ends_with_the_reason(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Text(text="")),
        PartGrew(0, "Hel", logprobs=LOGPROBS),
        PartGrew(0, "lo"),
        PartEnded(0),
        ChoiceEnded("stop"),
        UsageReported(Usage(input_tokens=1, output_tokens=2)),
    )

    said = [frame["candidates"][0]["content"]["parts"] for frame in found]
    assert said == [[{"text": "Hel"}], [{"text": "lo"}], [{"text": ""}]]
    assert "logprobsResult" in found[0]["candidates"][0]
    assert "logprobsResult" not in found[1]["candidates"][0]
    assert [frame["candidates"][0].get("finishReason") for frame in found] == [None, None, "STOP"]
    assert found[-1]["usageMetadata"]["totalTokenCount"] == 3
    assert {(frame["modelVersion"], frame["responseId"]) for frame in found} == {("m-1", "id-1")}


def test_one_network_read_is_one_frame(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())
    events: list[StreamEvent] = [START, PartStarted(0, Text(text=""))]
    events += [PartGrew(0, "a"), PartGrew(0, "b")]

    [frame] = frames(writer.feed(events))

    assert frame["candidates"][0]["content"]["parts"] == [{"text": "ab"}]


def test_calls_go_out_complete_with_the_end(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Text(text="")),
        PartGrew(0, "so"),
        PartEnded(0),
        PartStarted(1, ToolCall(id="1", name="f")),
        PartStarted(2, ToolCall(id="2", name="g")),
        PartGrew(1, '{"a"'),
        PartGrew(2, "{}"),
        PartGrew(1, ":1}"),
        PartEnded(2),
        PartEnded(1),
        ChoiceEnded("tool_calls"),
    )

    assert len(found) == 2
    last = found[-1]["candidates"][0]
    calls = {part["functionCall"]["id"]: part["functionCall"] for part in last["content"]["parts"]}
    assert calls == {
        "1": {"id": "1", "name": "f", "args": {"a": 1}},
        "2": {"id": "2", "name": "g", "args": {}},
    }
    assert last["finishReason"] == "STOP"


def test_what_follows_a_call_comes_after_it(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, ToolCall(id="1", name="f", arguments="{}")),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "then"),
        PartEnded(1),
        ChoiceEnded("tool_calls"),
    )

    first = found[0]["candidates"][0]["content"]["parts"]
    assert [next(iter(part)) for part in first] == ["functionCall", "text"]


def test_texts_that_grow_by_turns_come_one_after_the_other(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Reasoning()),
        PartStarted(1, Text(text="")),
        PartGrew(1, "an"),
        PartGrew(0, "hm"),
        PartGrew(1, "swer"),
        PartEnded(1),
        PartGrew(0, "m"),
        PartEnded(0),
        ChoiceEnded("stop"),
    )

    parts = [part for frame in found for part in frame["candidates"][0]["content"]["parts"]]
    assert parts == [
        {"text": "hm", "thought": True},
        {"text": "m", "thought": True},
        {"text": "answer"},
        {"text": ""},
    ]


def test_several_choices_share_the_stream(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Text(text="a"), 0),
        PartStarted(0, Text(text="x"), 1),
        PartEnded(0, 0),
        PartEnded(0, 1),
        ChoiceEnded("stop", 0),
        ChoiceEnded("length", 1),
    )

    last = found[-1]["candidates"]
    assert [each["index"] for frame in found[:-1] for each in frame["candidates"]] == [0, 1]
    assert [(each["index"], each["finishReason"]) for each in last] == [
        (0, "STOP"),
        (1, "MAX_TOKENS"),
    ]


def test_citations_of_a_stream_come_at_its_end(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Text(text="")),
        PartGrew(0, "ab"),
        CitationAdded(0, Citation(url="https://a", start=1, end=2)),
        PartEnded(0),
        ChoiceEnded("stop"),
    )

    [support] = found[-1]["candidates"][0]["groundingMetadata"]["groundingSupports"]
    assert support["segment"] == {"startIndex": 1, "endIndex": 2, "text": "b"}


def test_a_seal_that_comes_late_is_put_under_an_empty_text(client: ClientSide) -> None:
    found = streamed(
        client,
        START,
        PartStarted(0, Text(text="")),
        PartGrew(0, "ab"),
        PartSealed(0, signature="c2ln", origin="google"),
        PartEnded(0),
        ChoiceEnded("stop"),
    )

    parts = found[1]["candidates"][0]["content"]["parts"]
    assert parts[0]["text"] == ""
    assert "thoughtSignature" in parts[0]


FAILURE = ReplyFailed("Too busy", "overloaded_error", "busy", 529, 7)


def test_a_failure_is_the_last_frame_and_no_end(client: ClientSide, gemini: WireFormat) -> None:
    writer = client.stream_writer(ASKED, Losses())

    stream = writer.feed([START, PartStarted(0, Text(text="a")), FAILURE])
    after = writer.feed([PartGrew(0, "b")]) + writer.close()

    first, last = frames(stream)
    assert first["candidates"][0]["content"]["parts"] == [{"text": "a"}]
    assert last == {
        "error": {
            "code": 529,
            "message": "Too busy",
            "status": "INTERNAL",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "BUSY",
                    "domain": "gateway",
                },
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
            ],
        }
    }
    assert after == b""
    assert gemini.grammar is not None
    assert violation(gemini.grammar, stream) is None


SEPARATORS = "a\u2028b\u2029c\x85d"


def test_no_line_reader_splits_within_a_frame(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())
    events: Sequence[StreamEvent] = [
        START,
        PartStarted(0, Text(text="")),
        PartGrew(0, SEPARATORS),
        PartEnded(0),
        PartStarted(1, ToolCall(id="1", name="f", arguments=f'{{"a": "{SEPARATORS}"}}')),
        PartEnded(1),
        ChoiceEnded("tool_calls"),
    ]

    stream = writer.feed(events) + writer.close()

    assert [line for line in stream.decode().splitlines() if line] == [
        line for line in stream.decode().split("\r\n") if line
    ]
    first, last = frames(stream)
    assert first["candidates"][0]["content"]["parts"] == [{"text": SEPARATORS}]
    [call] = last["candidates"][0]["content"]["parts"]
    assert call["functionCall"]["args"] == {"a": SEPARATORS}


def library(stream: bytes) -> list[Any]:
    """What the vendor's own library makes of a stream's bytes."""
    answer = httpx2.Response(200, content=stream)
    return list(HttpResponse(headers={}, response_stream=answer).segments())


def test_the_vendor_s_library_reads_the_stream_and_its_errors(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())

    stream = writer.feed([START, PartStarted(0, Text(text=SEPARATORS)), FAILURE])

    first, last = library(stream)
    parsed = types.GenerateContentResponse.model_validate(first)
    assert parsed.text == SEPARATORS
    # The library raises its own error for a piece that begins like this.
    assert msgspec.json.encode(last).startswith(b'{"error":')


def test_a_stream_without_anything_still_ends(client: ClientSide, gemini: WireFormat) -> None:
    stream = client.stream_writer(ASKED, Losses()).close()

    assert gemini.grammar is not None
    assert violation(gemini.grammar, stream) is None


def test_whole_and_streamed_agree(client: ClientSide, vendor: VendorSide) -> None:
    parts = (Reasoning(text="hm"), Text(text="so"), ToolCall(id="1", name="f", arguments="{}"))
    reply = Reply(id="i", model="m", choices=(Choice(parts=parts, finish="tool_calls"),))
    writer = client.stream_writer(ASKED, Losses())
    reader = vendor.stream_reader()

    events = [*reader.feed(writer.feed(unfold(reply)) + writer.close()), *reader.close()]
    told = vendor.read_reply(client.write_reply(reply, ASKED, Losses()))

    assert told.choices[0].parts == parts
    assert [event for event in events if isinstance(event, PartStarted)] == [
        PartStarted(0, Reasoning()),
        PartStarted(1, Text(text="")),
        PartStarted(2, ToolCall(id="1", name="f")),
    ]
