"""What an answer says of its words: probabilities, sources and their places."""

from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Citation,
    Reply,
    StreamEvent,
    Text,
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
