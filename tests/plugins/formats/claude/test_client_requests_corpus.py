"""Recorded requests: read and written again in the same format, they say the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from corpus import Item, answer, items, named, question

from gateway_core import (
    BadRequest,
    Call,
    ClientSide,
    Losses,
    Model,
    ProviderSpec,
    Target,
    VendorSide,
)

MockResponse = Callable[..., Call]

ITEMS = [item for item in items("anthropic_messages") if question(item) is not None]
REFUSED = [item for item in ITEMS if item["response_status"] == 400]
MALFORMED = [item for item in REFUSED if b"messages.0:" in answer(item)]
TAKEN = [item for item in ITEMS if item not in REFUSED]
COUNTED = [item for item in items("anthropic_count_tokens") if question(item) is not None]


def plain(value: Any) -> Any:
    """One spelling for what means the same.

    A string of content is one text block; null is absence; five minutes is a
    breakpoint's usual life, ``custom`` a tool's usual type, parallel calls and
    direct callers are usual; citations that are none are not there.
    """
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    output = {name: plain(item) for name, item in value.items() if item is not None}
    for name in ("content", "system"):
        if isinstance(output.get(name), str) and "source" not in output:
            output[name] = [{"type": "text", "text": output[name]}]
    if output.get("ttl") == "5m":
        del output["ttl"]
    if output.get("type") == "custom":
        del output["type"]
    if output.get("caller") == {"type": "direct"}:
        del output["caller"]
    if output.get("is_error") is False or output.get("stream") is False:
        output = {k: v for k, v in output.items() if k not in ("is_error", "stream")}
    if output.get("citations") == []:
        del output["citations"]
    return output


def received(item: Item) -> dict[str, Any]:
    """The recorded request, in the place the vendor moved one of its members to."""
    body: dict[str, Any] = plain(item["request_body"])
    older = body.pop("output_format", None)
    if older is not None:
        body["output_config"] = {**body.get("output_config", {}), "format": older}
    return body


def target(item: Item) -> Target:
    provider = ProviderSpec(id="anthropic", name="Anthropic", format="claude")
    return Target(provider, Model(item["request_body"]["model"]))


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(TAKEN) > 130
    assert len(COUNTED) == 12
    assert len(REFUSED) == 4
    assert len(MALFORMED) == 2


@pytest.mark.parametrize("item", TAKEN, ids=named)
def test_a_request_says_the_same_when_it_is_read_and_written(
    client: ClientSide, vendor: VendorSide, written: MockResponse, item: Item
) -> None:
    losses = Losses()

    conversation = client.read_request(written(item["request_body"]))
    sent = written(vendor.write_request(conversation, target(item), losses)).body

    expected = received(item)
    reported = plain(json.loads(sent))
    if (
        expected["messages"][-1]["role"] == "assistant"
        and reported["messages"][-1]["role"] == "user"
    ):
        del reported["messages"][-1]  # the repair of a prefill has its own tests
    assert reported == expected
    assert set(losses.names) <= {"added_turn"}


@pytest.mark.parametrize("item", TAKEN, ids=named)
def test_reading_what_was_written_changes_nothing(
    client: ClientSide, vendor: VendorSide, written: MockResponse, item: Item
) -> None:
    conversation = client.read_request(written(item["request_body"]))
    once = vendor.write_request(conversation, target(item), Losses())

    twice = vendor.write_request(client.read_request(written(once)), target(item), Losses())

    assert twice == once


@pytest.mark.parametrize("item", MALFORMED, ids=named)
def test_what_the_vendor_finds_malformed_is_refused(
    client: ClientSide, written: MockResponse, item: Item
) -> None:
    with pytest.raises(BadRequest, match=r"^messages\.0"):
        client.read_request(written(item["request_body"]))


def test_the_prefill_that_the_vendor_refused_is_mended(
    client: ClientSide, vendor: VendorSide, written: MockResponse
) -> None:
    item = next(item for item in REFUSED if b"prefill" in answer(item))
    conversation = client.read_request(written(item["request_body"]))

    sent = json.loads(vendor.write_request(conversation, target(item), Losses()))

    assert sent["messages"][:-1] == item["request_body"]["messages"]
    assert sent["messages"][-1]["role"] == "user"


@pytest.mark.parametrize("item", COUNTED, ids=named)
def test_a_request_to_count_is_read_as_any_other(
    client: ClientSide, written: MockResponse, item: Item
) -> None:
    conversation = client.read_request(written(item["request_body"]))

    assert conversation.turns
    assert conversation.sampling.max_tokens is None
