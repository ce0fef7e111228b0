"""The order of turns this vendor insists on."""

import json
from typing import Any

import pytest
from claude_turns import At, Tell, assistant, call, turns, user
from gateway_format_claude.vendor_requests.blocks import make_legal_id
from msgspec import Raw

from gateway_core import AnyPart, Media, PartUnsupported, Text, ToolResult


def result(call_id: str, word: str = "seen") -> tuple[str, tuple[AnyPart, ...]]:
    return "user", (ToolResult(call_id=call_id, content=(Text(text=word),)),)


def shape(written: dict[str, Any]) -> list[Any]:
    """Roles and, per block, its type with its id or text."""
    rows = []
    for message in written["messages"]:
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        keys = ("text", "id", "tool_use_id")
        rows.append((message["role"][0], [next(b[k] for k in keys if k in b) for b in content]))
    return rows


def test_turns_of_one_role_become_one(tell: Tell) -> None:
    written, losses = tell(turns(user("a"), user("b"), assistant(Text(text="c")), user("d")))

    assert shape(written) == [("u", ["a", "b"]), ("a", ["c"]), ("u", ["d"])]
    assert losses == []


def test_a_conversation_begins_with_the_user(tell: Tell) -> None:
    written, _ = tell(turns(assistant(Text(text="hello")), user("a")))

    assert [message["role"] for message in written["messages"]] == ["user", "assistant", "user"]


def test_a_turn_that_cannot_be_sent_leaves_no_gap(tell: Tell) -> None:
    written, losses = tell(
        turns(user("a"), assistant(Text(text="b")), user(" "), assistant(Text(text="c")), user("d"))
    )

    assert shape(written) == [("u", ["a"]), ("a", ["b", "c"]), ("u", ["d"])]
    assert losses == []


def test_a_turn_that_cannot_be_sent_is_refused(tell: Tell) -> None:
    sound = ("user", (Media(kind="audio", data="QQ=="),))

    with pytest.raises(PartUnsupported):
        tell(turns(user("a"), assistant(Text(text="b")), sound))


def test_results_stand_first_behind_their_calls(tell: Tell) -> None:
    written, losses = tell(
        turns(user("a"), assistant(call("1"), call("2")), user("b"), result("2"), result("1"))
    )

    assert shape(written)[2] == ("u", ["2", "1", "b"])
    assert losses == []


def test_a_call_without_a_result_gets_an_error(tell: Tell) -> None:
    written, losses = tell(
        turns(user("a"), assistant(call("1"), call("2")), result("1"), user("b"))
    )

    assert shape(written)[2] == ("u", ["1", "2", "b"])
    assert written["messages"][2]["content"][1]["is_error"] is True
    assert losses == []


def test_a_call_that_nobody_answered_before_the_assistant_went_on_gets_an_error(
    tell: Tell, at: At
) -> None:
    written, _ = tell(
        turns(user("a"), assistant(call("1")), ("system", (Text(text="s"),)), assistant(call("2"))),
        at("claude-opus-4-8"),
    )

    assert shape(written) == [
        ("u", ["a"]),
        ("a", ["1"]),
        ("u", ["1"]),
        ("s", ["s"]),
        ("a", ["2"]),
        ("u", ["2"]),
    ]


def test_a_result_without_a_call_becomes_text(tell: Tell) -> None:
    written, losses = tell(turns(user("a"), assistant(Text(text="b")), result("9", "found")))

    assert shape(written)[2] == ("u", ["found"])
    assert losses == ["tool_result"]


def test_a_result_that_comes_too_late_becomes_text(tell: Tell) -> None:
    written, losses = tell(
        turns(user("a"), assistant(call("1")), user("b"), assistant(Text(text="c")), result("1"))
    )

    assert shape(written)[2:] == [("u", ["1", "b"]), ("a", ["c"]), ("u", ["seen"])]
    assert losses == ["tool_result"]


def test_an_orphans_content_is_kept_in_every_shape(tell: Tell) -> None:
    orphans = (
        ToolResult(call_id="1", content=(Text(text="a"), Media(kind="image", url="https://a"))),
        ToolResult(call_id="2"),
        ToolResult(call_id="3", extra={"content": Raw(b'[{"type":"tool_reference"}]')}),
    )

    written, _ = tell(turns(("user", orphans), dialect="claude"))

    kinds = [block["type"] for block in written["messages"][0]["content"]]
    assert kinds == ["text", "image", "text"]
    assert "tool_reference" in written["messages"][0]["content"][2]["text"]


