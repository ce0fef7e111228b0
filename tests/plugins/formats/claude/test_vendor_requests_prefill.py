"""The repair of an answer begun for the vendor."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from claude_turns import At, Tell, assistant, call, turns, user
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Call, ClientSide, Foreign, Losses, Reasoning, Target, Text, VendorSide

MockResponse = Callable[..., Call]


PREFILL = turns(user("q"), assistant(Text(text="The answer is (")))


def test_a_prefill_is_followed_by_a_turn_that_asks_to_continue(tell: Tell) -> None:
    output, losses = tell(PREFILL)

    assert output["messages"][1] == {"role": "assistant", "content": "The answer is ("}
    assert output["messages"][2]["role"] == "user"
    assert "Continue" in output["messages"][2]["content"]
    assert losses == ["added_turn"]


def test_trailing_calls_get_error_results(tell: Tell) -> None:
    output, _ = tell(turns(user("q"), assistant(Text(text="a"), call("1"), call("2"))))

    results = output["messages"][2]["content"]
    assert [block["tool_use_id"] for block in results] == ["1", "2"]
    assert all(block["is_error"] for block in results)


def test_a_turn_the_vendor_paused_goes_back_as_it_was(tell: Tell) -> None:
    paused = Foreign(
        dialect="claude", type="server_tool_use", raw=Raw(b'{"type":"server_tool_use","id":"s"}')
    )

    output, _ = tell(turns(user("q"), assistant(Text(text="a"), paused), dialect="claude"))

    assert output["messages"][-1]["role"] == "assistant"


def test_a_turn_of_thinking_alone_is_continued(tell: Tell) -> None:
    thinking = Reasoning(text="hm", signature="s", origin="anthropic")

    assert tell(turns(user("q"), assistant(thinking)))[0]["messages"][-1]["role"] == "user"


PRESERVE = {"x-gateway-assistant-prefill": "preserve"}
BEGUN = {
    "model": "m",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "The answer is ("},
    ],
}


def test_the_client_may_keep_its_prefill(
    client: ClientSide, vendor: VendorSide, written: MockResponse, at: At
) -> None:
    losses = Losses()

    received = replace(client.read_request(written(BEGUN, {})), keeps_prefill=True)
    written = vendor.write_request(received, at(), losses)

    assert json.loads(written)["messages"] == BEGUN["messages"]
    assert PRESERVE.keys().isdisjoint(json.loads(written))
    assert not losses


def passed_on(vendor: VendorSide, received: Call, target: Target) -> list[Any]:
    """The messages of a request that is passed through."""
    members = dict(received.members)
    vendor.relay(received, target, members)
    messages: list[Any] = json.loads(bytes(members["messages"]))
    return messages


@pytest.mark.parametrize(
    "content",
    ["The answer is (", [{"type": "text", "text": "The answer is ("}], [], ""],
    ids=["text", "blocks", "no block", "no text"],
)
def test_a_prefill_that_is_passed_through_is_repaired_too(
    vendor: VendorSide, written: MockResponse, at: At, content: Any
) -> None:
    begun = [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}]

    messages = passed_on(vendor, written({**BEGUN, "messages": begun}), at())

    assert messages[:-1] == begun
    assert messages[-1]["role"] == "user"


def test_trailing_calls_that_are_passed_through_get_error_results(
    vendor: VendorSide, written: MockResponse, at: At
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"role": "assistant"}}
    begun = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [use]}]

    messages = passed_on(vendor, written({**BEGUN, "messages": begun}), at())

    assert messages[:-1] == begun
    (block,) = messages[-1]["content"]
    assert (block["type"], block["tool_use_id"], block["is_error"]) == ("tool_result", "t1", True)


PASSED = [
    [{"role": "user", "content": "q"}],
    [{"role": "user", "content": "q"}, {"role": "system", "content": "s"}],
    [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s"}]},
    ],
    [],
    "rubbish",
    [{"role": "assistant", "content": 3}],
    [{"role": "assistant"}],
]


@pytest.mark.parametrize("messages", PASSED)
def test_everything_else_is_passed_through_byte_for_byte(
    vendor: VendorSide, written: MockResponse, at: At, messages: Any
) -> None:
    received = written(json.dumps({**BEGUN, "messages": messages}, indent=1).encode())
    members = dict(received.members)

    vendor.relay(received, at(), members)

    assert members == received.members


def test_the_client_may_keep_its_prefill_on_the_way_through(
    vendor: VendorSide, written: MockResponse, at: At
) -> None:
    assert passed_on(vendor, written(BEGUN, PRESERVE), at()) == BEGUN["messages"]


def test_a_body_without_messages_passes_through(
    vendor: VendorSide, written: MockResponse, at: At
) -> None:
    members = dict(written({"model": "m"}).members)

    vendor.relay(written({"model": "m"}), at(), members)

    assert list(members) == ["model"]
