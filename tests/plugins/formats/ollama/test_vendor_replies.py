"""Answers that the server may send, whole and streamed."""

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    ReplyFailed,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather

HEAD = b'{"model":"m","created_at":"2025-01-01T00:00:00.5Z",'
HUB_LOGPROBS = Raw(b'{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}]}')


def whole(message: bytes, rest: bytes = b'"done":true') -> bytes:
    return HEAD + b'"message":{"role":"assistant",' + message + b"}," + rest + b"}"


def read(vendor: VendorSide, *lines: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [*reader.feed(b"\n".join(lines)), *reader.close()]


def test_an_answer_without_ids_gets_ids_that_are_its_own(vendor: VendorSide) -> None:
    call = b'{"function":{"name":"f","arguments":{"a": 1}}}'
    body = whole(b'"content":"","tool_calls":[%b,%b]' % (call, call))

    first, again = vendor.read_reply(body), vendor.read_reply(body)
    other = vendor.read_reply(body.replace(b"00.5Z", b"00.6Z"))

    ids = [part.id for part in first.choices[0].parts if isinstance(part, ToolCall)]
    others = [part.id for part in other.choices[0].parts if isinstance(part, ToolCall)]
    assert first == again
    assert first.id != other.id
    assert len({*ids, *others}) == 4
    assert first.created == 1735689600


def test_calls_that_share_an_id_get_ids_of_their_own(vendor: VendorSide) -> None:
    call = b'{"id":"c","function":{"name":"f","arguments":{"a": 1}}}'
    written = HEAD + b'"message":{"role":"assistant","tool_calls":[%b]},"done":false}' % call

    reply = gather(read(vendor, written, written, whole(b'"content":""')))

    ids = [part.id for part in reply.choices[0].parts if isinstance(part, ToolCall)]
    assert ids[0] == "c"
    assert len({*ids}) == 2


def test_an_answer_without_a_time_gets_ids_too(vendor: VendorSide) -> None:
    reply = vendor.read_reply(b'{"message":{"content":"a"},"done":true}')

    assert reply.id.startswith("ollama-")
    assert (reply.model, reply.created) == ("", None)


def test_arguments_stay_as_the_vendor_spelled_them(vendor: VendorSide) -> None:
    calls = b'[{"id":"c1","function":{"index":1,"name":"f","arguments":{"a" : 1.0}}}]'

    (part,) = vendor.read_reply(whole(b'"tool_calls":' + calls)).choices[0].parts

    assert part == ToolCall(id="c1", name="f", arguments='{"a" : 1.0}')


def test_thinking_words_and_pictures_become_parts(vendor: VendorSide) -> None:
    message = b'"content":"Hi","thinking":"Hm","images":["/9j/A"]'

    (choice,) = vendor.read_reply(whole(message)).choices

    picture = Media(kind="image", media_type="image/jpeg", data="/9j/A")
    assert choice.parts == (Reasoning(text="Hm"), Text(text="Hi"), picture)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        (b'"stop"', "stop"),
        (b'"length"', "length"),
        (b'"load"', "stop"),
        (b'"unload"', "stop"),
        (b'"content_filter"', "content_filter"),
        (b'"news"', "stop"),
        (b"null", "stop"),
    ],
)
def test_why_an_answer_ended(vendor: VendorSide, reason: bytes, finish: str) -> None:
    body = whole(b'"content":"a"', b'"done":true,"done_reason":' + reason)

    assert vendor.read_reply(body).choices[0].finish == finish


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (b'"prompt_eval_count":3,"eval_count":4', Usage(input_tokens=3, output_tokens=4)),
        (b'"eval_count":4', Usage(output_tokens=4)),
        (b'"prompt_eval_count":-1,"eval_count":4', Usage(output_tokens=4)),
        (b'"prompt_eval_count":1.5,"eval_count":10000000000', None),
        (b'"prompt_eval_count":true,"eval_count":"many"', None),
        (b'"total_duration":5', None),
    ],
)
def test_only_counts_that_make_sense_are_counted(
    vendor: VendorSide, counts: bytes, usage: Usage | None
) -> None:
    body = whole(b'"content":"a"', b'"done":true,' + counts)

    assert vendor.read_reply(body).usage == usage
    assert gather(read(vendor, body)).usage == usage


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":"out of memory"}', "out of memory"),
        (b'{"error":{"message":"out of memory"}}', "out of memory"),
        (b'{"error":7}', "The upstream failed"),
        (b'{"error":""}', "The upstream failed"),
        (b'{"status":"ok"}', "could not be read"),
        (b'{"message":"hello"}', "could not be read"),
    ],
)
def test_an_error_or_rubbish_in_a_good_answer_is_an_error(
    vendor: VendorSide, body: bytes, message: str
) -> None:
    with pytest.raises(UpstreamError, match=message):
        vendor.read_reply(body)

    failed = read(vendor, body)
    assert isinstance(failed[-1], ReplyFailed)
    assert len(failed) == 1


