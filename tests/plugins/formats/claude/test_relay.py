"""What is passed on of a stream for a client of the same format."""

import json

import pytest
from claude_streams import ERROR, HELLO, START, relayed, stream, well_formed

from gateway_core import Call, Kind, Model, ProviderSpec, ReplyFailed, Target, VendorSide


def test_the_relay_hears_when_an_answer_has_started(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})

    relay.feed(stream({"type": "ping"}, START, {"type": "ping"}))
    assert not relay.started
    relay.feed(stream(HELLO[1]))
    assert relay.started
    relay.feed(stream(*HELLO[2:4]))
    assert relay.characters == 5


def test_the_relay_passes_an_error_on_in_its_own_words(vendor: VendorSide) -> None:
    passed, relay = relayed(vendor, stream(*HELLO[:3], ERROR))

    assert relay.failure == ReplyFailed("Busy", "overloaded_error", None, 529)
    assert well_formed(passed)
    assert b'"type":"overloaded_error"' in passed


def test_what_follows_the_end_is_not_passed_on(vendor: VendorSide) -> None:
    whole = stream(*HELLO)

    passed, relay = relayed(vendor, whole + whole)

    assert passed == whole
    assert relay.failure is None


def test_a_relay_that_is_told_to_fail_ends_with_an_error(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})

    passed = relay.feed(stream(*HELLO[:3])) + relay.fail(ReplyFailed("gone", status=504))

    assert well_formed(passed)
    assert b'"timeout_error"' in passed
    assert relay.feed(stream(HELLO[3])) == b""


def test_an_error_instead_of_a_whole_answer_is_told(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=False, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    for body, message in ((ERROR, "Busy"), ({"x": 1}, "could not be read")):
        relay = vendor.relay(call, Target(spec, Model("m")), {})

        assert relay.feed(json.dumps(body).encode()) + relay.close() == b""
        assert relay.failure is not None
        assert message in relay.failure.message


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_names_the_model_as_the_client_did(
    vendor: VendorSide, line_end: bytes, size: int
) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="a/m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})
    came = stream(*HELLO).replace(b"\n", line_end)

    chunks = [came[at : at + size] for at in range(0, len(came), size)]
    passed = b"".join(relay.feed(chunk) for chunk in chunks) + relay.close()

    first, rest = (b.replace(b"\r\n", b"\n").split(b"\n\n", 1) for b in (passed, came))
    shown, given = (json.loads(frame.split(b"data: ")[1]) for frame, _ in (first, rest))
    given["message"]["model"] = "a/m"
    assert shown == given
    assert first[1] == rest[1]


@pytest.mark.parametrize("named", [{"model": "m-2026"}, {"model": None}, {}])
def test_a_whole_answer_names_the_model_as_the_client_did(
    vendor: VendorSide, named: dict[str, object]
) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="a/m", stream=False, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})
    block = b'{"type":"tool_use", "id":"t", "name":"n", "input":{"model": "m-2026", "n": 1.50}}'
    came = json.dumps({**named, "type": "message"}).encode()[:-1] + b', "content": [%b]}' % block

    passed = relay.feed(came) + relay.close()

    assert json.loads(passed) == {**json.loads(came), "model": "a/m"}
    assert block in passed
    assert relay.failure is None
