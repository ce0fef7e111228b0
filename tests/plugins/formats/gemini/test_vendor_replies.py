"""What the vendor may answer, and what the hub makes of it."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
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
    written = piece(content(*parts, finish=more.pop("finish", "STOP"), **more))
    reply = vendor.read_reply(msgspec.json.encode(written))
    assert replace(gather(events(vendor, written)), dialect="gemini") == reply
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
        piece(content(args("$" + ".deep" * 2000, numberValue=1))),
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
    ("written", "finish"),
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
    vendor: VendorSide, written: str | int, finish: str
) -> None:
    choice = whole(vendor, {"text": "a"}, finish=written, finishMessage="why").choices[0]

    assert choice.finish == finish
    assert choice.extra["finishMessage"] == Raw(b'"why"')


def test_a_call_of_an_undeclared_function_is_still_a_call(vendor: VendorSide) -> None:
    reply = whole(vendor, {"functionCall": {"name": "f"}}, finish="UNEXPECTED_TOOL_CALL")

    assert reply.choices[0].finish == "tool_calls"


def test_a_whole_answer_may_leave_out_why_it_ended_but_a_stream_may_not(vendor: VendorSide) -> None:
    for reason in (None, "FINISH_REASON_UNSPECIFIED", 0, ""):
        written = piece(content({"functionCall": {"name": "f"}}, finish=reason))

        assert vendor.read_reply(msgspec.json.encode(written)).choices[0].finish == "tool_calls"
        assert isinstance(events(vendor, written)[-1], ReplyFailed)


def test_a_refused_prompt_is_an_answer_that_was_filtered(vendor: VendorSide) -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "no"}
    written = {"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 2}}

    reply = vendor.read_reply(msgspec.json.encode(written))

    [choice] = reply.choices
    assert (choice.parts, choice.finish) == ((), "content_filter")
    assert choice.extra == {"promptFeedback": Raw(msgspec.json.encode(feedback))}
    assert reply.usage == Usage(input_tokens=2)
    assert gather(events(vendor, written)).choices == reply.choices
    cut = events(vendor, piece(content({"text": "a"})), written)
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


@pytest.mark.parametrize("index", [-1, 10_000, None])
def test_a_candidate_with_an_odd_number_counts_by_its_place(vendor: VendorSide, index: Any) -> None:
    written = piece({**content({"text": "a"}, finish="STOP"), "index": index})

    assert gather(events(vendor, written)).choices[0].parts == (Text(text="a"),)
    assert [event.choice for event in events(vendor, written) if isinstance(event, PartGrew)] == [0]


@pytest.mark.parametrize("counts", [5, [], "many"])
def test_usage_that_makes_no_sense_does_not_spoil_the_answer(
    vendor: VendorSide, counts: Any
) -> None:
    written = piece(content({"text": "a"}, finish="STOP"), usageMetadata=counts)

    assert vendor.read_reply(msgspec.json.encode(written)).usage is None


def test_thinking_and_tools_are_part_of_what_was_used(vendor: VendorSide) -> None:
    written = piece(
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

    assert vendor.read_reply(msgspec.json.encode(written)).usage == Usage(
        input_tokens=120, output_tokens=10, cached_tokens=40, reasoning_tokens=3
    )


@pytest.mark.parametrize("nonsense", [-1, 2_000_000_000, "many", 1.5, True, None, [], {}])
def test_nonsense_is_not_counted(vendor: VendorSide, nonsense: Any) -> None:
    counts = {"promptTokenCount": 5, "candidatesTokenCount": nonsense}
    written = piece(content({"text": "a"}, finish="STOP"), usageMetadata=counts)

    usage = vendor.read_reply(msgspec.json.encode(written)).usage

    assert usage == Usage(input_tokens=5)
