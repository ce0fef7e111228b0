"""What is kept of requests, from the client's bytes to the row."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway, refused
from fake_vendor import MockResponse
from own_stores import own_stores

pytestmark = pytest.mark.anyio
PATH = "/api/usage/request-details"
STREAM = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


@asynccontextmanager
async def listening(admin: AdminGateway) -> AsyncIterator[None]:
    """Calls in the block are kept, and written when it ends."""
    await admin.connect()
    await admin.call("PATCH", "/api/settings", {"enableObservability": True})
    yield
    await admin.core.ledger.flush()
    await admin.core.request_log.flush()


async def newest(admin: AdminGateway) -> dict[str, Any]:
    found: dict[str, Any] = (await admin.call("GET", PATH))["details"][0]
    return found


async def test_a_whole_answer_is_kept_on_both_sides(admin: AdminGateway) -> None:
    async with listening(admin):
        await admin.chat("acme/large")

    row = await newest(admin)
    assert row["request"]["body"]["model"] == "acme/large"
    assert row["providerRequest"]["body"]["model"] == "large"
    assert row["providerResponse"]["body"]["choices"][0]["message"]["content"] == "Hi"
    assert row["response"]["body"]["choices"][0]["message"]["content"] == "Hi"


async def test_contents_are_there_once_their_call_is_seen(admin: AdminGateway) -> None:
    """They would wait for more of them, or for some seconds."""
    await admin.connect()
    await admin.call("PATCH", "/api/settings", {"enableObservability": True})
    await admin.chat("acme/large")

    assert (await newest(admin))["request"]["body"]["model"] == "acme/large"


async def test_a_stream_is_kept_as_its_text(admin: AdminGateway) -> None:
    admin.vendor.written["/chat/completions"] = MockResponse(
        (STREAM[:40], STREAM[40:]), content_type="text/event-stream"
    )
    async with listening(admin):
        body = {"model": "acme/large", "stream": True, "messages": []}
        body["messages"] = [{"role": "user", "content": "Hello"}]
        await admin.client.post("/v1/chat/completions", json=body)

    row = await newest(admin)
    assert row["providerResponse"]["body"] == STREAM.decode()
    assert "data: [DONE]" in row["response"]["body"]


async def test_a_refusal_is_kept_without_the_key_it_repeats(admin: AdminGateway) -> None:
    admin.vendor.written["/chat/completions"] = refused(400, f"No: {KEY}")
    async with listening(admin):
        await admin.chat("acme/large")

    row = await newest(admin)
    assert row["status"] == "error"
    assert row["providerResponse"]["body"]["error"]["message"] == "No: ***"
    assert "error" in row["response"]["body"]


async def test_requests_are_counted_while_they_are_on_their_way(admin: AdminGateway) -> None:
    await admin.connect()
    before = admin.core.in_flight.changes

    await admin.chat("acme/large")

    assert admin.core.in_flight.changes == before + 2
    assert len(admin.core.in_flight) == 0


async def test_it_can_be_turned_off_again(admin: AdminGateway) -> None:
    async with listening(admin):
        await admin.call("PATCH", "/api/settings", {"enableObservability": None})
        await admin.chat("acme/large")

    assert await own_stores(admin.core).request_details.count() == 0
