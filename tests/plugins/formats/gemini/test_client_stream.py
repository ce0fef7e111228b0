"""Streamed answers of any vendor, as a client of this dialect gets them."""

from collections.abc import Sequence
from typing import Any

import httpx2
import msgspec
from google.genai import types
from google.genai._api_client import HttpResponse
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    WireFormat,
)
from gateway_formats.grammar import find_violation

ASKED = Conversation(model="asked", dialect="gemini")


START = ReplyStarted("id-1", "m-1", extra={})


def frames(stream: bytes) -> list[dict[str, Any]]:
    assert stream == b"" or stream.endswith(b"\r\n\r\n")
    found = [part.removeprefix(b"data: ") for part in stream.split(b"\r\n\r\n")[:-1]]
    return [msgspec.json.decode(frame) for frame in found]


def streamed(client: ClientSide, *events: StreamEvent) -> list[dict[str, Any]]:
    writer = client.stream_writer(ASKED, Losses())
    return frames(b"".join(writer.feed([event]) for event in events) + writer.close())


LOGPROBS = Raw(
    b'{"content":[{"token":"a","logprob":-1.0,"bytes":[97],"top_logprobs":'
    b'[{"token":"a","logprob":-1.0,"bytes":[97]}]},{"token":"b","logprob":-2.0}]}'
)


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

    written = [frame["candidates"][0]["content"]["parts"] for frame in found]
    assert written == [[{"text": "Hel"}], [{"text": "lo"}], [{"text": ""}]]
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
    assert find_violation(gemini.grammar, stream) is None


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
    assert find_violation(gemini.grammar, stream) is None


def test_calls_are_told_in_the_order_in_which_they_began(client: ClientSide) -> None:
    first, second = ToolCall(id="a", name="one"), ToolCall(id="b", name="two")
    began = (START, PartStarted(0, first), PartStarted(1, second))
    ended = (PartGrew(1, "{}"), PartEnded(1), PartGrew(0, "{}"), PartEnded(0))

    reported = streamed(client, *began, *ended, ChoiceEnded("tool_calls"))

    parts = [
        part
        for frame in reported
        for candidate in frame["candidates"]
        for part in candidate["content"]["parts"]
    ]
    assert [part["functionCall"]["name"] for part in parts if "functionCall" in part] == [
        "one",
        "two",
    ]
