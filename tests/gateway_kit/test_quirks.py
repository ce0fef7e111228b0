"""Odd but real: each habit of the mock vendor was recorded, and recordings pass through the kit."""

from collections.abc import Iterator
from pathlib import Path

import plain_readers
import pytest
from corpus import Item, answer, items, named
from gateway_kit.mock_vendor.answer import MockAnswer
from gateway_kit.mock_vendor.quirks import QUIRKS, Quirk
from gateway_kit.providers import Account, Case, ProviderSuite
from gateway_kit.providers.answers import read_answer
from gateway_kit.providers.chat_requests import build_request
from gateway_kit.providers.harness import ProviderHarness
from gateway_kit.providers.subject import ProviderUnderTest, Route
from plugin_folders import ACCOUNTS

VENDORS = {
    "openai": ("gateway_provider_groq", "openai_chat", "/chat/completions"),
    "claude": ("gateway_provider_anthropic", "anthropic_messages", "/messages"),
    "gemini": ("gateway_provider_gemini", "gemini_generate_content", "enerateContent"),
    "ollama": ("gateway_provider_ollama", "ollama_chat", "/api/chat"),
}
"""A bundled vendor for each format, and where recordings of that format are."""
WORTH_KNOWING = (
    *("toolcall_delta_without_id", "toolcall_no_index", "toolcall_empty_id", "usage_only_chunk"),
    *("empty_choices_chunk", "usage_with_choices", "role_only_chunk", "empty_delta"),
    *("empty_content_delta", "null_content", "missing_content", "content_list"),
    *("content_list_delta", "no_done_marker", "sse_comments", "crlf_framing"),
    *("duplicate_message_start", "ping_event", "redacted_thinking", "empty_content"),
    *("no_parts", "no_parts_chunk", "empty_text_part", "azure_content_filter"),
)
"""What tests/corpora/README.md tells of answers that came to a proper end."""
BY_FAULTS = {"usage_only_chunk", "no_done_marker", "sse_comments", "crlf_framing"}
"""Shown by the usual answers of the mock vendor, or by its other faults."""
UNREADABLE = {"error_in_200", "error_mid_stream", "joined_turns", "json_array_stream"}
NONE = {
    "anthropic-vercelai-fixtures-spliced-message-start-41e5a4",
    "ollama-prism-structured-with-multiple-tools-structured-mode-1-808881",
}
"""Two answers in one, which is refused, and one that is in another format than it says."""
MOST = 2
"""Recordings of each habit, so that all of this stays quick."""
LONGEST = 20_000


@pytest.fixture(scope="module")
def suite() -> Iterator[ProviderSuite]:
    accounts = {id: Account(data=data) for id, data in ACCOUNTS.items()}
    suite = ProviderSuite(tuple(module for module, _, _ in VENDORS.values()), accounts=accounts)
    yield suite
    suite.close()


def recorded(wire: str, feature: str) -> list[Item]:
    _, folder, path = VENDORS[wire]
    return [
        item
        for item in items(folder)
        if feature in item["features"] and path in item["endpoint"] and is_readable(item)
    ]


def is_readable(item: Item) -> bool:
    """Whether it is one whole answer that plain means can read."""
    is_sound = item["response_status"] == 200 and not UNREADABLE & set(item["features"])
    return is_sound and named(item) not in NONE and 0 < len(answer(item)) < LONGEST


REPLAYED = {
    named(item): (wire, item)
    for wire in VENDORS
    for feature in WORTH_KNOWING
    for item in recorded(wire, feature)[:MOST]
}


@pytest.mark.parametrize("habit", QUIRKS.values(), ids=list(QUIRKS))
def test_a_habit_was_recorded(habit: Quirk) -> None:
    _, folder, _ = VENDORS[habit.wire]

    found = [item for item in items(folder) if habit.feature in item["features"]]

    assert any(item["stream"] is habit.stream for item in found)


def test_every_habit_that_is_worth_knowing_is_on_the_menu() -> None:
    shown = {habit.feature for habit in QUIRKS.values()}

    assert set(WORTH_KNOWING) == shown | BY_FAULTS


@pytest.mark.parametrize("name", REPLAYED)
def test_a_recorded_answer_passes_through_a_whole_gateway(
    suite: ProviderSuite, name: str, tmp_path: Path
) -> None:
    wire, item = REPLAYED[name]

    failure = suite.run(replay(suite, wire, item), tmp_path)

    assert failure is None


def replay(suite: ProviderSuite, wire: str, item: Item) -> Case:
    """The recorded answer is heard as plain reading finds it, passed through and translated."""
    module, _, _ = VENDORS[wire]
    subject = next(each for each in suite.subjects if each.module == module)
    stream = bool(item["stream"])

    async def run(bench: ProviderHarness) -> None:
        wanted = plain_readers.read(wire, answer(item), stream=stream)
        for route in two_ways(subject):
            received = build_request(subject, route, stream=stream, tools=bool(wanted.calls))
            scene = MockAnswer(dialect=route.dialect, stream=stream)
            written = await bench.ask(received, scene.response([answer(item)]))
            found = read_answer(subject, route, written, stream=stream)
            assert (found.text, list(found.calls)) == (wanted.text, wanted.calls), str(route)

    return Case(name=named(item), advice="Read it.", run=run)


def two_ways(subject: ProviderUnderTest) -> list[Route]:
    """A client whose bytes are passed through, and one who is answered by way of the hub."""
    ways = subject.routes()
    return [
        next(way for way in ways if way.passes_through),
        next(way for way in ways if not way.passes_through),
    ]
