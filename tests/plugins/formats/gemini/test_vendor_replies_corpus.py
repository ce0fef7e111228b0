"""Recorded answers: read, cut anywhere, passed on, and written again for the vendor's library."""

import random
import re
from typing import Any

import msgspec
import pytest
from corpus import Item, answer, items, named
from google.genai import types
from msgspec.structs import replace
from pydantic import ValidationError

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    ProviderSpec,
    Reasoning,
    Reply,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    VendorSide,
    WireFormat,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

ANSWERED = [i for i in items("gemini_generate_content") if i["response_status"] == 200]
FAILED = [i for i in items("gemini_generate_content") if i["response_status"] != 200]
STREAMS = [item for item in ANSWERED if item["stream"]]
LISTS = [item for item in STREAMS if "json_array_stream" in item["features"]]
FRAMED = [item for item in STREAMS if item not in LISTS]
WHOLE = [item for item in ANSWERED if not item["stream"]]

ASKED = Conversation(model="m")
FINISHES = {
    **dict.fromkeys(("STOP", 1), "stop"),
    **dict.fromkeys(("MAX_TOKENS", 2), "length"),
    **dict.fromkeys(("SAFETY", "MODEL_ARMOR"), "content_filter"),
}
TARGET = Target(ProviderSpec(id="google", name="Google"), Model("gemini"))


def pieces(item: Item) -> list[dict[str, Any]]:
    """The JSON values of an answer, read without the format's help."""
    text = answer(item).decode()
    if item not in FRAMED:
        found = msgspec.json.decode(text)
        return found if isinstance(found, list) else [found]
    lines = re.split(r"\r?\n", text)
    return [msgspec.json.decode(line[6:]) for line in lines if line.startswith("data: ")]


def candidate_of(item: Item) -> list[dict[str, Any]]:
    """Every piece of the first candidate."""
    return [
        each
        for piece in pieces(item)
        for each in piece.get("candidates", [])
        if each.get("index", 0) == 0
    ]


def parts_of(item: Item) -> list[dict[str, Any]]:
    return [
        part for each in candidate_of(item) for part in each.get("content", {}).get("parts", [])
    ]


