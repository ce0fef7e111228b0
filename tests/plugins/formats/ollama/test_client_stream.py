"""What a client gets of any vendor's answer, whole and streamed."""

from typing import Any

import msgspec
import pytest
from gateway_format_ollama import OLLAMA
from msgspec import Raw

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyStarted,
    Text,
    ToolCall,
    unseal_id,
)
from gateway_formats.fold import unfold

ASKED = Conversation(model="box/gemma3")
HUB_LOGPROBS = Raw(b'{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}]}')


def written(client: ClientSide, *parts: Any, **members: Any) -> tuple[dict[str, Any], list[str]]:
    """A whole answer of these parts: what it says, and what it does not."""
    losses = Losses()
    reply = Reply(id="r", model="m", created=0, choices=(Choice(parts=parts, **members),))
    body = msgspec.json.decode(client.write_reply(reply, ASKED, losses))
    assert streamed(client, reply) == (body, list(losses.names))
    return body, list(losses.names)


def streamed(client: ClientSide, reply: Reply) -> tuple[dict[str, Any], list[str]]:
    """The same answer as a stream, put together line by line."""
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)
    stream = writer.feed(unfold(reply)) + writer.close()
    rows = [msgspec.json.decode(line) for line in stream.splitlines()]
    body: dict[str, Any] = {**rows[-1], "message": {"role": "assistant", "content": ""}}
    for row in rows:
        for name, value in row["message"].items():
            if name != "role":
                held = body["message"].get(name)
                body["message"][name] = value if held is None else held + value
        if "logprobs" in row:
            body["logprobs"] = body.get("logprobs", []) + row["logprobs"]
    return body, list(losses.names)


def test_an_answer_of_any_vendor_is_written_whole(client: ClientSide) -> None:
    call = ToolCall(id="c1", name="f", arguments='{"a":1}')
    body, losses = written(client, Reasoning(text="Hm"), Text(text="Hi"), call, finish="tool_calls")

    assert body == {
        "model": "m",
        "created_at": "1970-01-01T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "Hi",
            "thinking": "Hm",
            "tool_calls": [
                {"id": "c1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
            ],
        },
        "done_reason": "stop",
        "done": True,
    }
    assert losses == []


def test_a_model_that_the_vendor_does_not_name_is_the_one_asked_for(client: ClientSide) -> None:
    body = client.write_reply(Reply(id="r", model="", choices=()), ASKED, Losses())

    assert msgspec.json.decode(body)["model"] == "box/gemma3"


@pytest.mark.parametrize("created", [None, 10**18, -(10**18)])
def test_a_time_that_is_none_is_the_beginning_of_time(client: ClientSide, created: Any) -> None:
    reply = Reply(id="r", model="m", created=created, choices=())

    body = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert body["created_at"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        (Text(text="a", citations=(Citation(url="u"),)), ["citations"]),
        (Refusal(text="No"), ["refusal"]),
        (Foreign(dialect="d", type="t", raw=Raw(b"{}")), ["part:t"]),
        (Media(kind="audio", data="AAAA"), ["audio"]),
        (Media(kind="image", url="https://a"), ["image"]),
        (Media(kind="image", data="AAAA"), ["image"]),
        (Reasoning(text="a", signature="s", origin="p"), ["reasoning_signature"]),
        (Reasoning(text="a"), []),
    ],
)
def test_what_a_client_does_not_get_is_recorded(
    client: ClientSide, part: Any, lost: list[str]
) -> None:
    assert written(client, part)[1] == lost


def test_only_the_first_of_several_answers_is_given(client: ClientSide) -> None:
    choices = (Choice(parts=(Text(text="a"),)), Choice(parts=(Text(text="b"),)))
    reply = Reply(id="r", model="m", choices=choices)
    losses = Losses()

    body = msgspec.json.decode(client.write_reply(reply, ASKED, losses))

    assert body["message"]["content"] == "a"
    assert list(losses.names) == ["candidates"]
    body, lost = streamed(client, reply)
    assert body["message"]["content"] == "a"
    assert lost == ["candidates"]


