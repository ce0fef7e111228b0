"""Marks for the vendor's cache: how many it takes, and where."""

from claude_conversations import SCHEMA, Tell, answered, asking
from msgspec import Raw

from gateway_core import Reasoning, Text, Tool


def marked(count: int, lifetime: str = "5m") -> tuple[Text, ...]:
    return tuple(Text(text=str(n), cache=lifetime) for n in range(count))


def test_four_breakpoints_are_kept_and_the_earliest_beyond_go(tell: Tell) -> None:
    tools = (Tool(name="look", schema=SCHEMA, cache="5m"),)

    written, losses = tell(asking(*marked(4), tools=tools))

    assert "cache_control" not in written["tools"][0]
    assert all("cache_control" in block for block in written["messages"][0]["content"])
    assert losses == ["cache_control"]


def test_a_marker_for_the_whole_request_counts(tell: Tell) -> None:
    written, losses = tell(
        asking(*marked(4), dialect="claude", extra={"cache_control": Raw(b'{"type":"ephemeral"}')})
    )

    assert [("cache_control" in b) for b in written["messages"][0]["content"]] == [
        False,
        True,
        True,
        True,
    ]
    assert losses == ["cache_control"]


def test_a_long_breakpoint_behind_a_short_one_is_shortened(tell: Tell) -> None:
    written, losses = tell(asking(Text(text="a", cache="5m"), Text(text="b", cache="1h")))

    assert written["messages"][0]["content"][1]["cache_control"] == {"type": "ephemeral"}
    assert losses == ["cache_control"]


def test_a_breakpoint_on_thinking_is_recorded(tell: Tell) -> None:
    thinking = Reasoning(text="hm", signature="s", origin="~claude", cache="5m")

    assert tell(answered(thinking, Text(text="a")))[1] == ["cache_control"]
