"""Servers that answer badly or not at all cost a bounded time, and nobody else's calls."""

import asyncio
import time
from typing import Any

import httpx2
import pytest
from gateway_extension_mcp.links import MOST_AT_ONCE
from gateway_extension_mcp.outbound import UNSENT, http_client
from gateway_extension_mcp.settings import Settings
from mcp_gateway import McpGateway
from mcp_servers import RELEASED, Hostile, Seen, served, tool_server

pytestmark = pytest.mark.anyio
LIMITS = {"startSeconds": 5, "callSeconds": 5, "maxAnswerMegabytes": 1}


@pytest.mark.parametrize(
    "way",
    [
        *("silent", "endless json", "endless event", "endless events", "slow events"),
        *("compressed", "no protocol", "html", "error"),
    ],
)
async def test_a_bad_server_fails_in_time_and_leaves_the_others_alone(
    here: McpGateway, address: str, way: str
) -> None:
    await here.settings(**LIMITS)
    with served(Hostile(way)) as origin:
        await here.add("bad", f"{origin}/mcp")
        await here.add("good", address)
        began = time.monotonic()
        tools = await here.tools()
        took = time.monotonic() - began
        called = await here.use("bad__anything")

    assert "good__add" in tools
    assert not {name for name in tools if name.startswith("bad")}
    assert took < 60
    assert called["code"] == -32000
    assert "canary" not in called["message"]
    assert (await here.row("bad"))["status"] == "failed"
    assert await here.use("good__add", a=1, b=2) == "3"
    failed = next(row for row in await here.ledger() if row.model_sent == "bad__anything")
    assert failed.status == "error"
    assert failed.http_status in (502, 504)


async def test_a_redirect_to_elsewhere_is_not_followed(here: McpGateway) -> None:
    await here.settings(**LIMITS)
    other = Seen(tool_server().streamable_http_app())
    with served(other) as elsewhere, served(Hostile("redirect", f"{elsewhere}/mcp")) as origin:
        await here.add("bad", f"{origin}/mcp", headers={"X-Token": "canary"})
        called = await here.use("bad__add", a=1, b=2)

    assert called["code"] == -32000
    assert other.headers == []


async def test_a_late_tool_is_given_up_and_the_next_call_works(
    here: McpGateway, address: str
) -> None:
    await here.settings(**LIMITS)
    await here.add("one", address)

    late = await here.use("one__wait", seconds=30)

    assert late["code"] == -32000
    assert "took too long" in late["message"]
    assert await here.use("one__add", a=1, b=2) == "3"


async def test_an_answer_that_is_too_long_fails_alone(here: McpGateway, address: str) -> None:
    await here.settings(**LIMITS)
    await here.add("one", address)

    long = await here.use("one__long", kilobytes=2048)
    fitting = await here.use("one__long", kilobytes=200)

    assert "code" in long
    assert len(fitting) == 200 * 1024


async def test_a_server_that_is_not_there_is_said_to_be(here: McpGateway) -> None:
    await here.add("gone", "http://127.0.0.1:9/mcp")

    called = await here.use("gone__add", a=1, b=2)

    assert called["code"] == -32000
    assert "could not be reached" in called["message"]


async def test_a_client_cannot_take_more_than_its_share_of_a_server(
    here: McpGateway, address: str
) -> None:
    await here.add("one", address)
    await here.add("two", address)
    await here.tools()

    RELEASED.clear()
    try:
        waiting = {asyncio.create_task(here.use("one__hold")) for _ in range(MOST_AT_ONCE + 16)}
        refused: list[Any] = []
        while len(refused) < 16:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused += (each.result() for each in done)
        meanwhile = await here.use("two__add", a=1, b=2)
    finally:
        RELEASED.set()
    answers = await asyncio.gather(*waiting)

    assert answers == ["released"] * MOST_AT_ONCE
    assert {each["message"] for each in refused} == {f"one has {MOST_AT_ONCE} calls already"}
    assert meanwhile == "3"
    assert await here.use("one__add", a=1, b=2) == "3"


async def test_a_call_that_cannot_be_sent_ends_no_other_call(here: McpGateway) -> None:
    client = http_client(here.admin.core, Settings(), {})
    async with client:
        failed = await client.post("http://127.0.0.1:9/mcp", json={})
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://127.0.0.1:9/mcp")

    assert failed.status_code == 502
    assert failed.json()["error"]["code"] == UNSENT