def test_an_error_keeps_the_status_that_it_names(vendor: VendorSide) -> None:
    (failed,) = read(vendor, b'{"error":"busy","status_code":503}')

    assert failed == ReplyFailed("busy", status=503)


def test_events_come_in_the_promised_order(vendor: VendorSide) -> None:
    events = read(
        vendor,
        whole(b'"content":"","thinking":"H"', b'"done":false'),
        whole(b'"content":"","thinking":"m"', b'"done":false'),
        whole(b'"content":"So"', b'"done":false'),
        whole(b'"content":"","tool_calls":[{"id":"c","function":{"name":"f"}}]', b'"done":false'),
        whole(b'"content":"on"', b'"done":false'),
        whole(b'"content":""', b'"done":true,"done_reason":"stop","eval_count":9'),
        b"this is not looked at",
    )

    assert events[1:] == [
        PartStarted(0, Reasoning()),
        PartGrew(0, "H"),
        PartGrew(0, "m"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "So"),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c", name="f")),
        PartGrew(2, "{}"),
        PartEnded(2),
        PartStarted(3, Text(text="")),
        PartGrew(3, "on"),
        PartEnded(3),
        UsageReported(Usage(output_tokens=9)),
        ChoiceEnded("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "ended the stream before"),
        ((whole(b'"content":"a"', b'"done":false'),), "ended the stream before"),
        ((whole(b'"content":"a"', b'"done":false'), b"{}"), "could not be read"),
        ((whole(b'"content":"a"', b'"done":false'), b"<html>"), "could not be read"),
        ((whole(b'"content":7', b'"done":false'),), "could not be read"),
        ((whole(b'"content":"a"', b'"done":false'), b'{"error":"fell over"}'), "fell over"),
    ],
)
def test_a_stream_that_goes_wrong_fails_at_its_end(
    vendor: VendorSide, lines: tuple[bytes, ...], message: str
) -> None:
    failed = read(vendor, *lines)[-1]

    assert isinstance(failed, ReplyFailed)
    assert message in failed.message


def test_a_line_without_an_end_is_not_held_for_ever(vendor: VendorSide) -> None:
    reader = vendor.stream_reader()

    (failed,) = reader.feed(b"x" * (17 * 1024 * 1024))

    assert isinstance(failed, ReplyFailed)
    assert reader.feed(b"\n") == reader.close() == ()


def test_log_probabilities_wait_for_their_text(vendor: VendorSide) -> None:
    token = b'"logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]}]'
    events = read(
        vendor,
        whole(b'"content":""', b'"done":false,' + token),
        whole(b'"content":"aa"', b'"done":false,' + token),
        whole(b'"content":""', b'"done":true,' + token),
    )

    grown = [event for event in events if isinstance(event, PartGrew)]
    rows = [len(msgspec.json.decode(event.logprobs)["content"]) for event in grown]
    assert [(event.text, count) for event, count in zip(grown, rows, strict=True)] == [
        ("aa", 2),
        ("", 1),
    ]
    assert grown[1].logprobs == HUB_LOGPROBS
