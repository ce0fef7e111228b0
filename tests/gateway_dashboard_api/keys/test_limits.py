"""Limits of keys, as callers of every format meet them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gateway_format_gemini
import httpx2
import pytest
from admin_gateway import REPLY, AdminGateway, opened
from fake_vendor import MockResponse, ReceivedRequest
from gateway_keys import PATH, bearer, chat, key_for, remote, status_of
from manual_clock import Clock

from gateway_core.storage.moments import next_midnight

pytestmark = pytest.mark.anyio
HELLO = [{"role": "user", "content": "Hello"}]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"model": "acme/large", "messages": HELLO}),
    "claude": ("/v1/messages", {"model": "acme/large", "messages": HELLO, "max_tokens": 9}),
    "responses": ("/v1/responses", {"model": "acme/large", "input": "Hello"}),
    "ollama": ("/api/chat", {"model": "acme/large", "messages": HELLO, "stream": False}),
    "gemini": (
        "/v1beta/models/acme/large:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
    ),
}
RPM = "API key rate limit exceeded (20 requests/minute)."


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def admin(tmp_path: Path, clock: Clock) -> AsyncIterator[AdminGateway]:
    more = {"format-gemini": gateway_format_gemini}
    async with opened(tmp_path, {}, clock, more) as here:
        await here.connect()
        yield here


async def many(
    admin: AdminGateway, key: dict[str, Any], count: int, wire: str = "openai"
) -> list[httpx2.Response]:
    """Calls at once, from elsewhere."""
    path, body = CALLS[wire]
    async with remote(admin) as client:
        client.headers.update(bearer(key))
        return list(await asyncio.gather(*(client.post(path, json=body) for _ in range(count))))


def said_of(wire: str, body: dict[str, Any]) -> tuple[str, str]:
    """The message of a refusal and the request's id, where each format has them."""
    if wire == "ollama":
        return body["error"], body["request_id"]
    error = body["error"]
    return error["message"], body.get("request_id") or error["request_id"]


@pytest.mark.parametrize("wire", CALLS)
async def test_sixty_at_once_under_a_limit_of_twenty(admin: AdminGateway, wire: str) -> None:
    key = await key_for(admin, rpmLimit=20)

    answers = await many(admin, key, 60, wire)

    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (20, 40)
    assert len(admin.vendor.calls("/chat/completions")) == 20
    for answer in answers:
        if answer.status_code == 429:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            message, request_id = said_of(wire, answer.json())
            assert message == RPM
            assert request_id == answer.headers["x-request-id"]


async def test_a_stream_is_refused_like_any_other_call(admin: AdminGateway) -> None:
    key = await key_for(admin, rpmLimit=1)
    await many(admin, key, 1)
    path, body = CALLS["openai"]
    async with remote(admin) as client:
        answer = await client.post(path, json={**body, "stream": True}, headers=bearer(key))

    assert answer.status_code == 429
    assert answer.headers["retry-after"]


async def test_what_is_used_passes_a_cap_by_the_calls_under_way_at_most(
    admin: AdminGateway,
) -> None:
    key = await key_for(admin, maxTokens=5)

    answers = await many(admin, key, 40)
    late = await many(admin, key, 1)

    let_in = sum(answer.status_code == 200 for answer in answers)
    used = (await admin.call("GET", f"{PATH}/{key['id']}"))["usage"]["totalTokens"]
    assert 1 <= let_in <= 40
    assert used == 4 * let_in
    assert late[0].status_code == 429
    assert late[0].json()["error"]["message"] == f"API key token limit reached ({used}/5 tokens)"


