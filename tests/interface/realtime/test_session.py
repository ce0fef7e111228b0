"""A session with a chat model: every event, in both directions."""

import json
import re
from typing import Any

import pytest
from realtime_client import MODEL, USAGE, USER, WORDS, Session
from served_gateway import Served

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_id(text: str, kind: str) -> bool:
    name, _, rest = text.partition("_")
    return name == kind and UUID.fullmatch(rest) is not None


@pytest.fixture
def session(here: Served) -> Any:
    with Session(here) as opened:
        opened.first = opened.event("session.created")  # type: ignore[attr-defined]
        yield opened


def test_a_session_begins_with_what_it_is(session: Any) -> None:
    shown = session.first["session"]

    assert is_id(shown.pop("id"), "sess")
    assert is_id(session.first["event_id"], "evt")
    assert shown == {
        "model": MODEL,
        "instructions": "",
        "modalities": ["text"],
        "temperature": None,
        "max_output_tokens": None,
    }


def test_without_a_name_the_model_is_the_usual_one(here: Served) -> None:
    with Session(here, "") as opened:
        assert opened.event("session.created")["session"]["model"] == "openai/gpt-4o-mini"


def test_a_session_is_updated(session: Any) -> None:
    wanted = {
        "model": "v-openai/other",
        "instructions": "Be brief.",
        "modalities": ["text"],
        "temperature": 0.6,
        "max_output_tokens": 4096,
    }

    session.send("session.update", session={**wanted, "voice": "alloy", "tools": []})

    shown = session.event("session.updated")["session"]
    assert shown.pop("id") == session.first["session"]["id"]
    assert shown == wanted


BAD_UPDATES: dict[str, Any] = {
    "no session": None,
    "a list": [],
    "a model that is no text": {"model": 1},
    "an empty model": {"model": ""},
    "a null model": {"model": None},
    "null instructions": {"instructions": None},
    "a null temperature": {"temperature": None},
    "a low temperature": {"temperature": 0.59},
    "a high temperature": {"temperature": 1.21},
    "a temperature as text": {"temperature": "1"},
    "a temperature that is a truth": {"temperature": True},
    "modalities as text": {"modalities": "text"},
    "another modality": {"modalities": ["text", "video"]},
    "null tokens": {"max_output_tokens": None},
    "no tokens": {"max_output_tokens": 0},
    "too many tokens": {"max_output_tokens": 4097},
    "a part of a token": {"max_output_tokens": 1.5},
    "infinitely many tokens": {"max_output_tokens": "inf"},
}


@pytest.mark.parametrize("update", BAD_UPDATES.values(), ids=BAD_UPDATES.keys())
def test_an_update_is_applied_whole_or_not_at_all(session: Any, update: Any) -> None:
    if isinstance(update, dict):
        update = {"instructions": "New.", **update}
    session.send("session.update", session=update)

    assert session.refusal()[0] == "invalid_session_update"
    session.send("session.update", session={})
    assert session.event("session.updated")["session"] == session.first["session"]


ITEMS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "of a user": (USER, "user", USER["content"]),
    "without a role": ({"content": "Hi"}, "user", "Hi"),
    "of the system": ({"role": "system", "content": "Be kind."}, "system", "Be kind."),
    "of the assistant": (
        {"role": "assistant", "content": [{"type": "output_text", "text": "Yes?"}]},
        "assistant",
        [{"type": "output_text", "text": "Yes?"}],
    ),
}


@pytest.mark.parametrize(("item", "role", "content"), ITEMS.values(), ids=ITEMS.keys())
def test_an_item_is_added(session: Any, item: dict[str, Any], role: str, content: Any) -> None:
    session.send("conversation.item.create", item=item)

    made = session.event("conversation.item.created")["item"]
    assert is_id(made.pop("id"), "item")
    assert made == {"type": "message", "role": role, "content": content}


BAD_EVENTS: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "invalid JSON event"),
    "deep JSON": ("[" * 100_000, "invalid JSON event"),
    "a list": ("[]", "An event is a JSON object with a type"),
    "no type": ("{}", "An event is a JSON object with a type"),
    "another type": ('{"type":"response.dance"}', "Unknown event type response.dance"),
    "sound": (
        '{"type":"input_audio_buffer.append"}',
        "Unknown event type input_audio_buffer.append",
    ),
    "no item": ('{"type":"conversation.item.create"}', "The item is malformed"),
    "an item of another type": (
        '{"type":"conversation.item.create","item":{"type":"function_call_output"}}',
        "The item is malformed",
    ),
    "an item of another role": (
        '{"type":"conversation.item.create","item":{"role":"tool"}}',
        "The item is malformed",
    ),
    "a part with sound": (
        '{"type":"conversation.item.create","item":{"content":[{"type":"input_audio","text":""}]}}',
        "A part of type input_audio cannot be sent: text only",
    ),
    "nothing to cancel": ('{"type":"response.cancel"}', "There is no response to cancel"),
}


@pytest.mark.parametrize(("sent", "message"), BAD_EVENTS.values(), ids=BAD_EVENTS.keys())
def test_a_bad_event_is_refused_and_the_socket_stays_open(
    session: Any, sent: str, message: str
) -> None:
    session.socket.send(sent)

    code, found = session.refusal()
    assert code == "invalid_request_error"
    assert found.startswith(message)
    session.send("session.update", session={})
    session.event("session.updated")


