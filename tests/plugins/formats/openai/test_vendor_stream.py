"""What vendors stream, read into events."""

from collections.abc import Sequence
from typing import Any

import msgspec
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
    ReplyStarted,
    StreamEvent,
    Text,
    Usage,
    UsageReported,
    VendorSide,
)

DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, *, finish: str | None = None, index: int = 0, **members: Any) -> bytes:
    choice: dict[str, Any] = {"index": index, "delta": delta or {}, "finish_reason": finish}
    choice |= members.pop("choice", {})
    written = {"id": "r1", "model": "m", "created": 7, "choices": [choice], **members}
    return b"data: %b\n\n" % msgspec.json.encode(written)


def read(vendor: VendorSide, *frames: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for frame in frames for event in reader.feed(frame)] + list(reader.close())


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
    both: dict[str, Any] = {"citations": ["https://x", "https://y"], "search_results": found}
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
