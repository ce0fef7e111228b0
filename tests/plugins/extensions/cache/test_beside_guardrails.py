"""The cache beside rules on requests and answers."""

from typing import Any

import pytest
from caching_gateway import CachingGateway, chat, outcome, streamed

RULES = "/api/plugins/extension-guardrails/settings"
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def set_rules(here: CachingGateway, *rules: dict[str, Any]) -> None:
    stored = here.operator.patch(RULES, json={"rules": list(rules)})
    assert stored.status_code == 200, stored.text
    here.served.do(here.served.gateway.core.refresh())


@pytest.fixture
def guarded(here: CachingGateway) -> Any:
    yield here
    set_rules(here)


@both_ways
def test_an_answer_that_a_rule_refuses_is_not_kept(guarded: CachingGateway, stream: bool) -> None:
    said = "the forbidden word"
    guarded.vendor.answer = lambda *_: streamed(said) if stream else chat(said)
    rule = {"name": "word", "kind": "pattern", "patterns": ["forbidden"], "on": "answers"}
    set_rules(guarded, rule)
    guarded.ask(stream=stream)
    set_rules(guarded, {**rule, "action": "shadow"})

    assert outcome(guarded.ask(stream=stream)) == "miss"


@both_ways
def test_a_rule_made_later_holds_for_what_is_kept(guarded: CachingGateway, stream: bool) -> None:
    said = "write to ada@example.com"
    guarded.vendor.answer = lambda *_: streamed(said) if stream else chat(said)
    set_rules(guarded, {"name": "mail", "kind": "personal", "action": "shadow"})
    guarded.ask(stream=stream)
    set_rules(guarded, {"name": "mail", "kind": "personal", "action": "redact"})

    answer = guarded.ask(stream=stream)

    assert outcome(answer) == "hit"
    assert "ada@example.com" not in answer.text
    assert "[email]" in answer.text
    assert guarded.rows[0].cost == 0


def test_a_request_that_a_rule_refuses_gets_no_kept_answer(guarded: CachingGateway) -> None:
    guarded.ask("the forbidden word")
    rule = {"name": "word", "kind": "pattern", "patterns": ["forbidden"], "on": "requests"}
    set_rules(guarded, rule)

    assert guarded.ask("the forbidden word").status_code == 400
