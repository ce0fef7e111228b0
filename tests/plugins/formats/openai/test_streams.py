"""What vendors stream, read into events."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
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
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    VendorSide,
)

DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, *, finish: str | None = None, index: int = 0, **members: Any) -> bytes:
    choice: dict[str, Any] = {"index": index, "delta": delta or {}, "finish_reason": finish}
    choice |= members.pop("choice", {})
    said = {"id": "r1", "model": "m", "created": 7, "choices": [choice], **members}
    return b"data: %b\n\n" % msgspec.json.encode(said)


def call(
    index: int | None = 0, id: str | None = None, name: str | None = None, text: Any = None
) -> dict[str, Any]:
    """One delta of a tool call; what is ``None`` is left out."""
    function = {k: v for k, v in (("name", name), ("arguments", text)) if v is not None}
    delta = {"index": index, "id": id, "function": function}
    return {k: v for k, v in delta.items() if v is not None}


def calls(*deltas: Any) -> bytes:
    return chunk({"tool_calls": list(deltas)})


def read(vendor: VendorSide, *frames: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for frame in frames for event in reader.feed(frame)] + list(reader.close())


def started_calls(events: Sequence[StreamEvent]) -> list[ToolCall]:
    started = [event.part for event in events if isinstance(event, PartStarted)]
    return [part for part in started if isinstance(part, ToolCall)]


def arguments(events: Sequence[StreamEvent]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for event in events:
        if isinstance(event, PartGrew):
            texts[event.index] = texts.get(event.index, "") + event.text
    return texts


def test_text_grows_in_one_part(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "a"}),
        chunk({"content": "b"}),
        chunk(finish="stop"),
        b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n',
        DONE,
    )

    assert events == [
        ReplyStarted("r1", "m", 7),
        PartStarted(0, Text(text="")),
        PartGrew(0, "a"),
        PartGrew(0, "b"),
        UsageReported(Usage(input_tokens=3, output_tokens=2)),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]


def test_calls_that_come_after_a_reason_to_end_are_not_lost(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"tool_calls": [call(0, "a", "f", "{}")]}, finish="tool_calls"),
        chunk({"tool_calls": [call(1, "b", "g", "{}")]}, finish="tool_calls"),
        DONE,
    )

    assert [c.name for c in started_calls(events)] == ["f", "g"]
    assert [event for event in events if isinstance(event, ChoiceEnded)] == [
        ChoiceEnded("tool_calls")
    ]


def test_thinking_ends_where_text_begins(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"reasoning_content": "H"}),
        chunk({"reasoning": "m", "content": None}),
        chunk({"content": "a", "reasoning_content": "."}),
        chunk(finish="stop"),
    )

    assert events[1:-1] == [
        PartStarted(0, Reasoning()),
        PartGrew(0, "H"),
        PartGrew(0, "m"),
        PartGrew(0, "."),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "a"),
        PartEnded(1),
    ]


def test_the_first_chunk_of_a_vendor_that_speaks_of_the_prompt_starts_nothing(
    vendor: VendorSide,
) -> None:
    first = b'data: {"id":"","model":"","choices":[],"prompt_filter_results":[{}]}\n\n'

    assert read(vendor, first, chunk({"content": "a"}), DONE)[0] == ReplyStarted("r1", "m", 7)


def test_comments_and_crlf_make_no_difference(vendor: VendorSide) -> None:
    frames = chunk({"content": "a"}) + chunk(finish="stop") + DONE
    noisy = b": PROCESSING\r\n\r\n" + frames.replace(b"\n", b"\r\n")

    assert read(vendor, noisy) == read(vendor, frames)


def test_a_call_ends_when_the_next_starts_if_its_arguments_are_whole(vendor: VendorSide) -> None:
    events = read(
        vendor,
        calls(call(0, "a", "f", "")),
        calls(call(0, text='{"x":')),
        calls(call(0, text="1}")),
        calls(call(1, "b", "g", "{}")),
        chunk(finish="tool_calls"),
    )

    assert events[1:] == [
        PartStarted(0, ToolCall(id="a", name="f")),
        PartGrew(0, '{"x":'),
        PartGrew(0, "1}"),
        PartEnded(0),
        PartStarted(1, ToolCall(id="b", name="g")),
        PartGrew(1, "{}"),
        PartEnded(1),
        ChoiceEnded("tool_calls"),
    ]


def test_calls_that_take_turns_lose_nothing(vendor: VendorSide) -> None:
    events = read(
        vendor,
        calls(call(0, "a", "f", '{"x"')),
        calls(call(1, "b", "g", '{"y"')),
        calls(call(0, text=":1}"), call(1, text=":2}")),
        chunk(finish="tool_calls"),
    )

    assert arguments(events) == {0: '{"x":1}', 1: '{"y":2}'}
    assert events[-3:] == [PartEnded(0), PartEnded(1), ChoiceEnded("tool_calls")]


@pytest.mark.parametrize(
    "deltas",
    [
        [call(None, "a", "f", '{"x":1}'), call(None, "b", "g", '{"y":2}')],
        [call(0, "a", "f", '{"x":1}'), call(0, "b", "g", '{"y":2}')],
        [call(None, "", "f", '{"x":1}'), call(None, "", "g", '{"y":2}')],
        [call(None, "a", "f", {"x": 1}), call(None, "b", "g", {"y": 2})],
        [call(0, "a", "f"), call(0, "", text='{"x":1}'), call(1, "b", "g", '{"y":2}')],
        [
            call(0, "a", "f", '{"x"'),
            call(0, "a", "f", ":1}"),
            call(1, "b", "g", '{"y"'),
            call(1, "b", "g", ":2}"),
        ],
        [
            call(None, "a", "f", '{"x"'),
            call(None, text=":1}"),
            call(None, "b", "g", '{"y"'),
            call(None, "b", text=":2}"),
        ],
    ],
    ids=["no-index", "same-index", "no-id", "objects", "empty-id", "repeated", "bare"],
)
@pytest.mark.parametrize("together", [True, False], ids=["one-chunk", "chunks"])
def test_calls_are_told_apart_however_the_vendor_marks_them(
    vendor: VendorSide, deltas: list[Any], together: bool
) -> None:
    frames = [calls(*deltas)] if together else [calls(delta) for delta in deltas]

    events = read(vendor, *frames, chunk(finish="tool_calls"))

    assert [(c.name, bool(c.id)) for c in started_calls(events)] == [("f", True), ("g", True)]
    assert arguments(events) == {0: '{"x":1}', 1: '{"y":2}'}
    assert len({c.id for c in started_calls(events)}) == 2


def test_a_call_without_an_id_gets_the_same_one_every_time(vendor: VendorSide) -> None:
    frames = (calls(call(0, "", "f", "{}")), chunk(finish="tool_calls"))

    assert started_calls(read(vendor, *frames))[0].id == "call_r1_00"
    assert read(vendor, *frames) == read(vendor, b"".join(frames))


def test_an_older_function_call_is_a_call(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk(finish="function_call"),
    )

    assert [c.name for c in started_calls(events)] == ["f"]
    assert arguments(events) == {0: "{}"}
    assert events[-1] == ChoiceEnded("tool_calls")


def test_a_custom_call_streams_free_text(vendor: VendorSide) -> None:
    first = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "calc", "input": ""}}
    events = read(
        vendor,
        calls(first),
        calls({"index": 0, "custom": {"input": "{4}"}}),
        calls({"index": 0, "custom": {"input": " + 4"}}),
        calls(call(1, "b", "g", "{}")),
        chunk(finish="tool_calls"),
    )

    assert started_calls(events)[0] == ToolCall(id="a", name="calc", custom=True)
    assert arguments(events)[0] == "{4} + 4"


def test_a_call_ends_the_text_before_it(vendor: VendorSide) -> None:
    events = read(
        vendor, chunk({"content": "a"}), calls(call(0, "a", "f", "{}")), chunk(finish="stop")
    )

    assert [type(event) for event in events[1:]] == [
        PartStarted,
        PartGrew,
        PartEnded,
        PartStarted,
        PartGrew,
        PartEnded,
        ChoiceEnded,
    ]
    assert events[-1] == ChoiceEnded("tool_calls")


def test_reasoning_details_are_parts_of_their_own_kind(vendor: VendorSide) -> None:
    def detail(**members: Any) -> bytes:
        return chunk({"reasoning": members.get("text"), "reasoning_details": [members]})

    text = {"type": "reasoning.text", "format": "f", "index": 0}
    sealed = {"type": "reasoning.encrypted", "data": "D", "id": "rs_1", "index": 0}
    events = read(
        vendor,
        detail(**text, text="", signature=""),
        detail(**text, text="H"),
        detail(**text, text="m"),
        detail(**text, signature="sig"),
        detail(**sealed),
        chunk({"content": "a"}),
        chunk(finish="stop"),
    )

    extra = {"format": Raw(b'"f"'), "index": Raw(b"0")}
    assert events[1:9] == [
        PartStarted(0, Reasoning(extra=extra)),
        PartGrew(0, "H"),
        PartGrew(0, "m"),
        PartSealed(0, "sig"),
        PartEnded(0),
        PartStarted(1, Reasoning(sealed="D", id="rs_1", extra={"index": Raw(b"0")})),
        PartEnded(1),
        PartStarted(2, Text(text="")),
    ]


def test_content_may_be_a_list_of_thinking_and_text(vendor: VendorSide) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    signed = {**thinking, "thinking": [], "signature": "sig"}
    other = {"type": "reference", "reference_ids": [1]}
    events = read(
        vendor,
        chunk({"content": [thinking]}),
        chunk({"content": [signed]}),
        chunk({"content": [{"type": "text", "text": "a"}, other]}),
        chunk({"content": "b"}),
        chunk(finish="stop"),
    )

    parts = [event.part for event in events if isinstance(event, PartStarted)]
    assert parts == [
        Reasoning(),
        Text(text=""),
        Foreign(
            dialect="openai",
            type="reference",
            raw=Raw(b'{"type":"reference","reference_ids":[1]}'),
        ),
        Text(text=""),
    ]
    assert PartSealed(0, "sig") in events


def test_a_refusal_is_a_part_and_a_reason_to_end(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"content": None, "refusal": ""}),
        chunk({"refusal": "No."}),
        chunk(finish="stop"),
    )

    assert events[1:] == [
        PartStarted(0, Refusal(text="")),
        PartGrew(0, "No."),
        PartEnded(0),
        ChoiceEnded("refusal"),
    ]


def test_sources_belong_to_the_text(vendor: VendorSide) -> None:
    note = {
        "type": "url_citation",
        "url_citation": {"url": "https://x", "title": "X", "start_index": 0, "end_index": 1},
    }
    raw = Raw(msgspec.json.encode(note))
    citation = Citation(url="https://x", title="X", start=0, end=1, raw=raw, dialect="openai")
    before = read(
        vendor,
        chunk({"content": "", "annotations": [note]}),
        chunk({"content": "a"}),
        chunk(finish="stop"),
    )
    after = read(
        vendor, chunk({"content": "a"}), chunk({"annotations": [note]}), chunk(finish="stop")
    )
    alone = read(vendor, chunk({"annotations": [note]}), chunk(finish="stop"))

    for events in (before, after, alone):
        assert CitationAdded(0, citation) in events
        assert events[-2:] == [PartEnded(0), ChoiceEnded("stop")]


def test_a_search_vendor_names_its_sources_for_the_whole_answer(vendor: VendorSide) -> None:
    found = [{"title": "X", "url": "https://x"}, {"url": "https://y"}]
    both = {"citations": ["https://x", "https://y"], "search_results": found}
    events = read(vendor, chunk({"content": "a"}, **both), chunk(finish="stop", **both))
    plain = read(vendor, chunk({"content": "a"}, citations=["https://z"]), chunk(finish="stop"))

    def cited(events: Sequence[StreamEvent]) -> list[Citation]:
        return [event.citation for event in events if isinstance(event, CitationAdded)]

    assert cited(events) == [Citation(url="https://x", title="X"), Citation(url="https://y")]
    assert cited(plain) == [Citation(url="https://z")]


def test_speech_is_gathered_into_one_part(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"audio": {"id": "audio_1"}}),
        chunk({"audio": {"data": "QQ=="}}),
        chunk({"audio": {"data": "Qg==", "transcript": "Hel"}}),
        chunk({"audio": {"transcript": "lo", "expires_at": 5}}),
        chunk(finish="stop"),
    )

    assert events[1] == PartStarted(
        0,
        Media(
            kind="audio",
            file_id="audio_1",
            data="QUI=",
            text="Hello",
            extra={"expires_at": Raw(b"5")},
        ),
    )


def test_a_picture_comes_whole(vendor: VendorSide) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}

    events = read(vendor, chunk({"images": [image]}), chunk(finish="stop"))

    assert events[1:3] == [
        PartStarted(0, Media(kind="image", media_type="image/png", data="AA==")),
        PartEnded(0),
    ]


def test_proofs_of_calls_and_messages_are_kept(vendor: VendorSide) -> None:
    proof = {"google": {"thought_signature": "sig"}}
    signed = {**call(0, "a", "f", "{}"), "extra_content": proof}
    later = {**call(0, text=""), "extra_content": proof}

    at_once = read(vendor, calls(signed), chunk(finish="tool_calls"))
    late = read(vendor, calls(call(0, "a", "f", "{}")), calls(later), chunk(finish="tool_calls"))
    whole = read(
        vendor,
        chunk({"tool_calls": [call(0, "a", "f", "{}")], "extra_content": proof}),
        chunk(finish="tool_calls"),
    )
    text = read(vendor, chunk({"content": "a", "extra_content": proof}), chunk(finish="stop"))

    assert started_calls(at_once)[0].signature == "sig"
    assert PartSealed(0, "sig") in late
    assert started_calls(whole)[0].signature == "sig"
    assert PartSealed(0, "sig") in text


def test_several_choices_are_told_apart(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"content": "a"}, index=1),
        chunk({"content": "b"}, index=0),
        chunk(finish="stop", index=0),
        chunk(finish="length", index=1),
        DONE,
    )

    assert events[1:] == [
        PartStarted(0, Text(text=""), 1),
        PartGrew(0, "a", 1),
        PartStarted(0, Text(text=""), 0),
        PartGrew(0, "b", 0),
        PartEnded(0, 1),
        ChoiceEnded("length", 1),
        PartEnded(0, 0),
        ChoiceEnded("stop", 0),
    ]


def test_log_probabilities_ride_on_their_text(vendor: VendorSide) -> None:
    tokens = {"content": [{"token": "a", "logprob": -1}], "refusal": None}
    odd = {"content": None, "refusal": None}
    events = read(
        vendor,
        chunk({"content": "a"}, choice={"logprobs": tokens}),
        chunk({"content": "b"}, choice={"logprobs": odd}),
        chunk({"content": "c"}, choice={"logprobs": -1.5}),
        chunk(finish="stop", choice={"logprobs": tokens}),
    )

    raw = Raw(b'{"content":[{"token":"a","logprob":-1}]}')
    assert [event for event in events if isinstance(event, PartGrew)] == [
        PartGrew(0, "a", 0, raw),
        PartGrew(0, "b"),
        PartGrew(0, "c"),
        PartGrew(0, "", 0, raw),
    ]


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("eos", "stop"),
        ("whatever", "stop"),
        ("insufficient_system_resource", "error"),
    ],
)
def test_the_reason_to_end(vendor: VendorSide, word: str, finish: Any) -> None:
    assert read(vendor, chunk({"content": "a"}), chunk(finish=word))[-1] == ChoiceEnded(finish)


def test_the_stop_sequence_that_was_met(vendor: VendorSide) -> None:
    events = read(vendor, chunk(finish="stop", choice={"stop_reason": "END"}))
    number = read(vendor, chunk(finish="stop", choice={"stop_reason": 154827}))

    assert events[-1] == ChoiceEnded("stop", 0, "END")
    assert number[-1] == ChoiceEnded("stop")


def test_usage_is_reported_when_it_changes(vendor: VendorSide) -> None:
    def counted(prompt: int, completion: int) -> dict[str, int]:
        return {"prompt_tokens": prompt, "completion_tokens": completion}

    events = read(
        vendor,
        chunk({"content": "a"}, usage=counted(0, 0)),
        chunk({"content": "a"}, usage=counted(3, 1)),
        chunk({"content": "a"}, usage=counted(3, 1)),
        chunk(finish="stop", x_groq={"usage": counted(3, 2)}),
    )

    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported == [
        Usage(input_tokens=3, output_tokens=1),
        Usage(input_tokens=3, output_tokens=2),
    ]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(
                input_tokens=10,
                output_tokens=5,
                cached_tokens=4,
                cache_write_tokens=3,
                reasoning_tokens=2,
            ),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=10, output_tokens=5, cached_tokens=4),
        ),
        (
            {
                "prompt_tokens": 16,
                "completion_tokens": 100,
                "total_tokens": 538,
                "completion_tokens_details": {"reasoning_tokens": 422},
            },
            Usage(input_tokens=16, output_tokens=522, reasoning_tokens=422),
        ),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 161},
            },
            Usage(input_tokens=168, output_tokens=8, cached_tokens=161),
        ),
        (
            {
                "prompt_tokens": 43,
                "completion_tokens": 10,
                "total_tokens": 53,
                "completion_tokens_details": {"reasoning_tokens": 11},
            },
            Usage(input_tokens=43, output_tokens=10, reasoning_tokens=10),
        ),
        ({"input_tokens": 1, "output_tokens": 2}, Usage(input_tokens=1, output_tokens=2)),
        (
            {"prompt_tokens": -1, "completion_tokens": 2, "num_cached_tokens": 2_000_000_000},
            Usage(output_tokens=2),
        ),
        (
            {"prompt_tokens": 1.5, "completion_tokens": True, "input_tokens": 3},
            Usage(input_tokens=3),
        ),
        ({"prompt_tokens": "many"}, None),
        ([], None),
    ],
)
def test_tokens_are_counted_as_the_hub_counts(
    vendor: VendorSide, counts: Any, expected: Usage | None
) -> None:
    events = read(vendor, chunk(finish="stop", usage=counts))

    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported == ([] if expected is None else [expected])


def test_the_end_marker_ends_an_answer_that_gives_no_reason(vendor: VendorSide) -> None:
    events = read(vendor, calls(call(0, "a", "f", "{}")), DONE, b"data: rubbish\n\n")

    assert events[-2:] == [PartEnded(0), ChoiceEnded("tool_calls")]


def test_a_reason_ends_an_answer_that_has_no_marker(vendor: VendorSide) -> None:
    frames = chunk({"content": "a"}) + chunk(finish="stop")

    assert read(vendor, frames)[-1] == ChoiceEnded("stop")
    assert read(vendor, frames.removesuffix(b"\n\n"))[-1] == ChoiceEnded("stop")


def test_an_answer_that_breaks_off_is_a_failure(vendor: VendorSide) -> None:
    for frames in (chunk({"content": "a"}), b"", b": ping\n\n"):
        events = read(vendor, frames)
        assert isinstance(events[-1], ReplyFailed)
        assert events[-1].message == (
            "The upstream ended the stream before the answer was complete"
        )


def test_one_choice_of_two_that_breaks_off_is_a_failure(vendor: VendorSide) -> None:
    events = read(
        vendor, chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk(finish="stop")
    )

    assert isinstance(events[-1], ReplyFailed)


def test_nothing_but_a_marker_is_a_failure(vendor: VendorSide) -> None:
    assert read(vendor, DONE) == [ReplyFailed("The upstream gave an empty answer")]


@pytest.mark.parametrize(
    "rubbish", [b"data: {\n\n", b"data: 5\n\n", b'data: {"choices":5}\n\n', b"data: \xff\n\n"]
)
def test_rubbish_is_a_failure_and_nothing_follows(vendor: VendorSide, rubbish: bytes) -> None:
    events = read(vendor, chunk({"content": "a"}), rubbish, chunk({"content": "b"}), DONE)

    assert events[-1] == ReplyFailed("The upstream sent an event that could not be read")
    assert PartGrew(0, "b") not in events


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (
            b'event: error\ndata: {"error":{"message":"bad","type":"t","code":"c",'
            b'"status_code":400}}\n\n',
            ReplyFailed("bad", "t", "c", 400),
        ),
        (
            b'data: {"error":{"message":"bad","code":502}}\n\n',
            ReplyFailed("bad", None, "bad_gateway", 502),
        ),
        (b'data: {"error":"bad"}\n\n', ReplyFailed("bad", None, "bad_gateway", 502)),
        (
            b'data: {"object":"error","message":"bad","type":"t"}\n\n',
            ReplyFailed("bad", "t", "bad_gateway", 502),
        ),
        (
            b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error",'
            b'"error":{"message":"bad","code":429}}]}\n\n',
            ReplyFailed("bad", None, "bad_gateway", 429),
        ),
        (
            b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}\n\n',
            ReplyFailed("The upstream broke off its answer"),
        ),
    ],
)
def test_an_error_in_the_stream_is_the_last_event(
    vendor: VendorSide, frame: bytes, expected: ReplyFailed
) -> None:
    events = read(vendor, chunk({"content": "a"}), frame, DONE)

    assert events[-1] == expected


@pytest.mark.parametrize(
    "frame",
    [
        b'data: {"error":null,"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"error":{},"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"type":"ping"}\n\n' + chunk({"content": "a"}),
        chunk({"content": "a"}, created="1715361795", choice={"finish_reason": ""}),
        b'data: {"choices":[{"index":null,"delta":{"content":"a","tool_calls":null}}]}\n\n',
        chunk({"content": "a", "reasoning": {"odd": 1}}),
    ],
)
def test_oddities_cost_nothing(vendor: VendorSide, frame: bytes) -> None:
    events = read(vendor, frame, chunk(finish="stop"), DONE)

    assert PartGrew(0, "a") in events
    assert events[-1] == ChoiceEnded("stop")


def test_a_frame_that_never_ends_is_a_failure(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()
    first = list(reader.feed(b"data: " + b"x" * (17 * 1024 * 1024)))

    assert isinstance(first[-1], ReplyFailed)
    assert list(reader.feed(chunk({"content": "a"}))) == []
    assert list(reader.close()) == []


def test_a_vendor_that_does_not_stream_after_all_is_understood(vendor: VendorSide) -> None:
    body = msgspec.json.encode(
        {
            "id": "r1",
            "model": "m",
            "choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}],
        }
    )
    events = read(vendor, body[:9], body[9:])

    assert events == [
        ReplyStarted("r1", "m"),
        PartStarted(0, Text(text="")),
        PartGrew(0, "ab"),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]


def test_an_error_with_status_200_and_no_stream_is_a_failure(vendor: VendorSide) -> None:
    assert read(vendor, b'{"error":{"message":"bad","code":"c"}}') == [
        ReplyFailed("bad", None, "c", 502)
    ]


def test_a_vendor_that_repeats_the_message_beside_the_delta_is_read_once(
    vendor: VendorSide,
) -> None:
    whole = {"message": {"role": "assistant", "content": "ab"}}
    events = read(
        vendor,
        chunk({"content": "a"}, choice={"message": {"content": "a"}}),
        chunk({"content": "b"}, choice=whole),
        chunk(finish="stop", choice=whole),
    )

    assert [event.text for event in events if isinstance(event, PartGrew)] == ["a", "b"]
