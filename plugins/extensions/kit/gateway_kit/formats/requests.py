"""Laws of requests: what is written can be read, and what is lost is said."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import BadRequest, Conversation, Reasoning, Text, Turn

from . import normal_form, sample_values
from .case import Law, each, expect, has_both, has_client, has_vendor, law, same
from .harness import PROVIDER, Bench, members_of
from .strategies import conversations, rubbish, strange_conversations

_ODD: tuple[Any, ...] = (None, True, 7, -1, 0.5, "", "odd", [], {}, [None], [[]], [{}], {"a": None})


@law(
    "requests/written-and-read",
    "reading a request that was written gives another conversation",
    "make read_request and write_request take the same members for the same meaning",
    has_both,
)
def written_and_read(bench: Bench) -> None:
    def check(conversation: Conversation) -> None:
        conversation = bench.own(conversation)
        body, losses = bench.write_request(conversation)
        expect(not losses, f"losses {list(losses.names)}")
        same(
            normal_form.of_conversation(bench.read_request(body)),
            normal_form.of_conversation(conversation),
        )

    each(bench, conversations(), check)


@law(
    "requests/any-conversation",
    "a conversation of another dialect makes no proper request",
    "write what can be said, name the rest in losses, and raise nothing but BadRequest",
    has_vendor,
)
def any_conversation(bench: Bench) -> None:
    def check(conversation: Conversation) -> None:
        try:
            body, _ = bench.write_request(replace(conversation, model=bench.target.model.id))
        except BadRequest:
            return
        expect(isinstance(msgspec.json.decode(body), dict), body)

    each(bench, strange_conversations, check)


@law(
    "requests/orphaned-results",
    "a tool result whose call is missing stops the request or is lost in silence",
    "write its words somewhere, or name it in losses",
    has_vendor,
)
def orphaned_results(bench: Bench) -> None:
    orphan = sample_values.result(sample_values.FIRST, sample_values.WORD)
    body, losses = bench.write_request(bench.own(sample_values.turned(sample_values.user(orphan))))

    expect(sample_values.WORD.encode() in body or bool(losses), body)


@law(
    "requests/failed-results",
    "a tool result that failed looks like one that did not",
    "write that it failed, if need be in words, or name it in losses",
    has_vendor,
)
def failed_results(bench: Bench) -> None:
    def written(failed: bool) -> tuple[bytes, bool]:
        results = sample_values.user(
            sample_values.result(sample_values.FIRST, sample_values.WORD, failed=failed)
        )
        wish = sample_values.turned(Turn("assistant", (sample_values.FIRST,)), results)
        body, losses = bench.write_request(bench.own(wish))
        return body, bool(losses)

    body, is_said = written(True)
    expect(is_said or (body != written(False)[0] and sample_values.WORD.encode() in body), body)


@law(
    "requests/empty-texts",
    "an empty text is written as null",
    "write it as an empty string, or leave the part out",
    has_vendor,
)
def empty_texts(bench: Bench) -> None:
    def nulls(said: str) -> int:
        results = sample_values.user(sample_values.result(sample_values.FIRST, said))
        wish = sample_values.turned(Turn("assistant", (sample_values.FIRST,)), results)
        return bench.write_request(bench.own(wish))[0].count(b"null")

    same(nulls(""), nulls("x"), "nulls:")


@law(
    "requests/signatures",
    "a signature that this vendor can read does not reach it",
    "write it where readable_by(origin, provider, dialect) is true, or name it in losses",
    has_vendor,
)
def signatures(bench: Bench) -> None:
    signed = Reasoning(text="pondering", signature=sample_values.SIGNATURE, origin=PROVIDER)
    results = sample_values.user(sample_values.result(sample_values.FIRST, "one"))
    wish = sample_values.turned(Turn("assistant", (signed, sample_values.FIRST)), results)
    body, losses = bench.write_request(bench.own(wish))

    expect(sample_values.SIGNATURE.encode() in body or bool(losses), body)


@law(
    "requests/strangers-signatures",
    "a signature of another vendor is sent",
    "send one only where readable_by(origin, provider, dialect) is true",
    has_vendor,
)
def strangers_signatures(bench: Bench) -> None:
    signed = Reasoning(text="pondering", signature=sample_values.SIGNATURE, origin="stranger")
    results = sample_values.user(sample_values.result(sample_values.FIRST, "one"))
    wish = sample_values.turned(Turn("assistant", (signed, sample_values.FIRST)), results)
    body, _ = bench.write_request(bench.own(wish))

    expect(sample_values.SIGNATURE.encode() not in body, body)


@law(
    "requests/unknown-members",
    "a member without a neutral name is lost between two ends of one dialect",
    "keep it in extra when reading and put it back when writing, or name it in losses",
    has_both,
)
def unknown_members(bench: Bench) -> None:
    for request in bench.requests:
        asked = bench.read_request(_with(request, b"kit_unknown", b'{"a":[1.50]}'))
        body, losses = bench.write_request(asked)
        kept = bytes(members_of(body).get("kit_unknown", b""))
        expect(kept == b'{"a":[1.50]}' or "kit_unknown" in losses.names, body)


@law(
    "requests/strangers-members",
    "a member of another dialect is sent, or is lost in silence",
    "compare the conversation's dialect with your own, and give other extras to losses.add_extra",
    has_vendor,
)
def strangers_members(bench: Bench) -> None:
    extra = {"kit_unknown": Raw(b'"stranger4711"')}
    wish = replace(bench.own(sample_values.PLAIN), dialect="stranger", extra=extra)
    body, losses = bench.write_request(wish)

    expect(b"stranger4711" not in body and "kit_unknown" in losses.names, body, list(losses.names))


@law(
    "requests/rubbish",
    "a body that makes no sense raises something else than BadRequest",
    "catch what your decoder raises and raise BadRequest, which names the member",
    has_client,
)
def bodies_of_rubbish(bench: Bench) -> None:
    each(bench, rubbish, lambda body: _refused_or_read(bench, body))


@law(
    "requests/odd-members",
    "a member with an odd value raises something else than BadRequest",
    "check each member's type as you read it and raise BadRequest, which names it",
    has_client,
)
def odd_members(bench: Bench) -> None:
    for request in bench.requests:
        for odd in _odd(msgspec.json.decode(request)):
            _refused_or_read(bench, msgspec.json.encode(odd))


@law(
    "requests/recorded",
    "a recorded request cannot be read, or reads differently once it was written",
    "read every member that clients send; what has no neutral name belongs in extra",
    has_client,
)
def recorded(bench: Bench) -> None:
    for request in bench.samples.requests:
        asked = bench.read_request(request)
        if bench.wire.vendor is None:
            continue
        body, losses = bench.write_request(asked)
        if not losses:
            wanted = normal_form.of_conversation(asked)["turns"]
            found = normal_form.of_conversation(bench.read_request(body))["turns"]
            # A vendor may insist on a turn of the user's at the end.
            same(found[: len(wanted)], wanted)


def _with(body: bytes, name: bytes, value: bytes) -> bytes:
    rest = body.strip()[1:]
    return b'{"%b":%b%b%b' % (name, value, b"" if rest.strip() == b"}" else b",", rest)


def _refused_or_read(bench: Bench, body: bytes) -> None:
    try:
        bench.read_request(body)
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


def feature(name: str, conversation: Conversation) -> Law:
    """A law of one feature: it is there when read back, or losses name it."""

    @law(
        f"requests/keeps: {name}",
        f"what a request says is lost in silence: {name}",
        "write it as your vendor wants it, or name it in losses",
        has_both,
    )
    def kept(bench: Bench) -> None:
        body, losses = bench.write_request(bench.own(conversation))
        found = normal_form.of_conversation(bench.read_request(body))
        wanted = normal_form.of_conversation(conversation)
        expect(bool(losses) or _says(found, wanted), f"got {found}", f"wanted {wanted}")

    return kept


def _says(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    more = {**found, "sampling": {**found["sampling"], **wanted["sampling"]}}
    return more == wanted and found["sampling"].items() >= wanted["sampling"].items()


def carried(name: str, conversation: Conversation) -> Law:
    """The same for a vendor whose requests nobody reads back: its words are sent in order."""

    @law(
        f"requests/carries: {name}",
        f"words of a request are lost or change places: {name}",
        "write each text, call and result where it stands, or name it in losses",
        has_vendor,
    )
    def sent(bench: Bench) -> None:
        body, losses = bench.write_request(bench.own(conversation))
        plain = msgspec.json.encode(msgspec.json.decode(body)).decode()
        places = [plain.find(word) for word in _words(conversation)]
        expect(bool(losses) or (-1 not in places and places == sorted(places)), plain)

    return sent


def _words(conversation: Conversation) -> list[str]:
    """The words of the turns that are easy to find, in their order."""
    told = (part for turn in conversation.turns for part in turn.parts)
    return [part.text for part in told if isinstance(part, Text) and part.text.endswith("4711")]


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
    *(feature(name, wish) for name, wish in sample_values.REQUESTS.items()),
    *(carried(name, wish) for name, wish in sample_values.REQUESTS.items() if _words(wish)),
)