def test_ids_that_repeat_are_told_apart_with_their_results(tell: Tell) -> None:
    written, losses = tell(
        turns(
            user("a"),
            assistant(call("1"), call("1")),
            result("1", "x"),
            result("1", "y"),
            assistant(call("1")),
            result("1", "z"),
        )
    )

    assert shape(written)[1:] == [
        ("a", ["1", "1_2"]),
        ("u", ["1", "1_2"]),
        ("a", ["1_3"]),
        ("u", ["1_3"]),
    ]
    words = [b["content"] for m in written["messages"][2::2] for b in m["content"]]
    assert words == ["x", "y", "z"]
    assert losses == []


def test_very_many_calls_of_one_id_take_no_time(tell: Tell) -> None:
    many = 20_000

    written, _ = tell(turns(user("a"), assistant(*[call("1")] * many), *[result("1")] * many))

    results = written["messages"][2]["content"]
    assert len({block["tool_use_id"] for block in results}) == many


def test_ids_keep_to_the_vendors_alphabet() -> None:
    ids = ["call:1", "call.1", "functions.look:0", "", "ü", "toolu_1-A"]

    legal = [make_legal_id(one) for one in ids]

    assert len(set(legal)) == len(ids)
    assert all(
        one and all(c.isascii() and (c.isalnum() or c in "_-") for c in one) for one in legal
    )
    assert legal[-1] == ids[-1]


def test_an_illegal_id_is_the_same_in_call_and_result(tell: Tell) -> None:
    written, losses = tell(turns(user("a"), assistant(call("f.x:0")), result("f.x:0")))

    sent = written["messages"][1]["content"][0]["id"]
    assert written["messages"][2]["content"][0]["tool_use_id"] == sent == make_legal_id("f.x:0")
    assert losses == []


def test_parts_go_to_the_turn_of_their_role(tell: Tell) -> None:
    mixed = ("assistant", (Text(text="b"), call("1"), ToolResult(call_id="1"), Text(text="c")))

    written, _ = tell(turns(user("a"), mixed, user("d")))

    assert shape(written) == [
        ("u", ["a"]),
        ("a", ["b", "1"]),
        ("u", ["1"]),
        ("a", ["c"]),
        ("u", ["d"]),
    ]


SYSTEM = ("system", (Text(text="s"),))


def test_a_system_turn_stays_one_where_the_model_takes_it(tell: Tell, at: At) -> None:
    conversation = turns(user("a"), SYSTEM, assistant(Text(text="b")), user("c"), SYSTEM)

    written, losses = tell(conversation, at("claude-opus-4-8"))

    assert shape(written) == [("u", ["a"]), ("s", ["s"]), ("a", ["b"]), ("u", ["c"]), ("s", ["s"])]
    assert losses == []

    written, losses = tell(conversation, at("claude-sonnet-4-5"))

    assert shape(written) == [("u", ["a", "s"]), ("a", ["b"]), ("u", ["c", "s"])]
    assert losses == ["system_turn"]

    assert tell(conversation, at("kimi-k2", system_turns=True))[1] == []


@pytest.mark.parametrize(
    "rows",
    [
        (user("a"), SYSTEM, user("b")),
        (user("a"), assistant(Text(text="b")), SYSTEM, user("c")),
        (SYSTEM, user("a")),
    ],
    ids=["between user turns", "behind the assistant", "first"],
)
def test_a_system_turn_elsewhere_is_user_text(tell: Tell, at: At, rows: Any) -> None:
    written, losses = tell(turns(*rows), at("claude-opus-4-8"))

    assert "system" not in [message["role"] for message in written["messages"]]
    assert '"s"' in json.dumps(written["messages"])
    assert losses == ["system_turn"]


def test_a_system_turn_waits_for_the_results(tell: Tell, at: At) -> None:
    written, losses = tell(
        turns(user("a"), assistant(call("1")), SYSTEM, result("1")), at("claude-opus-4-8")
    )

    assert shape(written) == [("u", ["a"]), ("a", ["1"]), ("u", ["1"]), ("s", ["s"])]
    assert losses == ["system_turn"]


def test_an_image_in_a_system_turn_is_the_users(tell: Tell, at: At) -> None:
    shown = ("system", (Text(text="s"), Media(kind="image", url="https://a")))

    written, _ = tell(turns(user("a"), shown), at("claude-opus-4-8"))

    assert [b["type"] for b in written["messages"][-1]["content"]] == ["text", "text", "image"]