def calls_of(parts: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Function calls, complete or streamed by paths as the recordings hold them."""
    calls: list[tuple[str, Any]] = []
    for part in parts:
        call = part.get("functionCall")
        if call is None:
            continue
        if "name" in call:
            calls.append((call["name"], call.get("args", {})))
        for piece in call.get("partialArgs", []):
            place: Any = calls[-1][1]
            *path, last = re.findall(r"[^.$\[\]]+", piece["jsonPath"])
            for step, after in zip(path, [*path[1:], last], strict=False):
                fresh: Any = [] if after.isdigit() else {}
                if isinstance(place, list):
                    place += [None] * (int(step) + 1 - len(place))
                    place[int(step)] = place[int(step)] or fresh
                    place = place[int(step)]
                else:
                    place = place.setdefault(step, fresh)
            value = piece.get("stringValue", piece.get("numberValue", piece.get("boolValue")))
            if isinstance(place, list):
                place += [None] * (int(last) + 1 - len(place))
                held, spot = place[int(last)], int(last)
                place[spot] = (held or "") + value if isinstance(value, str) else value
            else:
                held = place.get(last)
                place[last] = (held or "") + value if isinstance(value, str) else value
    return calls


def usage_of(item: Item) -> tuple[int, int, int, int]:
    written = [each.get("usageMetadata", {}) for each in pieces(item)]
    reported = [each for each in written if each.get("promptTokenCount")]
    last = reported[-1] if reported else {}
    thoughts = last.get("thoughtsTokenCount", 0)
    return (
        last.get("promptTokenCount", 0) + last.get("toolUsePromptTokenCount", 0),
        last.get("candidatesTokenCount", 0) + thoughts,
        last.get("cachedContentTokenCount", 0),
        thoughts,
    )


def read(item: Item, vendor: VendorSide) -> Reply:
    if not item["stream"]:
        return vendor.read_reply(answer(item))
    return gather(events_of([answer(item)], vendor))


def events_of(chunks: list[bytes], vendor: VendorSide) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + list(reader.close())


@pytest.mark.parametrize("item", ANSWERED, ids=named)
def test_an_answer_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    reply = read(item, vendor)
    choice = reply.choices[0]
    parts = parts_of(item)

    shown = [part for part in parts if not part.get("thought")]
    written = [part for part in choice.parts if isinstance(part, Text)]
    assert "".join(part.text for part in written) == "".join(p.get("text", "") for p in shown)
    thoughts = [part.text for part in choice.parts if isinstance(part, Reasoning)]
    thinking = [part["text"] for part in parts if part.get("thought") and "text" in part]
    assert "".join(thoughts) == "".join(thinking)
    calls = [part for part in choice.parts if isinstance(part, ToolCall)]
    assert [(p.name, msgspec.json.decode(p.arguments)) for p in calls] == calls_of(parts)
    assert len({part.id for part in calls}) == len(calls)
    assert [part.signature for part in choice.parts if part.signature] == [
        part["thoughtSignature"] for part in parts if part.get("thoughtSignature")
    ]
    media = [part.data for part in choice.parts if isinstance(part, Media)]
    assert media == [part["inlineData"]["data"] for part in parts if "inlineData" in part]
    plain = {"text", "thought", "thoughtSignature", "functionCall", "inlineData"}
    foreign = [part.type for part in choice.parts if isinstance(part, Foreign)]
    assert foreign == [name for part in parts for name in part if name not in plain]


@pytest.mark.parametrize("item", ANSWERED, ids=named)
def test_an_answer_ends_and_counts_as_the_vendor_said(item: Item, vendor: VendorSide) -> None:
    reply = read(item, vendor)
    choice = reply.choices[0]

    written = [each["finishReason"] for each in candidate_of(item) if each.get("finishReason")]
    called = any(isinstance(part, ToolCall) for part in choice.parts)
    if not written:
        assert choice.finish == "content_filter"  # the prompt was refused
    elif called:
        assert choice.finish == "tool_calls"
    else:
        assert choice.finish == FINISHES[written[-1]]
    usage = reply.usage
    expected = usage_of(item)
    if usage is None:
        assert expected == (0, 0, 0, 0)
    else:
        counted = (usage.input_tokens, usage.output_tokens)
        assert (*counted, usage.cached_tokens, usage.reasoning_tokens) == expected
    [model] = {each.get("modelVersion", "") for each in pieces(item)}
    assert reply.model == model
    assert reply.id


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_the_same_however_it_is_cut(item: Item, vendor: VendorSide) -> None:
    body = answer(item)
    expected = events_of([body], vendor)
    dice = random.Random(named(item))

    for _ in range(4):
        cuts = sorted(dice.randrange(len(body)) for _ in range(dice.randint(1, 12)))
        chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
        assert events_of(chunks, vendor) == expected


SHORT = sorted(STREAMS, key=lambda item: len(answer(item)))[:12]


@pytest.mark.parametrize("item", [*SHORT, LISTS[0], LISTS[1]], ids=named)
def test_a_stream_says_the_same_byte_by_byte(item: Item, vendor: VendorSide) -> None:
    body = answer(item)

    bytewise = events_of([body[place : place + 1] for place in range(len(body))], vendor)

    assert bytewise == events_of([body], vendor)


@pytest.mark.parametrize("item", LISTS, ids=named)
def test_a_list_read_whole_is_the_stream_it_was(item: Item, vendor: VendorSide) -> None:
    streamed = gather(events_of([answer(item)], vendor))

    assert vendor.read_reply(answer(item)) == replace(streamed, dialect="gemini")


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_is_the_stream_of_one_frame(item: Item, vendor: VendorSide) -> None:
    frame = b"data: " + msgspec.json.format(answer(item), indent=-1) + b"\r\n\r\n"

    streamed = gather(events_of([frame], vendor))

    assert replace(streamed, dialect="gemini") == vendor.read_reply(
        msgspec.json.format(answer(item), indent=-1)
    )


@pytest.mark.parametrize("item", FRAMED, ids=named)
def test_a_stream_passes_byte_for_byte(item: Item, gemini: WireFormat, vendor: VendorSide) -> None:
    body = answer(item)
    dice = random.Random(named(item))
    relay = vendor.relay(call(stream=True), TARGET, {})

    cuts = sorted(dice.randrange(len(body)) for _ in range(9))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    passed = b"".join([*map(relay.feed, chunks), relay.close()])

    assert passed == body
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, passed) is None
    reply = gather(events_of([body], vendor))
    assert (relay.usage, relay.failure, relay.started) == (reply.usage, None, True)


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_passes_as_it_came(item: Item, vendor: VendorSide) -> None:
    relay = vendor.relay(call(stream=False), TARGET, {})
    body = answer(item)

    held = relay.feed(body[:100]) + relay.feed(body[100:])

    assert held == b""
    assert relay.close() == body
    assert relay.usage == vendor.read_reply(body).usage


def call(stream: bool) -> Call:
    return Call(kind=Kind.LLM, format="gemini", model="m", stream=stream, body=b"{}")


def is_accepted(piece: Any) -> bool:
    try:
        types.GenerateContentResponse.model_validate(piece)
    except (ValidationError, AttributeError):
        return False
    return True


SPELLED = [item for item in ANSWERED if all(map(is_accepted, pieces(item)))]
"""Without the recordings that give enum values as numbers, as one old client asked for."""


@pytest.mark.parametrize("item", SPELLED, ids=named)
def test_the_vendor_s_library_takes_what_is_written(
    item: Item, gemini: WireFormat, vendor: VendorSide, client: ClientSide
) -> None:
    reply = read(item, vendor)
    losses = Losses()

    whole = client.write_reply(reply, ASKED, losses)
    writer = client.stream_writer(ASKED, losses)
    stream = b"".join(writer.feed([event]) for event in unfold(reply)) + writer.close()

    parsed = types.GenerateContentResponse.model_validate(msgspec.json.decode(whole))
    frames = [frame for frame in stream.split(b"\r\n\r\n") if frame]
    for frame in frames:
        types.GenerateContentResponse.model_validate(
            msgspec.json.decode(frame.removeprefix(b"data: "))
        )
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, stream) is None
    original = [types.GenerateContentResponse.model_validate(piece) for piece in pieces(item)]
    assert text_of([parsed]) == text_of(original)
    assert not losses


def text_of(answers: list[types.GenerateContentResponse]) -> str:
    return "".join(
        part.text or ""
        for each in answers
        for candidate in (each.candidates or [])[:1]
        for part in (candidate.content.parts if candidate.content else None) or []
        if not part.thought
    )


@pytest.mark.parametrize("item", ANSWERED, ids=named)
def test_what_was_written_reads_the_same_again(
    item: Item, vendor: VendorSide, client: ClientSide
) -> None:
    reply = read(item, vendor)
    writer = client.stream_writer(ASKED, Losses())

    whole = vendor.read_reply(client.write_reply(reply, ASKED, Losses()))
    stream = writer.feed(unfold(reply)) + writer.close()
    streamed = gather(events_of([stream], vendor))

    assert bare(whole) == bare(reply)
    assert bare(streamed) == bare(reply)


def bare(reply: Reply) -> Any:
    """A reply without what its writing changes on purpose: seals, empty texts and raw records."""
    shown = []
    for choice in reply.choices:
        for part in choice.parts:
            extra = {"signature": None, "citations": ()} if isinstance(part, Text) else {}
            part = replace(part, **(extra or {"signature": None}))
            joins = shown and isinstance(part, Text) and isinstance(shown[-1], Text)
            if joins:
                shown[-1] = replace(shown[-1], text=shown[-1].text + part.text)
            elif part != Text(text=""):
                shown.append(part)
    ends = [(choice.finish, choice.logprobs is None) for choice in reply.choices]
    return shown, ends, reply.usage, reply.id, reply.model or ASKED.model


@pytest.mark.parametrize("item", FAILED, ids=named)
def test_an_error_says_what_the_vendor_said(item: Item, vendor: VendorSide) -> None:
    reported = msgspec.json.decode(answer(item))["error"]

    error = vendor.read_error(item["response_status"], {}, answer(item))

    assert error.kind == reported["status"]
    assert reported["message"].startswith(error.message)
    assert error.status == (401 if error.code == "API_KEY_INVALID" else reported["code"])
    waits = [each.get("retryDelay") for each in reported.get("details", [])]
    delay = next(filter(None, waits), None)
    assert error.retry_after == (None if delay is None else float(delay.rstrip("s")))