async def test_every_view_of_a_key_counts_rows_that_are_not_written_yet(
    admin: AdminGateway,
) -> None:
    key = await key_for(admin)
    async with admin.core.ledger.paused():
        await many(admin, key, 3)
        assert len(admin.core.ledger.waiting) == 3

    (listed,) = (await admin.call("GET", PATH))["keys"]
    shown = await admin.call("GET", f"{PATH}/{key['id']}")
    used = (await admin.call("GET", f"{PATH}/usage"))["usage"][key["id"]]
    own = await admin.client.get("/api/usage/me", headers=bearer(key))

    assert listed["usage"]["totalTokens"] == shown["usage"]["totalTokens"] == 12
    assert used["today"]["requests"] == 3
    assert own.json()["usage"]["lifetime"]["totalTokens"] == 12


async def test_one_after_the_other_passes_a_cap_by_one_call_at_most(admin: AdminGateway) -> None:
    key = await key_for(admin, maxTokens=5)

    statuses = [await status_of(admin, key) for _ in range(4)]

    assert statuses == [200, 200, 429, 429]


async def test_a_raised_cap_applies_at_once(admin: AdminGateway) -> None:
    key = await key_for(admin, maxTokens=4, policy={"rpmLimit": 2})
    before = [await status_of(admin, key) for _ in range(2)]

    await admin.call("PUT", f"{PATH}/{key['id']}", {"maxTokens": ""})

    after = [await status_of(admin, key) for _ in range(2)]
    assert (before, after) == ([200, 429], [200, 429])


async def test_a_refusal_of_a_key_starts_no_cooldown(admin: AdminGateway) -> None:
    spare = await admin.connect(name="spare")
    await admin.call(
        "POST", "/api/combos", {"name": "best", "models": ["acme/large", "acme/small"]}, status=201
    )
    limited, free = await key_for(admin, rpmLimit=1), await key_for(admin, "free")
    async with remote(admin) as client:
        limited_to = [(await chat(client, limited, "best")).status_code for _ in range(10)]
        health = admin.core.cooldowns
        rests, notes = health.all_active(), health.take_changes()
        row = (await admin.call("GET", f"/api/providers/{spare['id']}"))["connection"]
        answer = await chat(client, free, "best")

    assert limited_to == [200, *[429] * 9]
    assert rests == []
    assert not any("lastError" in members for members in notes.values())
    assert row["testStatus"] == "unknown"
    assert {health.score(spare["id"], name) for name in ("large", "small")} == {100.0}
    assert answer.status_code == 200
    models = [received.json()["model"] for received in admin.vendor.calls("/chat/completions")]
    assert models == ["large", "large"]


async def test_a_combo_counts_once_however_many_members_are_tried(admin: AdminGateway) -> None:
    body = {"name": "best", "models": ["acme/large", "acme/small"]}
    await admin.call("POST", "/api/combos", body, status=201)
    key = await key_for(admin, rpmLimit=2)

    def answer(received: ReceivedRequest) -> MockResponse:
        return (
            MockResponse((b"{}",), 500)
            if received.json()["model"] == "large"
            else MockResponse((REPLY,))
        )

    admin.vendor.script = answer

    statuses = [await status_of(admin, key, "best") for _ in range(3)]

    assert statuses == [200, 200, 429]


async def test_a_caller_that_waits_for_retry_after_is_admitted(
    admin: AdminGateway, clock: Clock
) -> None:
    key = await key_for(admin, dailyLimitTokens=4)
    clock.now = next_midnight(clock.now) - 20.4
    before = await many(admin, key, 1)

    refused = await many(admin, key, 1)
    clock.move(int(refused[0].headers["retry-after"]))
    after = await many(admin, key, 1)

    assert [answers[0].status_code for answers in (before, refused, after)] == [200, 429, 200]
    assert refused[0].headers["retry-after"] == "21"


async def test_the_command_line_and_keyless_callers_are_not_counted(admin: AdminGateway) -> None:
    key = await key_for(admin, rpmLimit=1, maxTokens=0)

    by_operator = [await chat(admin.client, key) for _ in range(3)]

    assert [answer.status_code for answer in by_operator] == [200] * 3
    rows = (await admin.call("GET", f"{PATH}/usage"))["usage"][key["id"]]
    assert rows["rpm"]["used"] == 0
