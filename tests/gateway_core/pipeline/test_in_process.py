"""Requests that the gateway makes of itself take the way of every other request."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from fake_vendor import MockResponse

from gateway_batches.whole_response import WholeResponse, whole_response
from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.caller import Caller
from gateway_core.identity.peers import UNKNOWN, Peer

pytestmark = pytest.mark.anyio
LOCAL = Caller(peer=Peer(UNKNOWN, False, False), is_local=True)
CHAT = b'{"model":"open/large","messages":[{"role":"user","content":"Hello"}]%b}'


async def call(
    admin: AdminGateway, more: bytes = b"", caller: Caller = LOCAL, id: str = "req_1"
) -> WholeResponse:
    found = Endpoints(admin.core.snapshot.registry.formats.values()).find("/v1/chat/completions")
    assert found is not None
    headers = {"content-type": "application/json"}
    return await whole_response(admin.core, found[0], caller, CHAT % more, headers, id)


async def rows(admin: AdminGateway) -> Any:
    await admin.core.ledger.flush()
    return (await admin.core.stores.usage.page()).rows


async def test_an_answer_is_whole_and_has_its_row_under_the_given_id(tmp_path: Path) -> None:
    async with opened(tmp_path, {}) as admin:
        admin.vendor.key = None
        answer = await call(admin)
        written = await rows(admin)

    assert answer.status == 200
    assert answer.headers["x-request-id"] == "req_1"
    assert b'"content":"Hi"' in answer.body
    assert [(row.request_id, row.status) for row in written] == [("req_1", "ok")]


async def test_a_stream_is_everything_that_was_sent(tmp_path: Path) -> None:
    event = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    async with opened(tmp_path, {}) as admin:
        admin.vendor.key = None
        admin.vendor.written["/chat/completions"] = MockResponse.stream(
            event, event, b"data: [DONE]\n\n"
        )
        answer = await call(admin, b',"stream":true')

    assert answer.body.count(b'"Hi"') == 2
    assert answer.body.endswith(b"data: [DONE]\n\n")


async def test_a_caller_who_is_not_let_in_is_refused(tmp_path: Path) -> None:
    refused = Caller(peer=LOCAL.peer, was_refused=True, has_shown=True)
    async with opened(tmp_path, {}) as admin:
        answer = await call(admin, caller=refused)

    assert answer.status == 401
    assert b'"request_id":"req_1"' in answer.body


async def test_cancelling_a_call_is_a_client_that_leaves(tmp_path: Path) -> None:
    async with opened(tmp_path, {}) as admin:
        admin.vendor.key = None
        admin.vendor.written["/chat/completions"] = MockResponse((b"{}",), delay=60)
        task = asyncio.create_task(call(admin))
        while not admin.vendor.received:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (row,) = await rows(admin)

    assert (row.status, row.http_status) == ("client_gone", 499)
    assert len(admin.core.in_flight) == 0
