"""Catalog rows and every envelope they come in."""

from typing import Any

import pytest
from snapshots import account, combo, provider, snapshot_of

from gateway_core import Kind, Model
from gateway_core.routing.model_listing import (
    KINDS,
    LARGE,
    MOST_TOKENS,
    cli_list,
    generative_list,
    local_server_list,
    messages_list,
    model_row,
    named_kind,
    of_kind,
    rows,
    usual,
)

ACME = provider("acme", Model("m", name="Em"), Model("e", kind=Kind.EMBEDDING), alias="ac")


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in found]


def test_combos_come_first_then_families_then_models() -> None:
    tables = snapshot_of(ACME, provider("zed", "glm-4"), combos=[combo("team", "ac/m", kind="llm")])

    assert ids(rows(tables, 7)) == ["team", "auto/glm", "ac/m", "ac/e", "zed/glm-4"]
    assert rows(tables, 7)[0] == {
        "id": "team",
        "object": "model",
        "created": 7,
        "owned_by": "combo",
        "name": "team",
        "kind": "llm",
    }


def test_only_connected_providers_are_listed() -> None:
    other = provider("other", "glm-4")

    assert ids(rows(snapshot_of(ACME, other, accounts=[account("a")]), 0)) == ["ac/m", "ac/e"]


def test_the_operator_may_show_combos_alone() -> None:
    tables = snapshot_of(ACME, combos=[combo("team")], settings={"exposeComboOnly": True})

    assert ids(rows(tables, 0)) == ["team"]


def test_what_is_not_known_is_left_out() -> None:
    assert model_row(provider("acme"), Model("m"), 7) == {
        "id": "acme/m",
        "object": "model",
        "created": 7,
        "owned_by": "acme",
        "name": "m",
        "display_name": "m",
        "provider_name": "Acme",
        "provider_alias": "acme",
        "gateway_provider": "acme",
    }


def test_what_is_known_is_told_in_every_spelling() -> None:
    model = Model("m", context=9, max_output=5, tools=False, reasoning=True, vision=True)
    row = model_row(ACME, model, 7)

    assert row["context_length"] == row["max_model_len"] == 9
    assert row["max_output_tokens"] == row["max_completion_tokens"] == 5
    assert row["limits"] == {"max_input_tokens": 9, "max_output_tokens": 5}
    assert (row["supports_tools"], row["reasoning"]) == (False, True)
    assert row["input_modalities"] == ["text", "image"]
    assert row["capabilities"] == {
        "contextWindow": 9,
        "maxOutput": 5,
        "vision": True,
        "tools": False,
        "reasoning": True,
    }


@pytest.mark.parametrize("context", [0, MOST_TOKENS + 1])
def test_a_context_that_cannot_be_is_not_known(context: int) -> None:
    assert "context_length" not in model_row(ACME, Model("m", context=context), 0)
    assert model_row(ACME, Model("m", context=MOST_TOKENS), 0)["context_length"] == MOST_TOKENS


def test_the_kinds_are_those_of_the_interface() -> None:
    assert set(KINDS) == {
        *("image", "tts", "stt", "embedding", "image-to-text", "web", "rerank", "video", "music"),
        *("realtime", "moderation", "audio", "realtime-translation", "realtime-transcription"),
        *("live", "systemone", "document-parsing"),
    }


def test_a_kind_filters_and_web_is_search_and_fetch() -> None:
    spec = provider("a", Model("s", kind=Kind.SEARCH), Model("f", kind=Kind.FETCH), Model("m"))
    found = rows(snapshot_of(spec, combos=[combo("w", kind="webSearch")]), 0)

    assert ids(of_kind(found, "web")) == ["w", "a/s", "a/f"]
    assert ids(of_kind(found, "tts")) == []


def test_every_kind_that_a_row_shows_filters_the_catalog() -> None:
    kinds = [kind for kind in Kind if kind != Kind.LLM]
    spec = provider("a", *(Model(str(kind), kind=kind) for kind in kinds))
    combos = [combo("v", kind="imageToText"), combo("s", kind="webSearch"), combo("c", kind="llm")]
    snapshot = snapshot_of(spec, combos=combos)
    shown = {row["id"]: row.get("kind") for row in rows(snapshot, 0)}

    assert (shown["v"], shown["s"], shown["c"]) == ("image-to-text", "search", "llm")
    for name, word in shown.items():
        if word is not None:
            assert named_kind(snapshot, word) == word
            assert name in ids(of_kind(rows(snapshot, 0), word))


@pytest.mark.parametrize(
    ("word", "kind"),
    [("webSearch", "search"), ("imageToText", "image-to-text"), ("web", "web"), ("", None)],
)
def test_a_kind_may_be_spelled_as_clients_do(word: str, kind: str | None) -> None:
    assert named_kind(snapshot_of(), word) == kind


def test_decision_models_are_listed_by_their_kind_only() -> None:
    found = rows(snapshot_of(provider("a", "m", Model("d", kind=Kind.DECISION))), 0)

    assert ids(usual(found)) == ["a/m"]
    assert ids(of_kind(found, "systemone")) == ["a/d"]


def test_the_messages_style_decorates_names() -> None:
    spec = provider("claude-er", Model("own"), Model("big", context=LARGE, vision=False))
    listed = messages_list(rows(snapshot_of(ACME, spec), 0))

    assert ids(listed["data"]) == [
        "claude-ac/m",
        "claude-ac/e",
        "claude-er/own",
        "claude-er/big[1m]",
    ]
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (
        False,
        "claude-ac/m",
        "claude-er/big[1m]",
    )
    assert listed["data"][0] == {
        "type": "model",
        "id": "claude-ac/m",
        "display_name": "Em",
        "created_at": "1970-01-01T00:00:00Z",
        "max_input_tokens": None,
        "max_tokens": None,
        "capabilities": None,
    }
    assert listed["data"][3]["capabilities"] == {"image_input": {"supported": False}}
    assert messages_list([])["first_id"] is None


def test_the_command_line_gets_rows_with_more_members() -> None:
    [row] = cli_list([model_row(ACME, Model("m", context=9), 0)])["models"]

    assert row["slug"] == row["id"] == "ac/m"
    assert (row["supported_in_api"], row["tool_mode"], row["context_window"]) == (True, "auto", 9)
    assert row["multi_agent_version"] is None


def test_the_generative_list_shows_native_models_plain_too() -> None:
    tables = snapshot_of(ACME, provider("goo", "g", format="gemini"))
    listed = generative_list(tables, usual(rows(tables, 0)))["models"]

    assert [row["name"] for row in listed] == [
        "models/ac/m",
        "models/ac/e",
        "models/g",
        "models/goo/g",
    ]
    assert (listed[0]["inputTokenLimit"], listed[0]["outputTokenLimit"]) == (128000, 8192)


def test_the_tag_list_names_every_row() -> None:
    [tag] = local_server_list([model_row(ACME, Model("m"), 0)])["models"]

    assert (tag["name"], tag["model"], tag["details"]) == ("ac/m", "ac/m", {"family": "acme"})
