"""Limits that keys have in common: who counts, who is refused, and what the operator sees."""

from pathlib import Path
from typing import Any

import pytest
from grouped_keys import SETTINGS, Grouped, grouped, used

pytestmark = pytest.mark.anyio


async def team(gateway: Grouped, **limits: Any) -> tuple[str, str, str]:
    """Two keys that are in a group with these limits, and one that is not."""
    await gateway.set_groups({"name": "team", "keys": ["team-*"], **limits})
    return (
        await gateway.new_key("team-a"),
        await gateway.new_key("team-b"),
        await gateway.new_key("other"),
    )


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"monthlyRequestLimit": 2}, 'Group "team": monthly requests limit reached (2/2).'),
        ({"dailyLimitTokens": 8}, 'Group "team": daily token limit exceeded (8/8 tokens)'),
        ({"monthlyTokenLimit": 8}, 'Group "team": monthly tokens limit reached (8/8).'),
        ({"dailyInputTokenLimit": 6}, 'Group "team": daily input tokens limit reached (6/6).'),
        ({"monthlyOutputTokenLimit": 2}, 'Group "team": monthly output tokens limit reached'),
        ({"dailyBudget": 0.00001}, 'Group "team": daily budget limit reached (0.00001/0.00001)'),
        ({"monthlyBudget": 0.00001}, 'Group "team": monthly budget limit reached'),
        ({"maxTokens": 8}, 'Group "team": lifetime tokens limit reached (8/8)'),
        ({"maxCostUsd": 0.00001}, 'Group "team": lifetime cost limit reached ($0.00001/$0.00001)'),
        ({"rpmLimit": 2}, 'Group "team": rate limit exceeded (2 requests/minute).'),
        ({"tpmLimit": 8}, 'Group "team": token rate limit exceeded (8/8 tokens/minute).'),
    ],
)
async def test_what_one_key_uses_counts_for_the_other(
    limit: dict[str, Any], words: str, tmp_path: Path
) -> None:
    async with grouped(tmp_path) as [gateway]:
        one, two, other = await team(gateway, **limit)

        first, second = await gateway.ask(one), await gateway.ask(two)
        refused = [await gateway.ask(key) for key in (one, two)]
        free = await gateway.ask(other)

        assert (first.status_code, second.status_code, free.status_code) == (200, 200, 200)
        for answer in refused:
            error = answer.json()["error"]
            assert answer.status_code == 429
            assert error["message"].startswith(words)
            assert error["code"] == "group_limit_exceeded"
            lasts = any(name.startswith("max") for name in limit)
            assert ("retry-after" in answer.headers) is not lasts
        assert len(gateway.vendor.calls("/chat/completions")) == 3


async def test_a_group_that_is_changed_counts_what_was_used_before(tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        one, _, other = await team(gateway, monthlyRequestLimit=100)
        assert (await gateway.ask(one)).status_code == 200
        assert (await gateway.ask(other)).status_code == 200

        await gateway.set_groups({"name": "all", "keys": ["*"], "monthlyRequestLimit": 2})
        assert (await gateway.ask(other)).status_code == 429
        await gateway.set_groups()

        assert (await gateway.ask(other)).status_code == 200
        assert gateway.core.state.group_limits is None


async def test_a_key_in_two_groups_needs_both(tmp_path: Path) -> None:
    async with grouped(tmp_path) as [gateway]:
        await gateway.set_groups(
            {"name": "wide", "keys": ["*"], "monthlyRequestLimit": 3},
            {"name": "narrow", "keys": ["a"], "monthlyRequestLimit": 1},
        )
        a, b = await gateway.new_key("a"), await gateway.new_key("b")

        seen = [await gateway.ask(key) for key in (a, a, b, b, b)]

        assert [each.status_code for each in seen] == [200, 429, 200, 200, 429]
        assert '"narrow"' in seen[1].json()["error"]["message"]
        assert '"wide"' in seen[4].json()["error"]["message"]


async def test_the_operator_sees_what_is_used_and_the_change_is_in_the_audit(
    tmp_path: Path,
) -> None:
    async with grouped(tmp_path) as [gateway]:
        gateway.vendor.written["/chat/completions"] = used_answer(30, 10)
        one, *_ = await team(gateway, dailyBudget=1, monthlyRequestLimit=10)
        await gateway.ask(one)

        group = await gateway.use()

        assert [key["name"] for key in group["keys"]] == ["team-a", "team-b"]
        shown = {row["field"]: (row["used"], row["limit"]) for row in group["limits"]}
        assert shown == {"dailyBudget": (0.00005, 1), "monthlyRequestLimit": (1, 10)}
        trail = await gateway.call("GET", "/api/audit")
        assert any("groups" in str(row) and "plugin" in row["action"] for row in trail["rows"])


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"name": "a", "keys": ["x"]}, "group a: a group needs a limit"),
        ({"name": "a", "keys": [], "maxTokens": 1}, "keys"),
        ({"name": "a", "keys": ["x"], "monthlyBudgetUsd": 1}, "monthlyBudgetUsd"),
        ({"name": "a", "keys": ["x"], "monthlyBudget": -1}, "monthlyBudget"),
    ],
)
async def test_a_group_that_limits_nothing_is_refused(
    group: dict[str, Any], words: str, tmp_path: Path
) -> None:
    async with grouped(tmp_path) as [gateway]:
        answer = await gateway.call("PATCH", SETTINGS, {"groups": [group]}, status=400)

        assert words in str(answer)


def used_answer(prompt: int, answer: int) -> Any:
    from fake_vendor import MockResponse

    return MockResponse((used(prompt, answer),))
