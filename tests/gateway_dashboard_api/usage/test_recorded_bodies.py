"""What is kept of requests, from the client's bytes to the row."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fake_vendor import Said
from office import KEY, Office, refused

pytestmark = pytest.mark.anyio
PATH = "/api/usage/request-details"
STREAM = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


@asynccontextmanager
async def listening(office: Office) -> AsyncIterator[None]:
    """Calls in the block are kept, and written when it ends."""
    await office.connect()
    await office.ask("PATCH", "/api/settings", {"enableObservability": True})
    yield
    await office.core.ledger.flush()
    await office.core.request_log.flush()


async def newest(office: Office) -> dict[str, Any]:
    found: dict[str, Any] = (await office.ask("GET", PATH))["details"][0]
    return found


async def test_a_whole_answer_is_kept_on_both_sides(office: Office) -> None:
    async with listening(office):
        await office.chat("acme/large")

    row = await newest(office)
    assert row["request"]["body"]["model"] == "acme/large"
    assert row["providerRequest"]["body"]["model"] == "large"
    assert row["providerResponse"]["body"]["choices"][0]["message"]["content"] == "Hi"
    assert row["response"]["body"]["choices"][0]["message"]["content"] == "Hi"


async def test_a_stream_is_kept_as_its_text(office: Office) -> None:
    office.vendor.said["/chat/completions"] = Said(
        (STREAM[:40], STREAM[40:]), content_type="text/event-stream"
    )
    async with listening(office):
        body = {"model": "acme/large", "stream": True, "messages": []}
        body["messages"] = [{"role": "user", "content": "Hello"}]
        await office.client.post("/v1/chat/completions", json=body)

    row = await newest(office)
    assert row["providerResponse"]["body"] == STREAM.decode()
    assert "data: [DONE]" in row["response"]["body"]


async def test_a_refusal_is_kept_without_the_key_it_repeats(office: Office) -> None:
    office.vendor.said["/chat/completions"] = refused(400, f"No: {KEY}")
    async with listening(office):
        await office.chat("acme/large")

    row = await newest(office)
    assert row["status"] == "error"
    assert row["providerResponse"]["body"]["error"]["message"] == "No: ***"
    assert "error" in row["response"]["body"]


async def test_requests_are_counted_while_they_are_on_their_way(office: Office) -> None:
    await office.connect()
    before = office.core.in_flight.changes

    await office.chat("acme/large")

    assert office.core.in_flight.changes == before + 2
    assert len(office.core.in_flight) == 0


async def test_it_can_be_turned_off_again(office: Office) -> None:
    async with listening(office):
        await office.ask("PATCH", "/api/settings", {"enableObservability": None})
        await office.chat("acme/large")

    assert await office.core.stores.request_details.count() == 0
