"""Answers of Converse's that pass through as they are."""

from typing import Any

import msgspec
import pytest
from gateway_provider_bedrock._frames import write_frame

from gateway_core import Call, Kind, ReplyFailed, Target, VendorSide

START = ("messageStart", {"role": "assistant"})
STOP = ("messageStop", {"stopReason": "end_turn"})
HI = ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}})
WHOLE = msgspec.json.encode(
    {"output": {"message": {"content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}
)


@pytest.fixture
def call() -> Call:
    return Call(kind=Kind.LLM, format="bedrock", model="", stream=True, body=b"{}")


def test_the_relay_ends_a_broken_stream_with_an_exception(
    vendor: VendorSide, target: Target, call: Call, read: Any, framed: Any
) -> None:
    relay = vendor.relay(call, target, {})

    passed = relay.feed(framed(START, HI)) + relay.close()

    assert (relay.started, relay.characters) == (True, 2)
    assert relay.failure is not None
    assert read(passed)[-1] == ReplyFailed(
        relay.failure.message, "internalServerException", status=500
    )


def test_the_relay_stops_at_damage_and_at_the_vendors_own_exception(
    vendor: VendorSide, target: Target, call: Call, framed: Any
) -> None:
    broken, thrown = vendor.relay(call, target, {}), vendor.relay(call, target, {})
    headers = {":message-type": "exception", ":exception-type": "throttlingException"}

    assert broken.feed(framed(START) + b"\0" * 40).startswith(framed(START))
    passed = thrown.feed(framed(START) + write_frame(headers, b'{"message":"slow"}'))

    assert b"throttlingException" in passed
    assert broken.failure is not None
    assert thrown.failure == ReplyFailed("slow", "throttlingException", status=429)
    assert thrown.feed(framed(STOP)) == thrown.close() == b""


def test_the_relay_gives_a_whole_answer_as_it_came(
    vendor: VendorSide, target: Target, call: Call
) -> None:
    call.stream = False
    relay = vendor.relay(call, target, {})

    relay.feed(WHOLE)

    assert relay.close() == WHOLE
    assert relay.characters == 2
