"""Who of a combo is asked first; nobody is ever dropped."""

import random
from collections import Counter
from typing import Any

import pytest
from snapshots import Clock, combo, provider, snapshot_of

from gateway_core import Conversation, Media, Model, Target, Text, Turn, UpstreamError
from gateway_core.config.environment import Environment
from gateway_core.routing.cooldowns import Cooldowns
from gateway_core.routing.failure_rules import FailureClass
from gateway_core.routing.plan import Member, Plan
from gateway_core.routing.strategies import AFFINITY_SECONDS, MemberOrder

ACME = provider("acme")
NOTHING = Conversation()


def member(id: str, weight: float = 1.0, **model: Any) -> Member:
    return Member(Target(ACME, Model(id, **model)), id, weight)


ABC = (member("a"), member("b"), member("c"))


class Row:
    """An order, with a clock and chance that a test holds."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.health = Cooldowns(Environment(), self.clock)
        self.order = MemberOrder(self.health, self.clock, random.Random(7))

    def ask(
        self,
        strategy: str,
        members: tuple[Member, ...] = ABC,
        *,
        session: str | None = None,
        received: Conversation = NOTHING,
        **settings: Any,
    ) -> str:
        plan = Plan(members=members, combo=combo("c"), strategy=strategy)
        given = snapshot_of(ACME, settings=settings)
        found = self.order.members(plan, given, session, lambda: received)
        assert Counter(each.name for each in found) == Counter(each.name for each in members)
        return "".join(each.name for each in found)


def written(text: str) -> Conversation:
    return Conversation(turns=(Turn("user", (Text(text=text),)),))


def test_the_saved_order_is_kept() -> None:
    row = Row()

    assert [row.ask("fallback") for _ in range(2)] == ["abc", "abc"]


def test_members_take_turns() -> None:
    row = Row()

    assert [row.ask("round-robin") for _ in range(4)] == ["abc", "bca", "cab", "abc"]


def test_a_member_may_begin_several_calls_in_a_row() -> None:
    row, limit = Row(), {"comboStickyRoundRobinLimit": 2}

    assert [row.ask("round-robin", **limit)[0] for _ in range(6)] == list("aabbcc")


def test_a_conversation_stays_for_an_hour() -> None:
    row, limit = Row(), {"comboStickyRoundRobinLimit": 2}

    first = row.ask("round-robin", session="s", **limit)
    for _ in range(3):
        row.ask("round-robin", **limit)
    assert row.ask("round-robin", session="s", **limit) == first
    row.clock.now += AFFINITY_SECONDS + 1
    assert row.ask("round-robin", session="s", **limit) != first


def test_weights_decide_by_chance() -> None:
    row = Row()
    members = (member("a", 3), member("b", 1), member("c", 0))

    firsts = Counter(row.ask("weighted", members)[0] for _ in range(400))

    assert firsts["a"] > firsts["b"] > 0
    assert firsts["c"] == 0


def test_members_without_any_weight_keep_their_order() -> None:
    assert Row().ask("weighted", (member("b", 0), member("a", 0))) == "ba"


def test_who_failed_least_comes_first_and_who_rests_last() -> None:
    row = Row()
    row.health.record_failure("acme-1", "a", UpstreamError("x"), FailureClass(True, 0))
    row.health.record_failure("acme-1", "b", UpstreamError("x"), FailureClass(True, 30))

    assert row.ask("smart-scoring") == "cab"


def test_easy_questions_go_to_small_models_and_hard_ones_to_large() -> None:
    row = Row()
    members = (member("gpt"), member("opus"), member("mini"))
    hard = written("Prove this theorem, then refactor and debug it. " * 3)

    assert row.ask("smart", members, received=written("Hi")) == "minigptopus"
    assert row.ask("smart", members, received=hard) == "opusgptmini"


@pytest.mark.parametrize("kind", ["image", "video", "document"])
def test_who_cannot_see_goes_behind_when_there_is_something_to_see(kind: Any) -> None:
    row = Row()
    members = (member("a", vision=False), member("b"), member("c", vision=True))
    shown = Conversation(turns=(Turn("user", (Media(kind=kind, url="u"),)),))

    assert row.ask("fallback", members, received=shown) == "bca"
    assert row.ask("fallback", members, received=written("Hi")) == "abc"
