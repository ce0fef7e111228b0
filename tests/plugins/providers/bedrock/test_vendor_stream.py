"""Converse's answers, whole and streamed, where the recordings do not reach."""

from typing import Any

import msgspec
import pytest
from gateway_provider_bedrock._frames import write_frame
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather

START = ("messageStart", {"role": "assistant"})
STOP = ("messageStop", {"stopReason": "end_turn"})
CITED = {"title": "T", "location": {"web": {"url": "http://x"}}}


def delta(at: int, **held: Any) -> tuple[str, Any]:
    return "contentBlockDelta", {"contentBlockIndex": at, "delta": held, "p": "abc"}


def begin(at: int, **held: Any) -> tuple[str, Any]:
    return "contentBlockStart", {"contentBlockIndex": at, "start": held}


def end(at: int) -> tuple[str, Any]:
    return "contentBlockStop", {"contentBlockIndex": at}


def whole(*content: Any, **members: Any) -> bytes:
    message = {"role": "assistant", "content": content}
    return msgspec.json.encode({"output": {"message": message}, **members})


def test_events_come_in_the_promised_order(read: Any, framed: Any) -> None:
    usage = {"inputTokens": 5, "outputTokens": 7, "cacheReadInputTokens": 3}
    stream = framed(
        START,
        delta(0, reasoningContent={"text": "Hm"}),
        delta(0, reasoningContent={"signature": "s"}),
        end(0),
        delta(1, text="Hi"),
        end(1),
        ("somethingNew", {}),
        begin(2, toolUse={"toolUseId": "c1", "name": "f"}),
        delta(2, toolUse={"input": ""}),
        delta(2, toolUse={"input": '{"a":'}),
        delta(2, toolUse={"input": "1}"}),
        end(2),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": usage}),
    )

    assert read(stream) == [
        ReplyStarted("", ""),
        PartStarted(0, Reasoning()),
        PartGrew(0, "Hm"),
        PartSealed(0, signature="s"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "Hi"),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c1", name="f")),
        PartGrew(2, '{"a":'),
        PartGrew(2, "1}"),
        PartEnded(2),
        ChoiceEnded("tool_calls"),
        UsageReported(Usage(input_tokens=8, output_tokens=7, cached_tokens=3)),
    ]


@pytest.mark.parametrize(
    "events",
    [
        (delta(0, citation=CITED), delta(0, text="Hi"), end(0)),
        (delta(0, text="Hi"), delta(0, citation=CITED), end(0)),
        (delta(0, text="Hi"), end(0), delta(1, citation=CITED), end(1)),
        (delta(0, text="Hi"), end(0), delta(1, citation=CITED)),
    ],
    ids=["before its text", "behind it", "in a block behind it", "in a block without an end"],
)
def test_a_citation_finds_its_text(read: Any, framed: Any, events: Any) -> None:
    reply = gather(read(framed(START, *events, STOP)))

    citation = Citation(title="T", url="http://x")
    assert reply.choices[0].parts == (Text(text="Hi", citations=(citation,)),)


def test_a_citation_of_a_later_text_is_not_given_to_an_earlier_one(read: Any, framed: Any) -> None:
    events = (delta(0, text="a"), end(0), delta(1, citation=CITED), delta(1, text="b"), end(1))

    first, second = gather(read(framed(START, *events, STOP))).choices[0].parts

    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert (len(first.citations), len(second.citations)) == (0, 1)


@pytest.mark.parametrize(
    ("row", "citation"),
    [
        (
            {"location": {"documentPage": {"documentIndex": 2, "start": 1}}, "title": "T"},
            Citation(title="T", document=2),
        ),
        (
            {"location": {"searchResultLocation": {}}, "source": "http://y"},
            Citation(url="http://y"),
        ),
        ({"sourceContent": [{"text": "a"}, {"text": "b"}]}, Citation(quote="ab")),
    ],
)
def test_a_citation_knows_its_source(vendor: VendorSide, row: Any, citation: Citation) -> None:
    block = {"citationsContent": {"content": [{"text": "Hi"}], "citations": [row]}}

    (part,) = vendor.read_reply(whole(block)).choices[0].parts

    assert part == Text(text="Hi", citations=(citation,))


