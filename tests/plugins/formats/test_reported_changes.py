"""What a vendor's side changes in a request is named, as what it leaves out is."""

import json
from typing import Any

import pytest
from translation_runs import WIRES, translate

HI = {"role": "user", "content": "hi"}
LATE = [HI, {"role": "system", "content": "be brief"}, {"role": "assistant", "content": "ok"}, HI]
FORM = {
    "type": "json_schema",
    "json_schema": {"name": "a", "description": "d", "schema": {"type": "object"}},
}
SEARCH = {"search_context_size": "low"}
MODELS = {"claude": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro", "openai-responses": "gpt-5"}
DESCRIPTION = "response_format.json_schema.description"
CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("claude", {"messages": [{"role": "assistant", "content": "x"}, HI]}, ["added_turn"]),
    ("claude", {"messages": [HI, {"role": "assistant", "content": "x"}]}, ["added_turn"]),
    ("gemini", {"messages": [{"role": "assistant", "content": "x"}, HI]}, ["added_turn"]),
    ("claude", {"messages": LATE}, ["system_turn"]),
    ("gemini", {"messages": LATE}, ["system_turn"]),
    ("openai-responses", {"messages": LATE}, []),
    ("claude", {"response_format": FORM}, [DESCRIPTION]),
    ("gemini", {"response_format": FORM}, [DESCRIPTION]),
    ("openai-responses", {"response_format": FORM}, []),
    ("claude", {"web_search_options": SEARCH}, ["tool:web_search.search_context_size"]),
    ("gemini", {"web_search_options": SEARCH}, ["tool:web_search.search_context_size"]),
    ("openai-responses", {"web_search_options": SEARCH}, ["tool:web_search.search_context_size"]),
    *((wire, {}, []) for wire in MODELS),
]


@pytest.mark.parametrize(("vendor", "members", "named"), CASES)
def test_a_change_is_named(vendor: str, members: dict[str, Any], named: list[str]) -> None:
    body = json.dumps({"model": "m", "messages": [HI], **members}).encode()

    run = translate("openai", vendor, body, [], stream=False, model=MODELS[vendor])

    assert run.refused == ""
    assert list(run.lost) == named


def test_every_spelling_is_of_a_name_that_is_used() -> None:
    for wire in WIRES.values():
        assert all(name != spelt for name, spelt in wire.spelling.items()), wire.id
