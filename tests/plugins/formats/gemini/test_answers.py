"""What the vendor may answer, and what the hub makes of it."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
    Citation,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather


def content(*parts: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    made = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    return made if finish is None else {**made, "finishReason": finish}


def piece(*candidates: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": list(candidates), "modelVersion": "g", "responseId": "r", **more}


def framed(*found: Any) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % msgspec.json.encode(each) for each in found)


def events(vendor: VendorSide, *found: Any) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [*reader.feed(framed(*found)), *reader.close()]


def whole(vendor: VendorSide, *parts: Any, **more: Any) -> Reply:
    """The answer with these parts, read both ways."""
    said = piece(content(*parts, finish=more.pop("finish", "STOP"), **more))
    reply = vendor.read_reply(msgspec.json.encode(said))
    assert replace(gather(events(vendor, said)), dialect="gemini") == reply
    return reply


def test_text_grows_and_ends(vendor: VendorSide) -> None:
    found = events(
        vendor,
        piece(content({"text": "Hel"}), createTime="2026-01-01T00:00:00.123456789Z"),
        piece(content({"text": "lo"})),
        piece(content({"text": ""}, finish="STOP"), usageMetadata={"promptTokenCount": 3}),
    )

    assert found == [
        ReplyStarted("r", "g", 1767225600),
        PartStarted(0, Text(text="")),
        PartGrew(0, "Hel"),
        PartGrew(0, "lo"),
        UsageReported(Usage(input_tokens=3)),
        PartEnded(0),
        ChoiceEnded("stop", extra={"finishReason": Raw(b'"STOP"')}),
    ]


def test_thinking_comes_before_the_answer_and_a_signature_closes_it(vendor: VendorSide) -> None:
    found = events(
        vendor,
        piece(content({"text": "Hm", "thought": True})),
        piece(content({"text": "So"})),
        piece(content({"text": "", "thoughtSignature": "c2ln"})),
        piece(content({"text": "more"}, finish="STOP")),
    )

    assert found[1:-1] == [
        PartStarted(0, Reasoning()),
        PartGrew(0, "Hm"),
        PartStarted(1, Text(text="")),
        PartGrew(1, "So"),
        PartEnded(0),
        PartSealed(1, signature="c2ln"),
        PartStarted(2, Text(text="")),
        PartGrew(2, "more"),
        PartEnded(1),
        PartEnded(2),
    ]


def test_function_calls_get_ids_that_differ_and_stay(vendor: VendorSide) -> None:
    parts = (
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f"}},
        {"functionCall": {"name": "f", "args": {}, "id": "own"}},
    )

    first, second, third = whole(vendor, *parts).choices[0].parts

    assert whole(vendor, *parts).choices[0].finish == "tool_calls"
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert first == ToolCall(id=first.id, name="f", arguments='{"a":1}', signature="c2ln")
    assert second == ToolCall(id=second.id, name="f", arguments="{}")
    assert third == ToolCall(id="own", name="f", arguments="{}")
    assert first.id != second.id
    assert len(first.id) <= 40
    other = vendor.read_reply(
        msgspec.json.encode({**piece(content(*parts, finish="STOP")), "responseId": "r2"})
    )
    assert other.choices[0].parts[0] != first


def test_arguments_that_are_streamed_by_paths_are_gathered(vendor: VendorSide) -> None:
    def args(path: str, **value: Any) -> dict[str, Any]:
        return {
            "functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": True}
        }

    found = events(
        vendor,
        piece(content({"functionCall": {"name": "f", "willContinue": True}})),
        piece(content(args("$.a.b[1]", stringValue="x", willContinue=True))),
        piece(content(args("$.a.b[1]", stringValue="y"))),
        piece(content(args("$['odd key']", numberValue=1.5))),
        piece(content(args("$.yes", boolValue=True))),
        piece(content(args("$.none", nullValue="NULL_VALUE"))),
        piece(content(args("$.far[99999999]", numberValue=1))),
        piece(content({"functionCall": {}})),
        piece(content({"functionCall": {"name": "g", "willContinue": True}}, finish="STOP")),
    )

    first, second = gather(found).choices[0].parts
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert msgspec.json.decode(first.arguments) == {
        "a": {"b": [None, "xy"]},
        "odd key": 1.5,
        "yes": True,
        "none": None,
        "far": [],
    }
    assert second.arguments == "{}"


@pytest.mark.parametrize(
    "part",
    [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}},
        {"toolResponse": {"id": "1"}},
        {"ofTomorrow": 1},
    ],
)
def test_what_only_this_dialect_knows_is_kept(vendor: VendorSide, part: Any) -> None:
    [made] = whole(vendor, {**part, "thoughtSignature": "c2ln"}).choices[0].parts

    assert made == Foreign(
        dialect="gemini",
        type=next(iter(part)),
        raw=Raw(msgspec.json.encode(part)),
        signature="c2ln",
    )


def test_pictures_are_media_and_those_drawn_while_thinking_are_not(vendor: VendorSide) -> None:
    blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}

    drawn, shown, file = (
        whole(
            vendor,
            {**blob, "thought": True},
            {**blob, "thoughtSignature": "c2ln"},
            {"fileData": {"fileUri": "https://example.com/a.mp3", "mimeType": "audio/mpeg"}},
        )
        .choices[0]
        .parts
    )

    assert isinstance(drawn, Foreign)
    assert shown == Media(kind="image", media_type="image/png", data="AAAA", signature="c2ln")
    assert file == Media(kind="audio", media_type="audio/mpeg", url="https://example.com/a.mp3")


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("STOP", "stop"),
        (1, "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "content_filter"),
        (3, "content_filter"),
        ("RECITATION", "content_filter"),
        ("LANGUAGE", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("IMAGE_PROHIBITED_CONTENT", "content_filter"),
        ("IMAGE_RECITATION", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("ESCALATION", "content_filter"),
        ("PUP_LIMITED_DISABLED", "content_filter"),
        ("TOO_MANY_TOOL_CALLS", "pause"),
        ("OTHER", "error"),
        ("NO_IMAGE", "error"),
        ("IMAGE_OTHER", "error"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("MALFORMED_RESPONSE", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("FROM_TOMORROW", "error"),
        (99, "error"),
    ],
)
def test_every_reason_to_stop_has_its_meaning(
    vendor: VendorSide, said: str | int, finish: str
) -> None:
    choice = whole(vendor, {"text": "a"}, finish=said, finishMessage="why").choices[0]

    assert choice.finish == finish
    assert choice.extra["finishMessage"] == Raw(b'"why"')


def test_a_call_of_an_undeclared_function_is_still_a_call(vendor: VendorSide) -> None:
    reply = whole(vendor, {"functionCall": {"name": "f"}}, finish="UNEXPECTED_TOOL_CALL")

    assert reply.choices[0].finish == "tool_calls"


def test_a_whole_answer_may_leave_out_why_it_ended_but_a_stream_may_not(vendor: VendorSide) -> None:
    for reason in (None, "FINISH_REASON_UNSPECIFIED", 0, ""):
        said = piece(content({"functionCall": {"name": "f"}}, finish=reason))

        assert vendor.read_reply(msgspec.json.encode(said)).choices[0].finish == "tool_calls"
        assert isinstance(events(vendor, said)[-1], ReplyFailed)


def test_a_refused_prompt_is_an_answer_that_was_filtered(vendor: VendorSide) -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "no"}
    said = {"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 2}}

    reply = vendor.read_reply(msgspec.json.encode(said))

    [choice] = reply.choices
    assert (choice.parts, choice.finish) == ((), "content_filter")
    assert choice.extra == {"promptFeedback": Raw(msgspec.json.encode(feedback))}
    assert reply.usage == Usage(input_tokens=2)
    assert gather(events(vendor, said)).choices == reply.choices
    cut = events(vendor, piece(content({"text": "a"})), said)
    assert gather(cut).choices[0].finish == "content_filter"


def test_several_candidates_are_several_choices(vendor: VendorSide) -> None:
    found = events(
        vendor,
        piece({**content({"text": "a"}), "index": 0}, {**content({"text": "x"}), "index": 1}),
        piece({**content({"text": "y"}, finish="MAX_TOKENS"), "index": 1}),
        piece({**content({"text": "b"}, finish="STOP"), "index": 0}),
    )

    first, second = gather(found).choices
    assert (first.parts, first.finish) == ((Text(text="ab"),), "stop")
    assert (second.parts, second.finish) == ((Text(text="xy"),), "length")


def test_thinking_and_tools_are_part_of_what_was_used(vendor: VendorSide) -> None:
    said = piece(
        content({"text": "a"}, finish="STOP"),
        usageMetadata={
            "promptTokenCount": 100,
            "toolUsePromptTokenCount": 20,
            "cachedContentTokenCount": 40,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 130,
        },
    )

    assert vendor.read_reply(msgspec.json.encode(said)).usage == Usage(
        input_tokens=120, output_tokens=10, cached_tokens=40, reasoning_tokens=3
    )


@pytest.mark.parametrize("nonsense", [-1, 2_000_000_000, "many", 1.5, True, None, [], {}])
def test_nonsense_is_not_counted(vendor: VendorSide, nonsense: Any) -> None:
    counts = {"promptTokenCount": 5, "candidatesTokenCount": nonsense}
    said = piece(content({"text": "a"}, finish="STOP"), usageMetadata=counts)

    usage = vendor.read_reply(msgspec.json.encode(said)).usage

    assert usage == Usage(input_tokens=5)


def test_probabilities_take_the_chat_completions_shape(vendor: VendorSide) -> None:
    result = {
        "chosenCandidates": [{"token": "é", "tokenId": 7, "logProbability": -0.5}, {"token": "b"}],
        "topCandidates": [{"candidates": [{"token": "é", "logProbability": -0.5}, {"token": "e"}]}],
    }

    choice = whole(vendor, {"text": "éb"}, logprobsResult=result, avgLogprobs=-0.5).choices[0]

    assert choice.logprobs is not None
    assert msgspec.json.decode(choice.logprobs) == {
        "content": [
            {
                "token": "é",
                "logprob": -0.5,
                "bytes": [195, 169],
                "top_logprobs": [
                    {"token": "é", "logprob": -0.5, "bytes": [195, 169]},
                    {"token": "e", "logprob": -9999.0, "bytes": [101]},
                ],
            },
            {"token": "b", "logprob": -9999.0, "bytes": [98], "top_logprobs": []},
        ]
    }
    assert choice.extra["avgLogprobs"] == Raw(b"-0.5")


def grounding(*supports: Any) -> dict[str, Any]:
    return {
        "groundingChunks": [
            {"web": {"uri": "https://a", "title": "A"}},
            {"retrievedContext": {"title": "B", "text": "words"}},
        ],
        "groundingSupports": list(supports),
    }


def support(text: str, start: int, end: int, *chunks: int) -> dict[str, Any]:
    segment = {"startIndex": start, "endIndex": end, "text": text}
    return {"segment": segment, "groundingChunkIndices": list(chunks)}


def test_sources_are_citations_with_places_in_characters(vendor: VendorSide) -> None:
    metadata = grounding(support("über", 5, 10, 0, 1, 9))

    [part] = whole(vendor, {"text": "Äh, über"}, groundingMetadata=metadata).choices[0].parts

    assert isinstance(part, Text)
    assert part.citations == (
        Citation(url="https://a", title="A", start=4, end=8),
        Citation(title="B", quote="words", start=4, end=8),
    )


def test_places_may_count_through_the_whole_answer(vendor: VendorSide) -> None:
    metadata = grounding(support("two", 4, 7, 0), support("one", 0, 3, 0), support("gone", 70, 74))
    parts = ({"text": "one "}, {"functionCall": {"name": "f"}}, {"text": "two"})

    first, _, second = whole(vendor, *parts, groundingMetadata=metadata).choices[0].parts

    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert first.citations == (Citation(url="https://a", title="A", start=0, end=3),)
    assert second.citations == (Citation(url="https://a", title="A", start=0, end=3),)


def test_sources_that_support_nothing_in_particular_support_all(vendor: VendorSide) -> None:
    [part] = whole(vendor, {"text": "a"}, groundingMetadata=grounding()).choices[0].parts

    assert isinstance(part, Text)
    assert [citation.url for citation in part.citations] == ["https://a", None]


def test_what_is_recited_is_cited(vendor: VendorSide) -> None:
    metadata = {"citations": [{"startIndex": 1, "endIndex": 3, "uri": "https://a"}]}

    choice = whole(vendor, {"text": "abcd"}, citationMetadata=metadata).choices[0]

    [part] = choice.parts
    assert isinstance(part, Text)
    assert part.citations == (Citation(url="https://a", start=1, end=3),)
    assert choice.extra["citationMetadata"] == Raw(msgspec.json.encode(metadata))


def test_sources_that_make_no_sense_do_not_spoil_the_answer(vendor: VendorSide) -> None:
    choice = whole(vendor, {"text": "a"}, groundingMetadata={"groundingChunks": 5}).choices[0]

    assert choice.parts == (Text(text="a"),)
    assert "groundingMetadata" in choice.extra


def test_sources_that_come_late_go_to_the_text_that_is_open(vendor: VendorSide) -> None:
    metadata = grounding(support("one", 0, 3, 0))
    found = events(
        vendor,
        piece(content({"text": "one"})),
        piece(content({"functionCall": {"name": "f"}})),
        piece(content({"text": "two"})),
        piece(content(finish="STOP", groundingMetadata=metadata)),
    )

    first, _, second = gather(found).choices[0].parts
    assert first == Text(text="one")
    assert second == Text(text="two", citations=(Citation(url="https://a", title="A"),))


@pytest.mark.parametrize(
    "candidate",
    [{}, {"content": {}}, {"content": None}, {"content": {"parts": None}}, content({})],
)
def test_a_candidate_may_hold_nothing(vendor: VendorSide, candidate: Any) -> None:
    said = piece({**candidate, "finishReason": "STOP"})

    assert vendor.read_reply(msgspec.json.encode(said)).choices[0].parts == ()


@pytest.mark.parametrize(
    "body", [b"", b"   ", b"{}", b"[]", b"null", b"<html>busy</html>", b"{broken", b'{"a": 1}']
)
def test_rubbish_is_an_upstream_error(vendor: VendorSide, body: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        vendor.read_reply(body)

    assert caught.value.status == 502
    reader = vendor.stream_reader()
    *_, last = [*reader.feed(body), *reader.close()]
    assert isinstance(last, ReplyFailed)


ERROR = {"error": {"code": 429, "message": "Slow down.\nNow.", "status": "RESOURCE_EXHAUSTED"}}


@pytest.mark.parametrize("body", [ERROR, [ERROR]], ids=["alone", "in a list"])
def test_an_error_with_status_200_is_an_error(vendor: VendorSide, body: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        vendor.read_reply(msgspec.json.encode(body))

    error = caught.value
    assert (error.message, error.status, error.kind) == ("Slow down.", 429, "RESOURCE_EXHAUSTED")
    reader = vendor.stream_reader()
    sent = msgspec.json.format(msgspec.json.encode(body))
    [failed] = [*reader.feed(sent[:20]), *reader.feed(sent[20:]), *reader.close()]
    assert failed == ReplyFailed("Slow down.", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 429)


def test_an_error_in_mid_stream_ends_it(vendor: VendorSide) -> None:
    found = events(vendor, piece(content({"text": "a"})), ERROR, piece(content({"text": "b"})))

    assert found[-1] == ReplyFailed("Slow down.", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 429)
    assert found[-2] == PartGrew(0, "a")


@pytest.mark.parametrize(
    "frame",
    [
        b"data: {broken\r\n\r\n",
        b"data: 5\r\n\r\n",
        b'data: {"candidates": 5}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [5]}}]}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [{"text": 5}]}}]}\r\n\r\n',
        b"data: " + b"[" * 5000 + b"\r\n\r\n",
        b'data: {"candidates": [{"content": {"parts": [{"text": "\xff"}]}}]}\r\n\r\n',
    ],
)
def test_a_frame_that_makes_no_sense_fails_the_stream(vendor: VendorSide, frame: bytes) -> None:
    reader = vendor.stream_reader()

    found = [*reader.feed(framed(piece(content({"text": "a"})))), *reader.feed(frame)]

    assert isinstance(found[-1], ReplyFailed)
    assert [*reader.feed(framed(piece(content(finish="STOP")))), *reader.close()] == []


def test_a_stream_that_breaks_off_has_failed(vendor: VendorSide) -> None:
    found = events(vendor, piece(content({"text": "a"})))

    assert isinstance(found[-1], ReplyFailed)
    assert "before the answer was complete" in found[-1].message


def test_marks_and_comments_of_others_are_passed_over(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()
    body = (
        b": ping\n\n" + framed(piece(content({"text": "a"}, finish="STOP"))) + b"data: [DONE]\n\n"
    )

    found = [*reader.feed(body), *reader.close()]

    assert gather(found).choices[0].parts == (Text(text="a"),)


def test_a_frame_without_end_is_refused(vendor: VendorSide) -> None:
    for start in (b"data: ", b'[{"x": "'):
        reader = vendor.stream_reader()

        found = [event for _ in range(18) for event in reader.feed(start + b"a" * (1 << 20))]

        assert len(found) == 1
        assert isinstance(found[0], ReplyFailed)


def test_more_after_the_end_is_still_the_answer(vendor: VendorSide) -> None:
    found = events(
        vendor,
        piece(content({"text": "a"}, finish="STOP")),
        piece(content({"text": "b"}, finish="STOP")),
        {"usageMetadata": {"promptTokenCount": 1}},
    )

    reply = gather(found)
    assert reply.choices[0].parts == (Text(text="ab"),)
    assert reply.usage == Usage(input_tokens=1)