def test_sealed_thinking_may_come_in_pieces(read: Any, framed: Any, vendor: VendorSide) -> None:
    pieces = (
        delta(0, reasoningContent={"redactedContent": "QQ=="}),
        delta(0, reasoningContent={"redactedContent": "Qg=="}),
    )

    streamed = gather(read(framed(START, *pieces, end(0), STOP)))
    reply = vendor.read_reply(whole({"reasoningContent": {"redactedContent": "QUI="}}))

    assert streamed.choices[0].parts == reply.choices[0].parts == (Reasoning(sealed="QUI="),)


def test_what_a_servers_tool_did_is_kept_whole(read: Any, framed: Any, vendor: VendorSide) -> None:
    use = {"toolUseId": "t", "name": "nova_grounding", "type": "server_tool_use"}
    result = {"toolUseId": "t", "status": "success", "type": "nova_grounding_result"}
    stream = framed(
        START,
        begin(0, toolUse=use),
        delta(0, toolUse={"input": '{"q":'}),
        delta(0, toolUse={"input": "1}"}),
        end(0),
        begin(1, toolResult=result),
        delta(1, toolResult=[{"text": "a"}, {"json": {"b": 1}}]),
        end(1),
        STOP,
    )
    blocks = (
        {"toolUse": {**use, "input": {"q": 1}}},
        {"toolResult": {**result, "content": [{"text": "a"}, {"json": {"b": 1}}]}},
    )

    reply = vendor.read_reply(whole(*blocks))

    assert reply.choices[0].parts == tuple(
        Foreign(dialect="bedrock", type=type, raw=Raw(msgspec.json.encode(block)))
        for type, block in zip(("server_tool_use", "toolResult"), blocks, strict=True)
    )
    assert gather(read(stream)).choices == reply.choices
    assert reply.choices[0].finish == "stop"


def test_a_picture_may_come_in_pieces(read: Any, framed: Any, vendor: VendorSide) -> None:
    stream = framed(
        START,
        begin(0, image={"format": "png"}),
        delta(0, image={"source": {"bytes": "AA"}}),
        delta(0, image={"source": {"bytes": "BB"}}),
        end(0),
        STOP,
    )
    block = {"image": {"format": "png", "source": {"bytes": "AABB"}}}

    picture = Media(kind="image", media_type="image/png", data="AABB")
    assert gather(read(stream)).choices[0].parts == (picture,)
    assert vendor.read_reply(whole(block)).choices[0].parts == (picture,)


def test_a_block_of_an_unknown_kind_is_kept(vendor: VendorSide) -> None:
    (part,) = vendor.read_reply(whole({"hologram": {"x": 1}})).choices[0].parts

    assert part == Foreign(dialect="bedrock", type="hologram", raw=Raw(b'{"hologram":{"x":1}}'))


def test_arguments_that_never_came_are_an_empty_object(read: Any, framed: Any) -> None:
    stream = framed(START, begin(0, toolUse={"toolUseId": "c", "name": "f"}), end(0), STOP)

    assert gather(read(stream)).choices[0].parts == (ToolCall(id="c", name="f", arguments="{}"),)


def test_arguments_stay_as_the_model_spelled_them(vendor: VendorSide) -> None:
    body = whole({"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}})

    (part,) = vendor.read_reply(body.replace(b'{"a":1}', b'{"a" : 1.0}')).choices[0].parts

    assert part == ToolCall(id="c", name="f", arguments='{"a" : 1.0}')


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("malformed_tool_use", "error"),
        ("news", "stop"),
    ],
)
def test_why_an_answer_ended(
    vendor: VendorSide, read: Any, framed: Any, reason: str, finish: str
) -> None:
    stream = framed(START, ("messageStop", {"stopReason": reason}))

    assert vendor.read_reply(whole(stopReason=reason)).choices[0].finish == finish
    assert gather(read(stream)).choices[0].finish == finish


