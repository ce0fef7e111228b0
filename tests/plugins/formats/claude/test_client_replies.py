"""Whole answers of any vendor for a client of this format, and odd answers of this vendor."""

import json
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.beta import BetaMessage
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Choice,
    Citation,
    ClientSide,
    Conversation,
    Finish,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    VendorSide,
    unseal,
    unseal_id,
)


def replying(*parts: AnyPart, **more: Any) -> Reply:
    choice = Choice(
        parts=parts,
        finish=more.pop("finish", "stop"),
        stop_sequence=more.pop("stop_sequence", None),
        extra=more.pop("late", {}),
        logprobs=more.pop("logprobs", None),
    )
    return Reply(**{"id": "r1", "model": "m", "choices": (choice,), **more})


def shown(client: ClientSide, reply: Reply) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    body = client.write_reply(reply, Conversation(model="asked"), losses)
    Message.model_validate_json(body)
    return json.loads(body), list(losses.names)


def test_the_least_answer(client: ClientSide) -> None:
    written, losses = shown(client, replying(Text(text="hi")))

    assert written == {
        "id": "msg_r1",
        "type": "message",
        "role": "assistant",
        "model": "asked",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }
    assert losses == []


def test_an_id_of_the_usual_kind_stays(client: ClientSide) -> None:
    assert shown(client, replying(id="msg_1"))[0]["id"] == "msg_1"


def test_a_model_without_a_name_is_the_one_that_was_asked(client: ClientSide) -> None:
    assert shown(client, replying(model=""))[0]["model"] == "asked"


def test_cached_tokens_stand_beside_the_fresh_ones(client: ClientSide) -> None:
    usage = Usage(
        input_tokens=100,
        output_tokens=50,
        cached_tokens=60,
        cache_write_tokens=30,
        reasoning_tokens=20,
    )

    assert shown(client, replying(usage=usage))[0]["usage"] == {
        "input_tokens": 10,
        "output_tokens": 50,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 60,
        "output_tokens_details": {"thinking_tokens": 20},
    }


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("tool_calls", "tool_use"),
        ("content_filter", "refusal"),
        ("refusal", "refusal"),
        ("pause", "pause_turn"),
    ],
)
def test_why_an_answer_ended(client: ClientSide, finish: Finish, reason: str) -> None:
    written, losses = shown(client, replying(Text(text="a"), finish=finish))

    assert (written["stop_reason"], losses) == (reason, [])


def test_a_vendors_failure_behind_its_beginning_is_recorded(client: ClientSide) -> None:
    written, losses = shown(client, replying(Text(text="a"), finish="error"))

    assert (written["stop_reason"], losses) == ("refusal", ["finish"])


def test_a_stop_that_means_more(client: ClientSide) -> None:
    call = ToolCall(id="t", name="look")

    assert shown(client, replying(call))[0]["stop_reason"] == "tool_use"
    assert shown(client, replying(Refusal(text="no")))[0]["stop_reason"] == "refusal"
    met, _ = shown(client, replying(Text(text="a"), stop_sequence="###"))
    assert (met["stop_reason"], met["stop_sequence"]) == ("stop_sequence", "###")


def test_the_vendors_own_reason_survives(client: ClientSide, vendor: VendorSide) -> None:
    for reason in ("model_context_window_exceeded", "compaction", "pause_turn"):
        body: dict[str, Any] = {"content": [], "stop_reason": reason}

        reply = vendor.read_reply(json.dumps(body).encode())
        written, losses = shown_as_beta(client, reply)

        assert (written["stop_reason"], losses) == (reason, [])


def shown_as_beta(client: ClientSide, reply: Reply) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    body = client.write_reply(reply, Conversation(), losses)
    BetaMessage.model_validate_json(body)
    return json.loads(body), list(losses.names)


def test_another_dialects_member_of_the_same_name_is_not_taken_for_ones_own(
    client: ClientSide,
) -> None:
    late = {"stop_reason": Raw(b'"</s>"'), "container": Raw(b'"c"'), "index": Raw(b"0")}

    written, losses = shown(client, replying(Text(text="a"), late=late, extra={"x": Raw(b"1")}))

    assert written["stop_reason"] == "end_turn"
    assert "container" not in written
    assert losses == ["container", "index", "x"]


def test_refusals_are_words(client: ClientSide) -> None:
    written, losses = shown(client, replying(Refusal(text="I won't"), finish="refusal"))

    assert written["content"] == [{"type": "text", "text": "I won't"}]
    assert losses == []


def test_the_vendors_explanation_of_a_refusal_is_a_part_for_others_and_a_member_for_its_own(
    client: ClientSide, vendor: VendorSide
) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "not that"}
    body = {"content": [], "stop_reason": "refusal", "stop_details": details}

    reply = vendor.read_reply(json.dumps(body).encode())
    written, losses = shown(client, reply)

    (part,) = reply.choices[0].parts
    assert isinstance(part, Refusal)
    assert part.text == "not that"
    assert written["content"] == []
    assert written["stop_details"] == details
    assert losses == []


@pytest.mark.parametrize("details", [None, {"type": "refusal"}, "x", {"explanation": 3}])
def test_a_refusal_without_an_explanation_has_no_part(vendor: VendorSide, details: Any) -> None:
    body = {"content": [], "stop_reason": "refusal", "stop_details": details}

    assert vendor.read_reply(json.dumps(body).encode()).choices[0].parts == ()


