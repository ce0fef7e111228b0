"""A system message stays the system prompt, whatever other members it has."""

from typing import Any

import pytest
from minimal_requests import WORD, user
from request_probes import Probe, at, either, says
from vendor_requests import request

PLACES: dict[str, Probe] = {
    "openai": either(
        at("messages", 0, "role", equals="system"), at("messages", 0, "role", equals="developer")
    ),
    "openai-responses": either(at("instructions"), at("input", 0, "role", equals="developer")),
    "claude": at("system"),
    "gemini": at("systemInstruction"),
    "ollama": at("messages", 0, "role", equals="system"),
    "cohere": at("messages", 0, "role", equals="system"),
    "bedrock": at("system"),
}
"""Where each vendor has its system prompt."""
TURNS = {"openai-responses": "input", "gemini": "contents"}
MEMBERS: list[dict[str, Any]] = [
    {"name": "house"},
    {"cache_control": {"type": "ephemeral"}},
    {"priority": 3},
]


def asking(client: str, *messages: dict[str, Any]) -> dict[str, Any]:
    name = "input" if client == "openai-responses" else "messages"
    return {"model": "m", "max_tokens": 5000, name: [*messages, user("hi")]}


@pytest.mark.parametrize("vendor", PLACES)
@pytest.mark.parametrize("client", ["openai", "openai-responses", "claude", "ollama"])
@pytest.mark.parametrize("members", MEMBERS, ids=lambda members: next(iter(members)))
def test_a_further_member_does_not_make_it_the_users_word(
    client: str, vendor: str, members: dict[str, Any]
) -> None:
    body = asking(client, {"role": "system", "content": WORD, **members})

    sent, _ = request(client, vendor, body)

    assert PLACES[vendor](sent), sent
    turns = sent[TURNS.get(vendor, "messages")]
    assert not says(WORD)([turn for turn in turns if turn.get("role") in ("user", None)]), sent


@pytest.mark.parametrize("client", ["openai", "ollama"])
def test_a_vendor_of_the_clients_format_gets_the_member_back(client: str) -> None:
    message = {"role": "system", "content": WORD, "name": "house"}

    sent, lost = request(client, client, asking(client, message))

    assert sent["messages"][0] == message
    assert not lost


def test_a_vendor_of_the_responses_format_gets_the_member_back() -> None:
    message = {"type": "message", "role": "developer", "content": WORD, "priority": 3}

    sent, lost = request(
        "openai-responses", "openai-responses", asking("openai-responses", message)
    )

    assert sent["input"][0] == message
    assert not lost


def test_two_messages_of_which_one_has_members_stay_two() -> None:
    named = {"role": "system", "content": "b", "name": "house"}

    sent, _ = request(
        "openai", "openai", asking("openai", {"role": "system", "content": "a"}, named)
    )

    assert sent["messages"][:2] == [{"role": "system", "content": "a"}, named]


def test_a_breakpoint_on_the_message_is_one_behind_its_text() -> None:
    marked = {"role": "system", "content": WORD, "cache_control": {"type": "ephemeral"}}

    sent, lost = request("openai", "claude", asking("openai", marked))

    assert sent["system"] == [
        {"type": "text", "text": WORD, "cache_control": {"type": "ephemeral"}}
    ]
    assert not lost


@pytest.mark.parametrize("vendor", ["claude", "gemini", "ollama", "cohere", "bedrock"])
def test_a_member_that_is_left_out_is_named(vendor: str) -> None:
    message = {"role": "system", "content": WORD, "name": "house"}

    _, lost = request("openai", vendor, asking("openai", message))

    assert "messages.name" in lost
