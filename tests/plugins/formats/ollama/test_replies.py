"""Answers: what the server may send, and what a client gets of any vendor's."""

from typing import Any

import msgspec
import pytest
from gateway_format_ollama import OLLAMA
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
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
    unseal_id,
)
from gateway_formats.fold import gather, unfold

ASKED = Conversation(model="box/gemma3")
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


def written(client: ClientSide, *parts: Any, **members: Any) -> tuple[dict[str, Any], list[str]]:
    """A whole answer of these parts: what it says, and what it does not."""
    losses = Losses()
    reply = Reply(id="r", model="m", created=0, choices=(Choice(parts=parts, **members),))
    body = msgspec.json.decode(client.write_reply(reply, ASKED, losses))
    assert streamed(client, reply) == (body, list(losses.names))
    return body, list(losses.names)


def streamed(client: ClientSide, reply: Reply) -> tuple[dict[str, Any], list[str]]:
    """The same answer as a stream, put together line by line."""
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)
    stream = writer.feed(unfold(reply)) + writer.close()
    rows = [msgspec.json.decode(line) for line in stream.splitlines()]
    body: dict[str, Any] = {**rows[-1], "message": {"role": "assistant", "content": ""}}
    for row in rows:
        for name, value in row["message"].items():
            if name != "role":
                held = body["message"].get(name)
                body["message"][name] = value if held is None else held + value
        if "logprobs" in row:
            body["logprobs"] = body.get("logprobs", []) + row["logprobs"]
    return body, list(losses.names)


def test_an_answer_of_any_vendor_is_written_whole(client: ClientSide) -> None:
    call = ToolCall(id="c1", name="f", arguments='{"a":1}')
    body, losses = written(client, Reasoning(text="Hm"), Text(text="Hi"), call, finish="tool_calls")

    assert body == {
        "model": "m",
        "created_at": "1970-01-01T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "Hi",
            "thinking": "Hm",
            "tool_calls": [
                {"id": "c1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
            ],
        },
        "done_reason": "stop",
        "done": True,
    }
    assert losses == []


def test_a_model_that_the_vendor_does_not_name_is_the_one_asked_for(client: ClientSide) -> None:
    body = client.write_reply(Reply(id="r", model="", choices=()), ASKED, Losses())

    assert msgspec.json.decode(body)["model"] == "box/gemma3"


@pytest.mark.parametrize("created", [None, 10**18, -(10**18)])
def test_a_time_that_is_none_is_the_beginning_of_time(client: ClientSide, created: Any) -> None:
    reply = Reply(id="r", model="m", created=created, choices=())

    body = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert body["created_at"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        (Text(text="a", citations=(Citation(url="u"),)), ["citations"]),
        (Refusal(text="No"), ["refusal"]),
        (Foreign(dialect="d", type="t", raw=Raw(b"{}")), ["part:t"]),
        (Media(kind="audio", data="AAAA"), ["audio"]),
        (Media(kind="image", url="https://a"), ["image"]),
        (Media(kind="image", data="AAAA"), []),
        (Reasoning(text="a", signature="s", origin="p"), ["reasoning_signature"]),
        (Reasoning(text="a"), []),
    ],
)
def test_what_a_client_does_not_get_is_recorded(
    client: ClientSide, part: Any, lost: list[str]
) -> None:
    assert written(client, part)[1] == lost


def test_only_the_first_of_several_answers_is_given(client: ClientSide) -> None:
    choices = (Choice(parts=(Text(text="a"),)), Choice(parts=(Text(text="b"),)))
    reply = Reply(id="r", model="m", choices=choices)
    losses = Losses()

    body = msgspec.json.decode(client.write_reply(reply, ASKED, losses))

    assert body["message"]["content"] == "a"
    assert list(losses.names) == ["candidates"]
    body, lost = streamed(client, reply)
    assert body["message"]["content"] == "a"
    assert lost == ["candidates"]


def test_the_met_stop_sequence_has_no_place(client: ClientSide) -> None:
    assert written(client, Text(text="a"), stop_sequence="END")[1] == ["stop_sequence"]


def test_log_probabilities_are_written_in_rows(client: ClientSide) -> None:
    body, _ = written(client, Text(text="a"), logprobs=HUB_LOGPROBS)

    assert body["logprobs"] == [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]


def test_signed_thinking_travels_in_the_id_of_the_call_after_it(client: ClientSide) -> None:
    first = Reasoning(text="Hm", signature="s1", origin="maker")
    second = Reasoning(sealed="x", origin="maker")
    plain = Reasoning(text="So")
    call = ToolCall(id="c1", name="f", signature="own", origin="maker")
    parts = (first, call, second, ToolCall(id="c2", name="f"), plain, ToolCall(id="c3", name="f"))

    body, losses = written(client, *parts)

    ids = [unseal_id(row["id"]) for row in body["message"]["tool_calls"]]
    assert ids == [
        ("c1", "maker", "own", (first,)),
        ("c2", "maker", None, (second,)),
        ("c3", "", None, ()),
    ]
    assert body["message"]["thinking"] == "HmSo"
    assert losses == []


def test_a_signature_that_comes_late_is_still_carried(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)

    stream = writer.feed(
        [
            ReplyStarted("r", "m"),
            PartStarted(0, Reasoning()),
            PartGrew(0, "Hm"),
            PartSealed(0, "s1", origin="maker"),
            PartEnded(0),
            PartStarted(1, ToolCall(id="c1", name="f")),
            PartGrew(1, '{"a":'),
            PartGrew(1, "1}"),
            PartSealed(1, "s2", origin="maker"),
            PartEnded(1),
        ]
    )

    row = msgspec.json.decode(stream.splitlines()[-1])["message"]["tool_calls"][0]
    thought = Reasoning(text="Hm", signature="s1", origin="maker")
    assert unseal_id(row["id"]) == ("c1", "maker", "s2", (thought,))
    assert row["function"]["arguments"] == {"a": 1}
    assert not losses


def test_a_call_that_its_reader_left_open_is_still_given(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())
    writer.feed([ReplyStarted("r", "m"), PartStarted(0, ToolCall(id="c1", name="f"))])

    rows = [msgspec.json.decode(line) for line in writer.close().splitlines()]

    assert rows[0]["message"]["tool_calls"][0]["id"] == "c1"
    assert rows[1]["done"]


def test_citations_in_a_stream_are_recorded(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)

    writer.feed([PartStarted(0, Text(text="")), CitationAdded(0, Citation(url="u"))])

    assert list(losses.names) == ["citations"]


def test_characters_that_split_lines_by_mistake_are_escaped(client: ClientSide) -> None:
    text = "a\u2028b\u2029c\x85d\ne"
    reply = Reply(id="r", model="m", choices=(Choice(parts=(Text(text=text),)),))
    writer = client.stream_writer(ASKED, Losses())

    stream = (writer.feed(unfold(reply)) + writer.close()).decode()

    assert len(stream.splitlines()) == 2
    assert msgspec.json.decode(stream.splitlines()[0])["message"]["content"] == text


def test_the_stream_is_lines_of_json() -> None:
    assert OLLAMA.stream_type == "application/x-ndjson"
    assert OLLAMA.keep_alive is None
