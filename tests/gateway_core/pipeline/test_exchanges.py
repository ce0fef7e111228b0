"""What a client may see of a vendor's answer, and which format is spoken."""

import pytest
from msgspec import Raw
from snapshots import FORMATS, call, provider, target

from gateway_core import (
    Choice,
    Losses,
    Model,
    PartSealed,
    PartStarted,
    Reasoning,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Text,
    ToolCall,
    seal,
)
from gateway_core.pipeline.exchanges import (
    encode_losses,
    error_of,
    failure_of,
    is_empty,
    length,
    passes_through,
)
from gateway_core.pipeline.reply_sanitizer import ReplySanitizer
from gateway_core.upstream.endpoints import spoken

EXTRA = {"odd": Raw(b"1")}


def test_only_an_unmarked_body_of_the_same_format_passes_through() -> None:
    same, other = FORMATS["openai"], FORMATS["claude"]
    sealed = call(b'{"x":"' + seal("acme", "s").encode() + b'"}')

    assert passes_through(call(), same, same)
    assert not passes_through(call(), same, other)
    assert not passes_through(sealed, same, same)


def test_the_clients_own_format_is_spoken_when_the_vendor_knows_it() -> None:
    plain = provider("a", format="openai")
    more = provider("b", format="openai", other_formats={"claude": "http://x"})
    client = FORMATS["claude"]

    assert spoken(client, target(plain), FORMATS).id == "openai"
    assert spoken(client, target(more), FORMATS).id == "claude"
    assert spoken(client, target(plain, Model("m", format="gemini")), FORMATS).id == "gemini"


def test_a_proof_gets_the_name_of_its_provider() -> None:
    hand = ReplySanitizer("acme", keeps_extra=True)

    assert hand.event(PartSealed(0, "s")) == PartSealed(0, "s", origin="acme")
    assert hand.part(Reasoning(sealed="x")).origin == "acme"
    assert hand.part(Text(text="a", signature="s")).origin == "acme"
    assert hand.part(Text(text="a")).origin == ""


@pytest.mark.parametrize("keeps", [True, False], ids=["same dialect", "another"])
def test_what_only_the_vendors_dialect_knows_stays_behind(keeps: bool) -> None:
    hand = ReplySanitizer("acme", keeps_extra=keeps)
    left = EXTRA if keeps else {}

    choice = Choice(parts=(Text(text="a", extra=EXTRA),), extra=EXTRA)
    reply = hand.reply(Reply(id="r", model="m", choices=(choice,), extra=EXTRA))

    assert reply.extra == reply.choices[0].extra == reply.choices[0].parts[0].extra == left
    assert hand.event(ReplyStarted("r", "m", extra=EXTRA)) == ReplyStarted("r", "m", extra=left)
    started = hand.event(PartStarted(0, Text(text="", extra=EXTRA)))
    assert started == PartStarted(0, Text(text="", extra=left))


def test_a_part_is_empty_until_it_shows_something() -> None:
    assert is_empty(Text(text=""))
    assert is_empty(Reasoning())
    assert not is_empty(Reasoning(sealed="x"))
    assert not is_empty(Text(text="", signature="s"))
    assert not is_empty(ToolCall(id="a", name="f"))
    assert (length(Text(text="abc")), length(ToolCall(id="a", name="f", arguments="{}"))) == (3, 2)


def test_a_failure_and_its_error_are_one() -> None:
    failed = ReplyFailed("Broke", "k", "c", 529, 3.0)

    assert failure_of(error_of(failed)) == failed


def test_losses_are_spelt_as_the_client_does() -> None:
    losses = Losses({"stop": "stop_sequences", "messages": "contents"})

    losses.add("stop")
    losses.add("top_k")
    losses.add_extra({"odd": Raw(b"1"), "off": Raw(b"false"), "none": Raw(b"null")})
    losses.add_extra({"odd": Raw(b"{}"), "more": Raw(b'"a"')}, within="messages")

    assert list(losses.names) == ["stop_sequences", "top_k", "odd", "contents.more"]


def test_losses_fit_into_a_header() -> None:
    assert encode_losses(["top_k", "a b,é\n"]) == b"top_k, a_b___"
    assert len(encode_losses(["x" * 500] * 500)) == 4096
    assert encode_losses([]) == b""
