"""With reservations a limit is a bound: for many calls at once, in several processes, and whatever
becomes of a call."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fake_vendor import MockResponse
from grouped_keys import CONTEXT, Grouped, grouped, settled, used

from gateway_core.storage.stores.key_usage import Spending
from gateway_groups import store

pytestmark = pytest.mark.anyio

COST = 1200
"""Millionths that a call may cost, and here does: the vendor reports the most there can be."""
ROOM = 10
DOLLARS = COST * ROOM / 1_000_000


async def reserving(gateway: Grouped, **limits: Any) -> str:
    await gateway.set_groups({"name": "team", "keys": ["team-*"], "reserve": True, **limits})
    return await gateway.new_key("team-a")


async def cost(gateway: Grouped) -> int:
    await gateway.core.ledger.flush()
    rows = await gateway.core.stores.database.fetch("SELECT COALESCE(sum(cost), 0) AS c FROM usage")
    total: int = rows[0]["c"]
    return total


async def reserved(gateway: Grouped) -> list[str]:
    rows = await gateway.core.stores.database.fetch("SELECT request_id FROM group_reservations")
    return [row["request_id"] for row in rows]


@pytest.mark.parametrize("limit", ["dailyBudget", "monthlyBudget", "maxCostUsd"])
async def test_fifty_calls_at_once_in_two_processes_never_pass_a_budget(
    limit: str, tmp_path: Path
) -> None:
    async with grouped(tmp_path, count=2) as gateways:
        first, second = gateways
        first.vendor.written["/chat/completions"] = MockResponse((used(CONTEXT, 100),), delay=0.2)
        key = await reserving(first, **{limit: DOLLARS})
        other = await first.new_key("team-b")
        await second.core.refresh()

        answers = await asyncio.gather(
            *(gateways[n % 2].ask((key, other)[n % 4 // 2]) for n in range(50))
        )

        codes = sorted(each.status_code for each in answers)
        assert codes == [200] * ROOM + [429] * (50 - ROOM)
        assert len(first.vendor.calls("/chat/completions")) == ROOM
        await settled(first)
        assert await cost(first) == COST * ROOM
        messages = [each.json()["error"]["message"] for each in answers if each.is_error]
        assert all(message.startswith('Group "team": ') for message in messages)
        last = await second.ask(key)
        assert last.status_code == 429


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ("monthlyRequestLimit", 5),
        ("dailyLimitTokens", 5 * (CONTEXT + 100)),
        ("monthlyInputTokenLimit", 5 * CONTEXT + 1),
        ("dailyOutputTokenLimit", 599),
    ],
)
async def test_other_limits_are_bounds_too(limit: str, most: int, tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = MockResponse((used(CONTEXT, 100),), delay=0.1)
        key = await reserving(gateway, **{limit: most})

        answers = await asyncio.gather(*(gateway.ask(key) for _ in range(50)))

        assert [each.status_code for each in answers].count(200) == 5


async def test_a_call_settles_to_what_it_cost(tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = MockResponse((used(3, 1),))
        key = await reserving(gateway, monthlyBudget=(COST + 10) / 1_000_000)

        # Each may cost 1200 millionths and costs 5: three fit below 1210 one after another.
        answers = [await gateway.ask(key) for _ in range(4)]

        assert [each.status_code for each in answers] == [200, 200, 200, 429]
        message = answers[3].json()["error"]["message"]
        assert message == (
            'Group "team": monthly budget limit would be passed: this call may take $0.0012, '
            "$0.000015 of $0.00121 is used and $0 reserved."
        )
        await settled(gateway)
        assert await reserved(gateway) == []


async def test_where_only_reservations_are_in_the_way_it_is_soon_tried_again(
    tmp_path: Path,
) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = MockResponse((used(3, 1),), pause=0.5)
        key = await reserving(gateway, monthlyBudget=DOLLARS / ROOM + 0.0001)

        answers = await asyncio.gather(*(gateway.ask(key) for _ in range(5)))

        refused = [each for each in answers if each.status_code == 429]
        assert len(refused) == 4
        assert {each.headers["retry-after"] for each in refused} == {"1"}
        assert (await gateway.ask(key)).status_code == 200


@pytest.mark.parametrize(
    "answer",
    [
        MockResponse((b'{"error":{"message":"no"}}',), status=400),
        MockResponse((b'{"error":{"message":"no"}}',), status=503),
        MockResponse((b"not JSON",)),
        MockResponse((b'data: {"choices":[]}\n\n',), cut=True, chunked=True),
    ],
    ids=["refused", "unavailable", "broken", "cut"],
)
async def test_a_call_that_fails_gives_its_reservation_back(
    answer: MockResponse, tmp_path: Path
) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = answer
        key = await reserving(gateway, monthlyBudget=DOLLARS)

        answers = [await gateway.ask(key, stream=bool(n % 2)) for n in range(4)]

        assert all(each.status_code not in (401, 403) for each in answers)
        await settled(gateway)
        assert await reserved(gateway) == []


async def test_a_client_that_leaves_gives_its_reservation_back(tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = MockResponse((used(3, 1),), delay=60)
        key = await reserving(gateway, monthlyBudget=DOLLARS / ROOM)
        asking = asyncio.create_task(gateway.ask(key))
        async with asyncio.timeout(20):
            while not await reserved(gateway):
                await asyncio.sleep(0.01)

        asking.cancel()

        await settled(gateway)
        del gateway.vendor.written["/chat/completions"]
        async with asyncio.timeout(20):
            while (await gateway.ask(key)).status_code != 200:
                await asyncio.sleep(0.05)


async def test_a_reservation_of_a_process_that_is_gone_expires(tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        key = await reserving(gateway, monthlyBudget=DOLLARS / ROOM)
        database, now = gateway.core.stores.database, gateway.core.clock()
        most = Spending(1, CONTEXT, 100, COST)
        await store.reserve(database, "lost", "team", "gone", most, now + 3600)
        assert (await gateway.ask(key)).status_code == 429

        await store.renew(database, "gone", now - 1)

        assert (await gateway.ask(key)).status_code == 200
        assert "lost" not in await reserved(gateway)


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"model": "ac/unpriced"}, 403, "model_unpriced"),
        ({"model": "ac/n", "max_tokens": None}, 403, "group_unbounded"),
        ({"model": "ac/n"}, 200, None),
    ],
)
async def test_what_has_no_bound_is_refused(
    members: dict[str, Any], status: int, code: str | None, tmp_path: Path
) -> None:
    async with grouped(tmp_path) as [gateway]:
        key = await reserving(gateway, monthlyBudget=1)

        answer = await gateway.ask(key, **members)

        assert answer.status_code == status
        if code is not None:
            assert answer.json()["error"]["code"] == code
            assert gateway.vendor.calls("/chat/completions") == []
