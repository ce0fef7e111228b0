"""Laws of requests: what is written can be read back, and losses are named."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Answered, BadRequest, Conversation, Reasoning, Text, Turn

from . import normal_form, sample_values
from .case import Law, check_each, expect, expect_equal, has_both, has_client, has_vendor, law
from .harness import PROVIDER, FormatHarness, members_of
from .strategies import conversations, rubbish, strange_conversations

_ODD: tuple[Any, ...] = (None, True, 7, -1, 0.5, "", "odd", [], {}, [None], [[]], [{}], {"a": None})


@law(
    "requests/written-and-read",
    "reading a request that was written gives another conversation",
    "make read_request and write_request take the same members for the same meaning",
    has_both,
)
def written_and_read(harness: FormatHarness) -> None:
    def check(conversation: Conversation) -> None:
        conversation = harness.for_target(conversation)
        body, losses = harness.write_request(conversation)
        expect(not losses, f"losses {list(losses.names)}")
        expect_equal(
            normal_form.normalize_conversation(harness.read_request(body)),
            normal_form.normalize_conversation(conversation),
        )

    check_each(harness, conversations(), check)


@law(
    "requests/any-conversation",
    "a conversation of another dialect makes no proper request",
    "write what can be said, name the rest in losses, and raise nothing but BadRequest",
    has_vendor,
)
def any_conversation(harness: FormatHarness) -> None:
    def check(conversation: Conversation) -> None:
        try:
            body, _ = harness.write_request(replace(conversation, model=harness.target.model.id))
        except BadRequest:
            return
        expect(isinstance(msgspec.json.decode(body), dict), body)

    check_each(harness, strange_conversations, check)


@law(
    "requests/orphaned-results",
    "a tool result whose call is missing stops the request or is lost in silence",
    "write its words somewhere, or name it in losses",
    has_vendor,
)
def orphaned_results(harness: FormatHarness) -> None:
    orphan = sample_values.tool_result(sample_values.FIRST, sample_values.WORD)
    body, losses = harness.write_request(
        harness.for_target(sample_values.with_turns(sample_values.user_turn(orphan)))
    )

    expect(sample_values.WORD.encode() in body or bool(losses), body)


@law(
    "requests/failed-results",
    "a tool result that failed looks like one that did not",
    "write that it failed, if need be in words, or name it in losses",
    has_vendor,
)
def failed_results(harness: FormatHarness) -> None:
    def written(failed: bool) -> tuple[bytes, bool]:
        results = sample_values.user_turn(
            sample_values.tool_result(sample_values.FIRST, sample_values.WORD, failed=failed)
        )
        conversation = sample_values.with_turns(Turn("assistant", (sample_values.FIRST,)), results)
        body, losses = harness.write_request(harness.for_target(conversation))
        return body, bool(losses)

    body, is_said = written(True)
    expect(is_said or (body != written(False)[0] and sample_values.WORD.encode() in body), body)


@law(
    "requests/empty-texts",
    "an empty text is written as null",
    "write it as an empty string, or leave the part out",
    has_vendor,
)
def empty_texts(harness: FormatHarness) -> None:
    def nulls(text: str) -> int:
        results = sample_values.user_turn(sample_values.tool_result(sample_values.FIRST, text))
        conversation = sample_values.with_turns(Turn("assistant", (sample_values.FIRST,)), results)
        return harness.write_request(harness.for_target(conversation))[0].count(b"null")

    expect_equal(nulls(""), nulls("x"), "nulls:")


@law(
    "requests/signatures",
    "a signature that this vendor can read does not reach it",
    "write it where readable_by(origin, provider, dialect) is true, or name it in losses",
    has_vendor,
)
def signatures(harness: FormatHarness) -> None:
    signed = Reasoning(text="pondering", signature=sample_values.SIGNATURE, origin=PROVIDER)
    results = sample_values.user_turn(sample_values.tool_result(sample_values.FIRST, "one"))
    conversation = sample_values.with_turns(
        Turn("assistant", (signed, sample_values.FIRST)), results
    )
    body, losses = harness.write_request(harness.for_target(conversation))

    expect(sample_values.SIGNATURE.encode() in body or bool(losses), body)


@law(
    "requests/strangers-signatures",
    "a signature of another vendor is sent",
    "send one only where readable_by(origin, provider, dialect) is true",
    has_vendor,
)
def strangers_signatures(harness: FormatHarness) -> None:
    signed = Reasoning(text="pondering", signature=sample_values.SIGNATURE, origin="stranger")
    results = sample_values.user_turn(sample_values.tool_result(sample_values.FIRST, "one"))
    conversation = sample_values.with_turns(
        Turn("assistant", (signed, sample_values.FIRST)), results
    )
    body, _ = harness.write_request(harness.for_target(conversation))

    expect(sample_values.SIGNATURE.encode() not in body, body)


@law(
    "requests/unknown-members",
    "a member without a neutral name is lost between two ends of one dialect",
    "keep it in extra when reading and put it back when writing, or name it in losses",
    has_both,
)
def unknown_members(harness: FormatHarness) -> None:
    for request in harness.requests:
        unknown = {"kit_unknown": Raw(b'{"a":[1.50]}'), **members_of(request)}
        conversation = harness.read_request(msgspec.json.encode(unknown))
        body, losses = harness.write_request(conversation)
        kept = bytes(members_of(body).get("kit_unknown", b""))
        expect(kept == b'{"a":[1.50]}' or "kit_unknown" in losses.names, body)


@law(
    "requests/strangers-members",
    "a member of another dialect is sent, or is lost in silence",
    "compare the conversation's dialect with your own, and give other extras to losses.add_extra",
    has_vendor,
)
def strangers_members(harness: FormatHarness) -> None:
    extra = {"kit_unknown": Raw(b'"stranger4711"')}
    conversation = replace(harness.for_target(sample_values.PLAIN), dialect="stranger", extra=extra)
    body, losses = harness.write_request(conversation)

    expect(b"stranger4711" not in body and "kit_unknown" in losses.names, body, list(losses.names))


@law(
    "requests/rubbish",
    "a body that makes no sense raises something else than BadRequest",
    "catch what your decoder raises and raise BadRequest, which names the member",
    has_client,
)
def bodies_of_rubbish(harness: FormatHarness) -> None:
    check_each(harness, rubbish, lambda body: _refused_or_read(harness, body))


@law(
    "requests/odd-members",
    "a member with an odd value raises something else than BadRequest",
    "check each member's type as you read it and raise BadRequest, which names it",
    has_client,
)
def odd_members(harness: FormatHarness) -> None:
    for request in harness.requests:
        for odd in _odd(msgspec.json.decode(request)):
            _refused_or_read(harness, msgspec.json.encode(odd))


@law(
    "requests/recorded",
    "a recorded request cannot be read, or reads differently once it was written",
    "read every member that clients send; what has no neutral name belongs in extra",
    has_client,
)
def recorded(harness: FormatHarness) -> None:
    for request in harness.samples.requests:
        conversation = harness.read_request(request)
        if harness.wire.vendor is None:
            continue
        body, losses = harness.write_request(conversation)
        if not losses:
            expected = normal_form.normalize_conversation(conversation)["turns"]
            actual = normal_form.normalize_conversation(harness.read_request(body))["turns"]
            # A vendor may insist on a turn of the user's at the end.
            expect_equal(actual[: len(expected)], expected)


def _refused_or_read(harness: FormatHarness, body: bytes) -> None:
    try:
        harness.read_request(body)
    except Answered as answered:
        expect(bool(answered.write(0)), "an answer without a body", body)
    except BadRequest as refusal:
        expect(bool(refusal.message), "a refusal without words", body)


def _odd(value: Any) -> Iterator[Any]:
    """The value with one thing in it, at any depth, made odd."""
    yield from _ODD
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: odd} for odd in _odd(inner))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], odd, *value[place + 1 :]] for odd in _odd(inner))


def feature_law(name: str, conversation: Conversation) -> Law:
    """A law of one feature: it is there when read back, or losses name it."""

    @law(
        f"requests/keeps: {name}",
        f"what a request says is lost in silence: {name}",
        "write it as your vendor wants it, or name it in losses",
        has_both,
    )
    def kept(harness: FormatHarness) -> None:
        body, losses = harness.write_request(harness.for_target(conversation))
        actual = normal_form.normalize_conversation(harness.read_request(body))
        expected = normal_form.normalize_conversation(conversation)
        expect(bool(losses) or actual == expected, f"got {actual}", f"wanted {expected}")

    return kept


def order_law(name: str, conversation: Conversation) -> Law:
    """The same for a vendor whose requests cannot be read back: the texts are sent in order."""

    @law(
        f"requests/carries: {name}",
        f"words of a request are lost or change places: {name}",
        "write each text, call and result where it stands, or name it in losses",
        has_vendor,
    )
    def sent(harness: FormatHarness) -> None:
        body, losses = harness.write_request(harness.for_target(conversation))
        plain = msgspec.json.encode(msgspec.json.decode(body)).decode()
        places = [plain.find(word) for word in _words(conversation)]
        expect(bool(losses) or (-1 not in places and places == sorted(places)), plain)

    return sent


def _words(conversation: Conversation) -> list[str]:
    """The words of the turns that are easy to find, in their order."""
    parts = (part for turn in conversation.turns for part in turn.parts)
    return [part.text for part in parts if isinstance(part, Text) and part.text.endswith("4711")]


LAWS: tuple[Law, ...] = (
    written_and_read,
    any_conversation,
    orphaned_results,
    failed_results,
    empty_texts,
    signatures,
    strangers_signatures,
    unknown_members,
    strangers_members,
    bodies_of_rubbish,
    odd_members,
    recorded,
    *(feature_law(name, conversation) for name, conversation in sample_values.REQUESTS.items()),
    *(
        order_law(name, conversation)
        for name, conversation in sample_values.REQUESTS.items()
        if _words(conversation)
    ),
)