def test_thinking_carries_its_proof_with_its_origin(client: ClientSide) -> None:
    written, losses = shown(
        client,
        replying(
            Reasoning(text="hm", signature="s", origin="gemini"),
            Reasoning(text="unsigned"),
            Reasoning(sealed="enc", origin="v"),
            Reasoning(text="sum", sealed="enc", id="rs", summary=True, origin="gpt"),
            Reasoning(sealed="enc", id="rs", origin="gpt"),
            Reasoning(),
        ),
    )

    first, second, third, fourth, fifth = written["content"]
    assert (first["thinking"], unseal(first["signature"])) == ("hm", ("gemini", "s"))
    assert second == {"type": "thinking", "thinking": "unsigned", "signature": ""}
    assert (third["type"], unseal(third["data"])) == ("redacted_thinking", ("v", "enc"))
    assert unseal_id(fourth["signature"])[1:] == (
        "gpt",
        None,
        (Reasoning(sealed="enc", id="rs", summary=True, origin="gpt"),),
    )
    assert unseal_id(fifth["data"])[3] == (Reasoning(sealed="enc", id="rs", origin="gpt"),)
    assert losses == []


def test_calls(client: ClientSide) -> None:
    written, losses = shown(
        client,
        replying(
            ToolCall(id="t1", name="look", arguments='{"a": 1}'),
            ToolCall(id="t2", name="look", signature="s", origin="gemini"),
            ToolCall(id="", name="look", arguments="junk", extra={"x": Raw(b"1")}),
        ),
    )

    first, second, third = written["content"]
    assert first == {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}
    assert unseal_id(second["id"]) == ("t2", "gemini", "s", ())
    assert (third["id"], third["input"]) == ("toolu_r1_2", {"input": "junk"})
    assert losses == ["x", "arguments"]


def test_citations(client: ClientSide) -> None:
    own = Citation(
        raw=Raw(
            b'{"type":"char_location","cited_text":"w","document_index":0,'
            b'"start_char_index":0,"end_char_index":1}'
        ),
        dialect="claude",
    )
    written, losses = shown(
        client,
        replying(
            Text(
                text="a",
                citations=(
                    own,
                    Citation(url="https://a", title="A", quote="q"),
                    Citation(title="B"),
                ),
            )
        ),
    )

    first, second = written["content"][0]["citations"]
    assert first["type"] == "char_location"
    assert second == {
        "type": "web_search_result_location",
        "url": "https://a",
        "title": "A",
        "cited_text": "q",
        "encrypted_index": "",
    }
    assert losses == ["citations"]


def test_what_cannot_be_shown_is_recorded(client: ClientSide) -> None:
    written, losses = shown(
        client,
        replying(
            Text(text="", citations=()),
            Text(text="a", signature="s", origin="gemini"),
            Media(kind="image", data="QQ=="),
            Foreign(dialect="gemini", type="executableCode", raw=Raw(b"{}")),
            logprobs=Raw(b"{}"),
        ),
    )

    assert written["content"] == [{"type": "text", "text": "a"}]
    assert losses == ["reasoning_signature", "image", "part:executableCode", "logprobs"]


def test_only_the_first_choice_is_shown(client: ClientSide) -> None:
    two = (Choice(parts=(Text(text="a"),)), Choice(parts=(Text(text="b"),)))

    written, losses = shown(client, Reply(id="r", model="m", choices=two))

    assert written["content"] == [{"type": "text", "text": "a"}]
    assert losses == ["candidates"]
    assert shown(client, Reply(id="r", model="m", choices=()))[0]["content"] == []


def test_other_members_of_this_dialect_are_kept(client: ClientSide, vendor: VendorSide) -> None:
    body: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "tool_use", "id": "t", "name": "n", "input": {}, "caller": {"type": "x"}}
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "context_management": {"applied_edits": []},
        "diagnostics": {"cache_miss_reason": None},
        "container": None,
    }

    losses = Losses()
    reply = vendor.read_reply(json.dumps(body).encode())
    written = json.loads(client.write_reply(reply, Conversation(), losses))

    assert written["content"] == body["content"]
    assert written["context_management"] == {"applied_edits": []}
    assert written["diagnostics"] == {"cache_miss_reason": None}
    assert "container" not in written
    assert not losses


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -1, "output_tokens": 1e3},
        {"input_tokens": 10**12, "output_tokens": True},
        {"input_tokens": "7", "output_tokens": None, "output_tokens_details": 3},
    ],
)
def test_counts_that_make_no_sense_are_not_counted(vendor: VendorSide, usage: Any) -> None:
    body = {"content": [], "usage": usage}

    assert vendor.read_reply(json.dumps(body).encode()).usage is None


def test_an_answer_without_counts_has_none(vendor: VendorSide) -> None:
    assert vendor.read_reply(b'{"content":[]}').usage is None


def test_thinking_tokens_are_part_of_the_output(vendor: VendorSide) -> None:
    counts = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}}

    usage = vendor.read_reply(json.dumps({"content": [], "usage": counts}).encode()).usage

    assert usage == Usage(output_tokens=9, reasoning_tokens=5)


RUBBISH = [
    b"",
    b"<html>",
    b"[]",
    b"null",
    b"{}",
    b'{"content":3}',
    b'{"content":["x"]}',
    b'{"content":[{}]}',
    b'{"content":[{"type":"text","text":3}]}',
    b'{"content":[],"usage":"many"}',
    b'{"content":[{"type":"text","text":"\xff"}]}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_an_upstream_error(vendor: VendorSide, body: bytes) -> None:
    with pytest.raises(UpstreamError) as failed:
        vendor.read_reply(body)

    assert failed.value.status == 502


def test_an_error_that_came_as_a_success(vendor: VendorSide) -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}

    with pytest.raises(UpstreamError, match="Busy") as failed:
        vendor.read_reply(json.dumps(body).encode())

    assert (failed.value.status, failed.value.kind) == (529, "overloaded_error")