@pytest.mark.parametrize(
    ("fields", "met"),
    [
        ({"stop_sequence": "END"}, "END"),
        ({"delta": {"stop_sequence": "END"}}, "END"),
        ({"delta": {"stop_sequence": None}}, None),
        ("text", None),
        (None, None),
    ],
)
def test_which_stop_sequence_was_met(
    vendor: VendorSide, read: Any, framed: Any, fields: Any, met: str | None
) -> None:
    written = {"stopReason": "stop_sequence", "additionalModelResponseFields": fields}

    assert vendor.read_reply(whole(**written)).choices[0].stop_sequence == met
    assert gather(read(framed(START, ("messageStop", written)))).choices[0].stop_sequence == met


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, None),
        ({}, None),
        ({"inputTokens": -1, "outputTokens": 1.5}, None),
        ({"inputTokens": 10**10, "outputTokens": 2}, Usage(output_tokens=2)),
        (
            {"inputTokens": 1, "cacheReadInputTokens": 2, "cacheWriteInputTokens": 4},
            Usage(input_tokens=7, cached_tokens=2, cache_write_tokens=4),
        ),
    ],
)
def test_what_was_used(vendor: VendorSide, usage: Any, counted: Usage | None) -> None:
    assert vendor.read_reply(whole(usage=usage)).usage == counted


@pytest.mark.parametrize(
    ("headers", "payload", "failure"),
    [
        (
            {":message-type": "exception", ":exception-type": "throttlingException"},
            b'{"message":"Too many requests"}',
            ReplyFailed("Too many requests", "throttlingException", status=429),
        ),
        (
            {":message-type": "exception", ":exception-type": "modelStreamErrorException"},
            b'{"message":"fell over","originalStatusCode":500}',
            ReplyFailed("fell over", "modelStreamErrorException", status=424),
        ),
        (
            {":message-type": "exception", ":exception-type": "newsException"},
            b"rubbish",
            ReplyFailed("The upstream broke off its answer", "newsException"),
        ),
        (
            {":message-type": "error", ":error-code": "InternalError", ":error-message": "Oh"},
            b"",
            ReplyFailed("Oh", "InternalError"),
        ),
    ],
)
def test_an_exception_ends_the_stream(
    read: Any, framed: Any, headers: Any, payload: bytes, failure: ReplyFailed
) -> None:
    stream = framed(START, delta(0, text="Hi")) + write_frame(headers, payload) + framed(STOP)

    assert read(stream)[-2:] == [PartGrew(0, "Hi"), failure]


@pytest.mark.parametrize(
    "events",
    [
        (),
        (START,),
        (START, delta(0, text="a")),
        (START, ("contentBlockDelta", b"rubbish")),
        (START, delta(0, text=7)),
        (("contentBlockStart", {"start": {"toolUse": {}}}),),
    ],
)
def test_a_stream_that_goes_wrong_fails_at_its_end(read: Any, framed: Any, events: Any) -> None:
    assert isinstance(read(framed(*events))[-1], ReplyFailed)


def test_half_a_frame_behind_the_end_is_a_failure(read: Any, framed: Any) -> None:
    assert isinstance(read(framed(START, STOP) + framed(STOP)[:-1])[-1], ReplyFailed)


def test_damage_is_a_failure_behind_what_was_whole(read: Any, framed: Any) -> None:
    stream = framed(START, delta(0, text="Hi")) + b"\0" * 40

    assert read(stream)[-2:] == [
        PartGrew(0, "Hi"),
        ReplyFailed("The upstream sent an event that could not be read"),
    ]


def test_events_out_of_place_do_no_harm(read: Any, framed: Any) -> None:
    stream = framed(
        delta(4, toolUse={"input": "{}"}),
        delta(4, toolResult=[{"text": "a"}]),
        delta(4, citation=CITED),
        end(4),
        end(9),
        begin(5),
        ("contentBlockDelta", {}),
        delta(0, text="Hi"),
        delta(0, toolUse={"input": "x"}),
        STOP,
        STOP,
        delta(0, text="late"),
    )

    reply = gather(read(stream))

    assert reply.choices[0].parts == (Text(text="Hi"),)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"output":{}}', b"[" * 100_000])
def test_rubbish_is_an_upstream_error(vendor: VendorSide, body: bytes) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(body)


def test_a_citation_alone_is_an_event(read: Any, framed: Any) -> None:
    events = read(framed(START, delta(0, text="Hi"), delta(0, citation=CITED), STOP))

    assert CitationAdded(0, Citation(title="T", url="http://x")) in events
