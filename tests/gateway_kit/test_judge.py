"""What the strict readers of clients' answers find fault with."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_kit.installed_formats import build_registry, format_plugins
from gateway_kit.mock_vendor import CONTENTS, DIALECTS, MockAnswer
from gateway_kit.mock_vendor.format_dialect import dialect_from_format
from gateway_kit.providers.judge import faults

CLIENTS = ("openai", "claude", "gemini", "ollama", "openai-responses")
FORMATS = build_registry(format_plugins()).formats


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", ["text", "tool", "tools"])
@pytest.mark.parametrize("client", CLIENTS)
def test_what_the_formats_write_is_sound(client: str, name: str, stream: bool) -> None:
    dialect = dialect_from_format(FORMATS[client])
    assert dialect is not None
    answer = MockAnswer(dialect=dialect, content=CONTENTS[name], stream=stream)

    assert faults(client, answer.body(), CONTENTS[name], stream=stream) == []


def spoil_whole(client: str, change: Callable[[Any], None]) -> list[str]:
    answer = json.loads(MockAnswer(dialect=DIALECTS[client], content=CONTENTS["tools"]).body())
    change(answer)
    return faults(client, json.dumps(answer).encode(), CONTENTS["tools"], stream=False)


def test_an_id_that_two_calls_share_is_found() -> None:
    def same(answer: Any) -> None:
        for call in answer["choices"][0]["message"]["tool_calls"]:
            call["id"] = "call_1"

    assert spoil_whole("openai", same) == ["2 of them have the call id 'call_1'"]


def test_a_wrong_reason_to_end_is_found() -> None:
    def stop(answer: Any) -> None:
        answer["stop_reason"] = "end_turn"

    assert spoil_whole("claude", stop) == ["the reason to end is 'end_turn', not 'tool_use'"]


def test_a_member_of_another_kind_is_found() -> None:
    def text(answer: Any) -> None:
        answer["created"] = "now"

    assert spoil_whole("openai", text) == ["created is 'now'"]


def test_tokens_that_do_not_add_up_are_found() -> None:
    def more(answer: Any) -> None:
        answer["usage"]["total_tokens"] = 20

    assert spoil_whole("openai", more) == ["the total is 20, not 19"]


def test_a_stream_that_ends_twice_is_found() -> None:
    answer = MockAnswer(dialect=DIALECTS["openai"], stream=True)
    frames = [frame.data for frame in answer.frames() for _ in range(1 + (frame.role == "finish"))]

    assert "it ends 2 times" in faults("openai", b"".join(frames), answer.content, stream=True)


def test_events_out_of_order_are_found() -> None:
    answer = MockAnswer(dialect=DIALECTS["claude"], stream=True)
    *rest, delta, stop = answer.pieces()

    [fault] = faults("claude", b"".join([*rest, stop, delta]), answer.content, stream=True)

    assert fault.startswith("the events are message_start")
