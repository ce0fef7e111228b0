"""Answers that pass from a vendor of this format to its clients."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Call,
    Kind,
    Model,
    ProviderSpec,
    Relay,
    ReplyFailed,
    Target,
    Usage,
    VendorSide,
    WireFormat,
)
from gateway_formats.grammar import find_violation

TARGET = Target(ProviderSpec(id="google", name="Google"), Model("gemini-x"))


def relay(vendor: VendorSide, *, stream: bool = True, **members: Raw) -> Relay:
    call = Call(kind=Kind.LLM, format="gemini", model="m", stream=stream, body=b"{}")
    return vendor.relay(call, TARGET, dict(members))


def frame(value: Any) -> bytes:
    return b"data: %b\r\n\r\n" % msgspec.json.encode(value)


def piece(text: str, finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": [{"text": text}]}, "index": index}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more}


def test_a_model_in_the_body_is_the_target_s(vendor: VendorSide) -> None:
    members = {"model": Raw(b'"models/google/alias"'), "contents": Raw(b"[]")}
    call = Call(kind=Kind.LLM, format="gemini", model="m", stream=True, body=b"{}")

    vendor.relay(call, TARGET, members)

    assert members == {"model": Raw(b'"models/gemini-x"'), "contents": Raw(b"[]")}


def test_a_body_that_names_no_model_stays_as_it_is(vendor: VendorSide) -> None:
    members = {"contents": Raw(b"[]")}
    call = Call(kind=Kind.LLM, format="gemini", model="m", stream=False, body=b"{}")

    vendor.relay(call, TARGET, members)

    assert list(members) == ["contents"]


def test_a_relay_knows_when_the_answer_begins_what_it_used_and_how_long_it_is(
    vendor: VendorSide,
) -> None:
    passing = relay(vendor)

    passing.feed(frame({"usageMetadata": {"promptTokenCount": 5}}))
    passing.feed(frame(piece("")))
    before = passing.started
    passing.feed(frame(piece("Hello")))
    args = {"candidates": [{"content": {"parts": [{"functionCall": {"args": {"a": 1}}}]}}]}
    passing.feed(frame(args))
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2}
    passing.feed(frame(piece("", "STOP", usageMetadata=usage)))

    assert before is False
    assert passing.started is True
    assert passing.usage == Usage(input_tokens=5, output_tokens=2)
    assert passing.characters == len('Hello{"a":1}')
    assert passing.close() == b""
    assert passing.failure is None


def test_the_end_has_come_when_every_candidate_has_a_reason(
    vendor: VendorSide, gemini: WireFormat
) -> None:
    frames = [
        frame({"candidates": [*piece("a")["candidates"], *piece("x", index=1)["candidates"]]}),
        frame(piece("b", "STOP")),
        frame(piece("y", "STOP", index=1)),
    ]
    cut, done = relay(vendor), relay(vendor)

    broken = b"".join(map(cut.feed, frames[:2])) + cut.close()
    passed = b"".join(map(done.feed, frames)) + done.close()

    assert passed == b"".join(frames)
    assert cut.failure is not None
    assert broken.startswith(b"".join(frames[:2]))
    assert b'data: {"error":' in broken
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, passed) is None
    assert find_violation(gemini.grammar, broken) is None
    assert find_violation(gemini.grammar, b"".join(frames[:2])) is not None


def test_a_refused_prompt_ends_a_stream(vendor: VendorSide, gemini: WireFormat) -> None:
    body = frame({"promptFeedback": {"blockReason": "SAFETY"}})
    passing = relay(vendor)

    assert passing.feed(body) + passing.close() == body
    assert passing.started
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, body) is None


def test_a_vendor_s_error_is_told_and_ends_the_stream(vendor: VendorSide) -> None:
    passing = relay(vendor)
    error = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}

    passed = passing.feed(frame(piece("a")) + frame(error) + frame(piece("b", "STOP")))

    assert passing.failure == ReplyFailed("Overloaded", "UNAVAILABLE", "UNAVAILABLE", 503)
    last = passed.split(b"\r\n\r\n")[-2].rpartition(b"data: ")[2]
    reported = msgspec.json.decode(last)["error"]
    assert (reported["code"], reported["message"], reported["status"]) == (
        503,
        "Overloaded",
        "UNAVAILABLE",
    )
    assert passing.feed(frame(piece("c"))) + passing.close() == b""


def test_rubbish_ends_the_stream(vendor: VendorSide, gemini: WireFormat) -> None:
    passing = relay(vendor)

    passed = passing.feed(frame(piece("a"))) + passing.feed(b"data: {oops\r\n\r\n")

    assert passing.failure is not None
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, passed) is None


@pytest.mark.parametrize(
    "body",
    [
        b": ping\n\n" + frame(piece("a", "STOP")) + b"data: [DONE]\n\n",
        b"event: message\nid: 1\n" + frame(piece("a", "STOP")),
        b"data:" + frame(piece("a", "STOP"))[6:],
        b'data: {"candidates":\ndata: [{"finishReason": "STOP", "content":\n'
        b'data: {"parts":[{"text":"a"}]}}]}\n\n',
        frame(piece("a", "STOP"))[:-2],
    ],
    ids=["comments", "other fields", "no space", "several lines", "no blank line"],
)
def test_what_this_format_s_clients_stumble_over_is_taken_out(
    vendor: VendorSide, gemini: WireFormat, body: bytes
) -> None:
    passing = relay(vendor)

    passed = passing.feed(body) + passing.close()

    assert passing.failure is None
    assert gemini.grammar is not None
    assert gemini.grammar.words(passed) == ["end"]


def test_separators_within_strings_are_escaped_on_the_way(vendor: VendorSide) -> None:
    passing = relay(vendor)
    text = "a\u2028b\u2029c\x85d"
    body = frame(piece(text, "STOP"))

    passed = b"".join(passing.feed(body[place : place + 1]) for place in range(len(body)))

    assert len(passed.decode().splitlines()) == 2
    reported = msgspec.json.decode(passed[6:])
    assert reported["candidates"][0]["content"]["parts"] == [{"text": text}]


def test_a_failure_from_without_is_told_in_this_format(
    vendor: VendorSide, gemini: WireFormat
) -> None:
    passing = relay(vendor)

    passed = passing.feed(frame(piece("a"))) + passing.fail(ReplyFailed("Lost", status=504))

    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, passed) is None
    assert gemini.grammar.words(passed) == ["part", "error"]


def test_a_whole_answer_that_is_an_error_in_disguise_fails(vendor: VendorSide) -> None:
    for body in (b'{"error":{"code":429,"message":"Slow"}}', b"{}", b"[]", b"oops", b"<p>"):
        passing = relay(vendor, stream=False)
        passing.feed(body)

        assert passing.close() == b""
        assert passing.failure is not None
        assert passing.started is False


def test_a_whole_answer_is_measured(vendor: VendorSide) -> None:
    passing = relay(vendor, stream=False)
    body = msgspec.json.encode(piece("Hello", "STOP", usageMetadata={"promptTokenCount": 3}))

    assert passing.feed(body) == b""
    assert passing.close() == body
    assert (passing.started, passing.characters) == (True, 5)
    assert passing.usage == Usage(input_tokens=3)


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        frame(piece("a")),
        frame(piece("a", "STOP"))[:-1],
        frame(piece("a", "STOP"))[:40],
        b": ping\r\n\r\n" + frame(piece("a", "STOP")),
        frame({"error": {"code": 1, "message": "m"}}) + frame(piece("a", "STOP")),
        frame(piece("a", "STOP")) + b"data: [DONE]\r\n\r\n",
        b"data: {}\n\n".replace(
            b"{}",
            b'{"candidates":[{"content":{"parts":[{"text":"\xc2\x85"}]},"finishReason":"STOP"}]}',
        ),
        b"data: {oops}\r\n\r\n",
    ],
)
def test_a_broken_stream_is_not_grammatical(gemini: WireFormat, stream: bytes) -> None:
    assert gemini.grammar is not None
    assert find_violation(gemini.grammar, stream) is not None


def test_arguments_that_come_in_pieces_count_for_an_estimate(vendor: VendorSide) -> None:
    watching = relay(vendor)
    grown = [
        {"jsonPath": "$.city", "stringValue": "Par", "willContinue": True},
        {"jsonPath": "$.days", "numberValue": 12},
        {"jsonPath": "$.now", "boolValue": True},
    ]
    call = {"name": "weather", "partialArgs": grown, "willContinue": True}

    watching.feed(frame({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}))

    assert watching.characters == len("Par") + len("12") + len("true")


LISTED = b"""[{
  "candidates": [{"content": {"parts": [{"text": "a } \\n"}]}}]
}
,
{"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}],
 "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}}
]
"""


@pytest.mark.parametrize("start", [b"", b"\n", b"\xef\xbb\xbf"])
def test_a_stream_that_comes_as_a_list_is_framed_however_it_is_cut(
    vendor: VendorSide, start: bytes
) -> None:
    body = start + LISTED
    for size in (1, 2, 7, len(body)):
        watching = relay(vendor)
        pieces = [body[at : at + size] for at in range(0, len(body), size)]

        passed = b"".join(map(watching.feed, pieces)) + watching.close()

        written = [msgspec.json.decode(line[6:]) for line in passed.splitlines() if line]
        assert written == msgspec.json.decode(LISTED)
        assert (watching.failure, watching.ended) == (None, True)
        assert watching.usage == Usage(input_tokens=3, output_tokens=2)


def test_a_list_that_breaks_off_is_a_failure(vendor: VendorSide) -> None:
    watching = relay(vendor)

    passed = watching.feed(LISTED[:120]) + watching.close()

    assert watching.failure is not None
    assert passed.count(b"data: ") == 2


def test_an_error_in_place_of_a_stream_is_the_vendor_s_own(vendor: VendorSide) -> None:
    watching = relay(vendor)

    watching.feed(b'[{\n"error": {"code": 429, "message": "slow down", "status": "X"}}]')

    assert watching.failure is not None
    assert (watching.failure.status, watching.failure.message) == (429, "slow down")