def test_binary_messages_are_ignored(session: Any) -> None:
    session.socket.send(b'{"type":"session.update","session":{}}')
    session.send("session.update", session={})

    session.event("session.updated")
    session.send("response.cancel")
    session.event("error")


def test_a_response_is_streamed_event_by_event(here: Served, session: Any) -> None:
    session.send("session.update", session={"instructions": "Be brief.", "temperature": 1.0})
    session.event("session.updated")
    session.ask()

    created, *deltas, done, last = session.until("response.done")

    response = created["response"]["id"]
    assert is_id(response, "resp")
    assert created["response"] == {"id": response, "status": "in_progress"}
    assert [each["type"] for each in deltas] == ["response.output_text.delta"] * len(WORDS)
    assert [each["delta"] for each in deltas] == list(WORDS)
    item = done["item_id"]
    assert is_id(item, "item")
    place = {"response_id": response, "item_id": item, "output_index": 0, "content_index": 0}
    for each in (*deltas, done):
        assert {name: each[name] for name in place} == place
    assert (done["type"], done["text"]) == ("response.output_text.done", "".join(WORDS))
    assert last["response"] == {
        "id": response,
        "status": "completed",
        "output": [
            {
                "id": item,
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "".join(WORDS)}],
            }
        ],
        "usage": {
            "input_tokens": USAGE["prompt_tokens"],
            "output_tokens": USAGE["completion_tokens"],
            "total_tokens": USAGE["total_tokens"],
        },
        "finish_reason": "stop",
    }
    sent = here.vendors["openai"].received[-1].json()
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    assert (sent["model"], sent["temperature"], sent["stream"]) == ("m-1", 1.0, True)
    assert "max_tokens" not in sent


def test_the_assistants_turn_joins_the_conversation(here: Served, session: Any) -> None:
    session.ask()
    session.until("response.done")
    session.ask({"content": "And now?"})
    session.until("response.done")

    sent = here.vendors["openai"].received[-1].json()
    assert [(each["role"], each["content"]) for each in sent["messages"]] == [
        ("user", "Hi"),
        ("assistant", "".join(WORDS)),
        ("user", "And now?"),
    ]


def test_a_response_may_have_wishes_of_its_own(here: Served, session: Any) -> None:
    session.send("conversation.item.create", item=USER)
    session.event("conversation.item.created")
    session.send("response.create", response={"instructions": "Shout.", "max_output_tokens": 9})
    session.until("response.done")

    sent = here.vendors["openai"].received[-1].json()
    assert sent["messages"][0] == {"role": "system", "content": "Shout."}
    assert sent["max_tokens"] == 9
    session.send("session.update", session={})
    assert session.event("session.updated")["session"]["instructions"] == ""


def test_a_response_needs_a_message_of_the_user(session: Any) -> None:
    session.send("conversation.item.create", item={"role": "system", "content": "Be kind."})
    session.event("conversation.item.created")
    session.send("response.create")

    assert session.refusal()[0] == "missing_user_turn"


@pytest.mark.parametrize("place", ["session", "response"])
def test_a_response_cannot_be_spoken(session: Any, place: str) -> None:
    spoken = {"modalities": ["text", "audio"]}
    session.send("conversation.item.create", item=USER)
    session.event("conversation.item.created")
    if place == "session":
        session.send("session.update", session=spoken)
        session.event("session.updated")
        session.send("response.create")
    else:
        session.send("response.create", response=spoken)

    assert session.refusal()[0] == "modality_not_supported"


def test_a_model_that_does_not_exist_fails_the_response_and_not_the_socket(session: Any) -> None:
    session.send("session.update", session={"model": "nobody/nothing"})
    session.event("session.updated")
    session.ask()

    created, error, done = session.until("response.done")

    assert error["error"]["code"] == "no_credentials"
    assert done["response"] == {
        "id": created["response"]["id"],
        "status": "failed",
        "output": [],
        "finish_reason": None,
    }
    session.send("session.update", session={"model": MODEL})
    session.event("session.updated")
    session.send("response.create")
    assert session.until("response.done")[-1]["response"]["status"] == "completed"


def test_each_response_is_a_row_of_the_ledger(here: Served, session: Any) -> None:
    before = len(here.rows())
    session.ask()
    session.until("response.done")

    row, *others = here.rows()
    assert len(others) == before
    assert (row.status, row.input_tokens, row.output_tokens) == ("ok", 7, 3)
    assert row.endpoint == "/v1/chat/completions"


def test_an_event_is_as_long_as_the_limit_and_no_longer(session: Any) -> None:
    limit = 1024 * 1024
    empty = json.dumps({"type": "session.update", "session": {"other": ""}})
    longest = empty.replace('""', '"' + "*" * (limit - len(empty)) + '"')
    assert len(longest) == limit

    session.socket.send(longest)
    session.event("session.updated")
    session.socket.send(longest + " ")

    assert session.closing()[0] == 1009


def test_an_event_of_long_characters_is_measured_in_bytes(session: Any) -> None:
    event = json.dumps(
        {"type": "session.update", "session": {"other": "é" * 700_000}}, ensure_ascii=False
    )

    session.socket.send(event)

    assert session.closing()[0] == 1009
