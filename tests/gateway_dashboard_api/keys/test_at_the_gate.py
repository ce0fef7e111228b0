"""What keys open, and what is said to those that open nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from admin_gateway import AdminGateway, client_of, opened
from fake_vendor import MockResponse
from gateway_keys import PATH, REMOTE, bearer, chat, key_for, remote
from manual_clock import Clock
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter
from gateway_core.storage.moments import iso

pytestmark = pytest.mark.anyio
STREAM = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n',
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":'
    b'[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)


@pytest.fixture
def variables() -> dict[str, str]:
    return {"JWT_SECRET": "j" * 40}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def admin(
    tmp_path: Path, variables: dict[str, str], clock: Clock
) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, variables, clock) as here:
        await here.connect()
        yield here


async def bad_keys(admin: AdminGateway) -> dict[str, str]:
    """Texts that open nothing, by what is wrong with them."""
    good = (await key_for(admin, "good"))["key"]
    paused = await key_for(admin, "paused", isActive=False)
    expired = await key_for(admin, "expired", expiresAt="2001-01-01T00:00:00Z")
    gone = await key_for(admin, "gone")
    await admin.call("DELETE", f"{PATH}/{gone['id']}")
    return {
        "unknown": admin.core.identity.keys.mint.new(),
        "bad check": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "two parts": "sk-0a1b2c3d",
        "paused": paused["key"],
        "expired": expired["key"],
        "gone": gone["key"],
        "no key": "anything",
        "too long": "sk-" + "a" * 300,
    }


async def test_every_invalid_key_is_refused_alike(admin: AdminGateway) -> None:
    reported = {}
    async with remote(admin) as client:
        for name, text in (await bad_keys(admin)).items():
            answer = await chat(client, {"key": text})
            body = answer.json()
            assert body["error"].pop("request_id") == answer.headers["x-request-id"]
            reported[name] = answer.status_code, str(body)
            assert text not in answer.text

    assert len(set(reported.values())) == 1
    status, words = reported["unknown"]
    assert status == 401
    assert "Invalid API key" in words
    assert admin.vendor.calls("/chat/completions") == []


async def test_a_saved_key_that_is_not_good_is_refused_where_none_is_needed(
    admin: AdminGateway,
) -> None:
    bad = await bad_keys(admin)
    async with client_of(admin.gateway, operator=False) as client:
        statuses = {name: (await chat(client, {"key": bad[name]})).status_code for name in bad}

    assert {name for name, status in statuses.items() if status == 401} == {"paused", "expired"}


async def test_a_stream_outlives_its_key(admin: AdminGateway, clock: Clock) -> None:
    key = await key_for(admin, expiresAt=iso(clock.now + 60))
    admin.vendor.written["/chat/completions"] = MockResponse.stream(*STREAM, pause=0.05)
    body = {"model": "acme/large", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    async with remote(admin) as client:
        running = asyncio.create_task(
            client.post("/v1/chat/completions", json=body, headers=bearer(key))
        )
        while not admin.vendor.calls("/chat/completions"):
            await asyncio.sleep(0)
        clock.move(60)
        late = await chat(client, key)
        answer = await running

    assert late.status_code == 401
    assert answer.status_code == 200
    assert answer.text.endswith("data: [DONE]\n\n")


async def test_the_first_valid_key_counts_wherever_it_is(admin: AdminGateway) -> None:
    key = await key_for(admin)
    body = {"model": "acme/large", "messages": [{"role": "user", "content": "Hello"}]}
    path = "/v1/chat/completions"
    shown: list[tuple[str, dict[str, str]]] = [
        (path, {"x-api-key": key["key"]}),
        (path, {"x-alt-api-key": key["key"]}),
        (f"{path}?key={key['key']}", {}),
        (path, {"authorization": "Bearer stale", "x-api-key": key["key"]}),
    ]
    async with remote(admin) as client:
        statuses = [
            (await client.post(url, json=body, headers=headers)).status_code
            for url, headers in shown
        ]

    assert statuses == [200] * 4


RESTRICTIONS: list[dict[str, Any]] = [
    {"rpmLimit": 100},
    {"maxTokens": 10**9},
    {"dailyLimitTokens": 10**9},
    {"allowedCombos": ["best"]},
    {"allowedModels": ["acme/large"]},
    {"allowAutoCombos": False},
    {"modelAccess": {"mode": "deny", "patterns": ["x"]}},
    {"expiresAt": "2131-01-01T00:00:00Z"},
]


@pytest.mark.parametrize("restriction", RESTRICTIONS, ids=str)
async def test_a_restricted_key_reads_and_does_not_write(
    admin: AdminGateway, restriction: dict[str, Any]
) -> None:
    key = await key_for(admin, **restriction)
    path = f"{PATH}/{key['id']}"
    before = await admin.call("GET", path)
    async with remote(admin) as client:
        client.headers.update(bearer(key))
        seen = [await client.get(PATH), await client.get(path)]
        tried = [
            await client.put(path, json={"rpmLimit": None, "isActive": True}),
            await client.patch(path, json={"policy": {}}),
            await client.post(PATH, json={"name": "more", "machineId": "m"}),
            await client.delete(path),
        ]

    assert [answer.status_code for answer in seen] == [200, 200]
    assert [answer.status_code for answer in tried] == [403] * 4
    assert await admin.call("GET", path) == before
    assert len((await admin.call("GET", PATH))["keys"]) == 1


async def test_a_key_without_restriction_manages_keys_but_no_groups(admin: AdminGateway) -> None:
    key = await key_for(admin)
    await admin.call("POST", "/api/key-groups", {"name": "team"}, status=201)
    new = {"name": "more", "machineId": "m"}
    async with remote(admin) as client:
        client.headers.update(bearer(key))
        labelled = await client.post(PATH, json={**new, "groups": ["team"]})
        refused = [
            await client.post(PATH, json={**new, "groups": ["new"]}),
            await client.put(f"{PATH}/{key['id']}", json={"groups": ["new"]}),
            await client.get("/api/key-groups"),
            await client.post("/api/key-groups", json={"name": "new"}),
        ]

    assert (labelled.status_code, labelled.json()["groups"]) == (201, ["team"])
    assert [answer.status_code for answer in refused] == [403] * 4
    groups = (await admin.call("GET", "/api/key-groups"))["groups"]
    assert [group["name"] for group in groups] == ["team"]
    assert len((await admin.call("GET", PATH))["keys"]) == 2


def signed_in(admin: AdminGateway, client: httpx2.AsyncClient) -> None:
    client.cookies.set("auth_token", admin.core.sessions.issue())


async def test_a_keys_text_is_revealed_only_to_a_signed_in_person(
    admin: AdminGateway,
) -> None:
    key = await key_for(admin)
    path = f"{PATH}/{key['id']}/reveal"
    async with client_of(admin.gateway, REMOTE, operator=False) as client:
        anonymous = await client.get(path)
        by_key = await client.get(path, headers=bearer(key))
        signed_in(admin, client)
        foreign = await client.get(path, headers={"origin": "https://elsewhere.example"})
        revealed = await client.get(path)
        missing = await client.get(f"{PATH}/x/reveal")
    by_command_line = await admin.client.get(path)

    assert (revealed.status_code, revealed.json()) == (200, {"key": key["key"]})
    assert [anonymous.status_code, by_key.status_code, by_command_line.status_code] == [
        401,
        403,
        401,
    ]
    assert (foreign.status_code, missing.status_code) == (403, 404)
    rows, _ = await own_stores(admin.core).audit.page(AuditFilter(action="key.reveal"))
    assert [(row.actor, row.address, row.target) for row in rows] == [
        ("session:password", REMOTE, key["id"])
    ]


async def test_making_and_deleting_keys_leaves_a_trail(admin: AdminGateway) -> None:
    key = await key_for(admin, "laptop")
    async with remote(admin) as client:
        made = (
            await client.post(PATH, json={"name": "b", "machineId": "m"}, headers=bearer(key))
        ).json()
    await admin.call("DELETE", f"{PATH}/{made['id']}")
    await admin.call("DELETE", f"{PATH}/x", status=404)

    page, _ = await own_stores(admin.core).audit.page(AuditFilter(action="key"))
    rows = [row for row in page if row.action != "key.update"]
    assert [(row.action, row.actor, row.target, row.detail["name"]) for row in rows] == [
        ("key.delete", "cli", made["id"], "b"),
        ("key.create", f"key:{key['id']}", made["id"], "b"),
        ("key.create", "cli", key["id"], "laptop"),
    ]
    assert key["key"] not in str(rows)


async def test_nothing_is_done_that_cannot_be_audited(admin: AdminGateway) -> None:
    key = await key_for(admin)
    await admin.core.stores.database.execute("ALTER TABLE audit RENAME TO elsewhere")

    made = await admin.client.post(PATH, json={"name": "b", "machineId": "m"})
    deleted = await admin.client.delete(f"{PATH}/{key['id']}")

    assert (made.status_code, deleted.status_code) == (500, 500)
    assert made.json()["error"] == "Failed to create the API key"
    assert [row["id"] for row in (await admin.call("GET", PATH))["keys"]] == [key["id"]]