def test_the_met_stop_sequence_has_no_place(client: ClientSide) -> None:
    assert written(client, Text(text="a"), stop_sequence="END")[1] == ["stop_sequence"]


def test_log_probabilities_are_written_in_rows(client: ClientSide) -> None:
    body, _ = written(client, Text(text="a"), logprobs=HUB_LOGPROBS)

    assert body["logprobs"] == [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]


def test_signed_thinking_travels_in_the_id_of_the_call_after_it(client: ClientSide) -> None:
    first = Reasoning(text="Hm", signature="s1", origin="maker")
    second = Reasoning(sealed="x", origin="maker")
    plain = Reasoning(text="So")
    call = ToolCall(id="c1", name="f", signature="own", origin="maker")
    parts = (first, call, second, ToolCall(id="c2", name="f"), plain, ToolCall(id="c3", name="f"))

    body, losses = written(client, *parts)

    ids = [unseal_id(row["id"]) for row in body["message"]["tool_calls"]]
    assert ids == [
        ("c1", "maker", "own", (first,)),
        ("c2", "maker", None, (second,)),
        ("c3", "", None, ()),
    ]
    assert body["message"]["thinking"] == "HmSo"
    assert losses == []


def test_a_signature_that_comes_late_is_still_carried(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)

    stream = writer.feed(
        [
            ReplyStarted("r", "m"),
            PartStarted(0, Reasoning()),
            PartGrew(0, "Hm"),
            PartSealed(0, "s1", origin="maker"),
            PartEnded(0),
            PartStarted(1, ToolCall(id="c1", name="f")),
            PartGrew(1, '{"a":'),
            PartGrew(1, "1}"),
            PartSealed(1, "s2", origin="maker"),
            PartEnded(1),
        ]
    )

    row = msgspec.json.decode(stream.splitlines()[-1])["message"]["tool_calls"][0]
    thought = Reasoning(text="Hm", signature="s1", origin="maker")
    assert unseal_id(row["id"]) == ("c1", "maker", "s2", (thought,))
    assert row["function"]["arguments"] == {"a": 1}
    assert not losses


def test_a_call_that_its_reader_left_open_is_still_given(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())
    writer.feed([ReplyStarted("r", "m"), PartStarted(0, ToolCall(id="c1", name="f"))])

    rows = [msgspec.json.decode(line) for line in writer.close().splitlines()]

    assert rows[0]["message"]["tool_calls"][0]["id"] == "c1"
    assert rows[1]["done"]


def test_citations_in_a_stream_are_recorded(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(ASKED, losses)

    writer.feed([PartStarted(0, Text(text="")), CitationAdded(0, Citation(url="u"))])

    assert list(losses.names) == ["citations"]


def test_characters_that_split_lines_by_mistake_are_escaped(client: ClientSide) -> None:
    text = "a\u2028b\u2029c\x85d\ne"
    reply = Reply(id="r", model="m", choices=(Choice(parts=(Text(text=text),)),))
    writer = client.stream_writer(ASKED, Losses())

    stream = (writer.feed(unfold(reply)) + writer.close()).decode()

    assert len(stream.splitlines()) == 2
    assert msgspec.json.decode(stream.splitlines()[0])["message"]["content"] == text


def test_the_stream_is_lines_of_json() -> None:
    assert OLLAMA.stream_type == "application/x-ndjson"
    assert OLLAMA.keep_alive is not None
    assert OLLAMA.keep_alive.frame == b" "


def test_calls_are_told_in_the_order_in_which_they_began(client: ClientSide) -> None:
    writer = client.stream_writer(ASKED, Losses())
    first, second = ToolCall(id="a", name="one"), ToolCall(id="b", name="two")
    began = [ReplyStarted("r", "m"), PartStarted(0, first), PartStarted(1, second)]
    early = [PartGrew(1, "{}"), PartEnded(1)]
    late = [PartGrew(0, "{}"), PartEnded(0), ChoiceEnded("tool_calls")]

    stream = writer.feed([*began, *early]) + writer.feed(late) + writer.close()

    assert 0 < stream.index(b'"one"') < stream.index(b'"two"')
