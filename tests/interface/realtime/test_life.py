"""What ends a response or a session: the client, a limit, a slow reader, a stop."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from custom_node import add_node, without_models
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import running, vendor
from other_servers import until
from realtime_client import (
    ENDING,
    MODEL,
    SERVERS,
    Session,
    begins,
    chunk,
    place,
    refuses,
    says,
)
from streaming_clients import statuses
from websockets.exceptions import InvalidStatus

from gateway_realtime import completion

NewKey = Callable[..., tuple[str, str]]
AWAY = {"x-forwarded-for": "203.0.113.9"}


@pytest.mark.parametrize("server", SERVERS)
def test_a_response_may_be_cancelled(tmp_path: Path, server: str) -> None:
    with place(server, tmp_path, begins) as here, Session(here) as session:
        session.event("session.created")
        session.ask()
        session.until("response.output_text.delta")
        session.send("response.create")
        busy = session.refusal()
        session.send("response.cancel")
        done, last = session.until("response.done")
        until(lambda: here.vendors["openai"].gone == 1)
        [row] = here.rows()
        here.vendors["openai"].script = says
        session.send("response.create")
        again = session.until("response.done")[-1]
        sent = here.vendors["openai"].received[-1].json()

    assert busy[0] == "response_in_progress"
    assert (done["type"], done["text"]) == ("response.output_text.done", "Hello")
    assert last["response"]["status"] == "cancelled"
    assert last["response"]["output"][0]["content"][0]["text"] == "Hello"
    assert row.status == "client_gone"
    assert again["response"]["status"] == "completed"
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize("way", ["close", "abort"])
@pytest.mark.parametrize("server", SERVERS)
def test_a_client_that_leaves_ends_the_vendors_answer_and_is_charged(
    tmp_path: Path, server: str, way: str
) -> None:
    with place(server, tmp_path, begins) as here:
        session = Session(here)
        session.event("session.created")
        session.ask()
        session.until("response.output_text.delta")
        if way == "close":
            session.socket.close()
        else:
            session.socket.socket.close()
        until(lambda: here.vendors["openai"].gone == 1)
        until(lambda: len(here.rows()) == 1)
        [row] = here.rows()

    assert row.status == "client_gone"
    assert row.input_tokens > 0
    assert row.output_tokens > 0


def test_a_vendors_refusal_fails_the_response(tmp_path: Path) -> None:
    with place("uvloop", tmp_path, refuses) as here, Session(here) as session:
        session.event("session.created")
        session.ask()
        _, error, done = session.until("response.done")
        [row] = here.rows()

    assert error["error"]["code"] == "bad"
    assert "No such thing" in error["error"]["message"]
    assert done["response"]["status"] == "failed"
    assert row.http_status == 422


def test_an_answer_that_breaks_off_fails_the_response(tmp_path: Path) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(chunk("Hello"), cut=True)

    with place("uvloop", tmp_path, script) as here, Session(here) as session:
        session.event("session.created")
        session.ask()
        *_, error, text, done = session.until("response.done")

    assert error["type"] == "error"
    assert text["text"] == "Hello"
    assert done["response"]["status"] == "failed"


def test_another_model_of_a_combo_answers_in_the_place_of_one_that_fails(
    tmp_path: Path, add_combo: Callable[..., None]
) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        return MockResponse(status=500) if received.json()["model"] == "first" else says(received)

    with place("uvloop", tmp_path, script) as here:
        add_combo(here, "both", "v-openai/first", "v-openai/second")
        with Session(here, "?model=both") as session:
            session.event("session.created")
            session.ask()
            done = session.until("response.done")[-1]

    assert done["response"]["status"] == "completed"


def test_a_keys_policy_and_limits_hold_for_each_response(tmp_path: Path, new_key: NewKey) -> None:
    with place("uvloop", tmp_path) as here:
        id, key = new_key(here, rpmLimit=2, allowedModels=[MODEL])
        with Session(here, additional_headers={**AWAY, "x-api-key": key}) as session:
            session.event("session.created")
            session.send("session.update", session={"model": "v-openai/other"})
            session.event("session.updated")
            session.ask()
            denied = session.until("response.done")[1]["error"]
            session.send("session.update", session={"model": MODEL})
            session.event("session.updated")
            ends = []
            for _ in range(3):
                session.send("response.create")
                ends.append(session.until("response.done")[-2:])
        rows = here.rows()

    assert denied["type"] == "permission_error"
    assert "not allowed" in denied["message"]
    assert [done["response"]["status"] for _, done in ends] == ["completed", "completed", "failed"]
    assert ends[-1][0]["error"]["code"] == "rate_limit_exceeded"
    assert all(row.api_key_id == id for row in rows)


def test_a_session_keeps_so_many_items_and_its_system_messages(tmp_path: Path) -> None:
    variables = {"REALTIME_MAX_SESSION_ITEMS": "3"}
    with (
        place("uvloop", tmp_path, variables=variables) as here,
        Session(here) as session,
    ):
        session.event("session.created")
        for role, text in [("system", "s"), *(("user", f"u{n}") for n in range(5))]:
            session.send("conversation.item.create", item={"role": role, "content": text})
            session.event("conversation.item.created")
        session.send("response.create")
        session.until("response.done")
        sent = here.vendors["openai"].received[-1].json()
        codes = []
        for _ in range(4):
            session.send("conversation.item.create", item={"role": "system", "content": "t"})
            event = session.event()
            codes.append(event.get("error", {}).get("code"))

    assert [each["content"] for each in sent["messages"]] == ["s", "u3", "u4"]
    assert codes == [None, None, "session_item_limit", "session_item_limit"]


def test_what_a_session_holds_is_bounded_in_bytes(tmp_path: Path) -> None:
    with place("uvloop", tmp_path) as here, Session(here) as session:
        session.event("session.created")
        for n in range(6):
            item = {"role": "user", "content": str(n) * 1_000_000}
            session.send("conversation.item.create", item=item)
            session.event("conversation.item.created")
        session.send("response.create")
        session.until("response.done")
        sent = here.vendors["openai"].received[-1].json()

    assert [each["content"][0] for each in sent["messages"]] == ["2", "3", "4", "5"]


def test_the_length_of_a_message_is_a_process_variable(tmp_path: Path) -> None:
    variables = {"REALTIME_MAX_FRAME_BYTES": "2000"}
    with (
        place("own hypercorn", tmp_path, variables=variables) as here,
        Session(here) as session,
    ):
        session.event("session.created")
        session.socket.send(json.dumps({"type": "x" * 2000}))
        closing = session.closing()

    assert closing[0] == 1009


class Counted(tuple[bytes, ...]):
    """Pieces of an answer, of which is known how many the vendor has begun to send."""

    sent = 0

    def __iter__(self) -> Iterator[bytes]:
        self.sent = 0  # The vendor goes through them once more to find out how long they are.
        for piece in super().__iter__():
            self.sent += 1
            yield piece


def stands_still(counted: Counted) -> bool:
    """Whether the vendor has sent nothing for a moment."""
    before = counted.sent
    time.sleep(0.3)
    return counted.sent == before


@pytest.mark.parametrize("server", SERVERS[:2])
def test_a_client_that_does_not_read_stops_the_vendor(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "MAX_LENGTH", 100_000_000)
    pieces = Counted([*[chunk("x" * 10_000)] * 4000, *ENDING])

    def script(received: ReceivedRequest) -> MockResponse:
        return MockResponse(pieces, content_type="text/event-stream", chunked=True)

    with place(server, tmp_path, script) as here, Session(here) as session:
        session.event("session.created")
        session.ask()
        session.event("response.created")
        until(lambda: stands_still(pieces))
        before = pieces.sent
        size = len("".join(each.get("delta", "") for each in session.until("response.done")))

    assert before < len(pieces)
    assert size == 4000 * 10_000
    assert pieces.sent == len(pieces)


def talk(session: Session) -> None:
    session.event("session.created")
    session.ask()
    session.until("response.output_text.delta")


SLOW = (chunk("a"), chunk("b"), *ENDING)


@pytest.mark.parametrize("server", ["fast", "hypercorn"])
def test_on_a_stop_a_response_is_finished_and_every_socket_closed_with_1001(
    tmp_path: Path, server: str
) -> None:
    @without_models
    def slow(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(*SLOW, pause=0.3)

    with vendor(slow) as lab, running(tmp_path, "--server", server) as here:
        add_node(here, tmp_path, lab)
        with Session(here, "?model=lab/m") as idle, Session(here, "?model=lab/m") as busy:
            idle.event("session.created")
            talk(busy)
            here.process.send_signal(signal.SIGTERM)
            quiet = idle.closing()
            last = busy.until("response.done")[-1]
            closing = busy.closing()
        assert here.process.wait(20) == 0

    assert quiet == closing == (1001, "The gateway is stopping")
    assert last["response"]["status"] == "completed"
    assert statuses(tmp_path) == ["ok"]


@pytest.mark.parametrize("server", ["fast", "hypercorn"])
def test_when_the_time_of_a_stop_is_up_sockets_are_closed(tmp_path: Path, server: str) -> None:
    short = {"GATEWAY_DRAIN_MS": "300"}
    with vendor(begins) as lab, running(tmp_path, "--server", server, variables=short) as here:
        add_node(here, tmp_path, lab)
        with Session(here, "?model=lab/m") as busy:
            talk(busy)
            begun = time.monotonic()
            here.process.send_signal(signal.SIGTERM)
            code, _ = busy.closing()
        assert here.process.wait(20) == 0

    assert time.monotonic() - begun < 15
    assert code in ((1001,) if server == "fast" else (1001, 1006, 1011, 1012))
    assert len(statuses(tmp_path)) == 1


def test_a_gateway_that_is_short_of_memory_opens_no_socket(tmp_path: Path) -> None:
    with place("uvloop", tmp_path) as here:
        here.gateway.core.state.is_full = True

        with pytest.raises(InvalidStatus) as refused:
            Session(here)

    assert refused.value.response.status_code == 503


def test_an_answer_without_an_end_is_ended(tmp_path: Path) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(*[chunk("x" * 100_000)] * 60, hang=True)

    with place("uvloop", tmp_path, script) as here, Session(here) as session:
        session.event("session.created")
        session.ask()
        *_, error, text, done = session.until("response.done")
        until(lambda: here.vendors["openai"].gone == 1)

    assert error["error"]["message"] == "The answer is too long"
    assert len(text["text"]) < 5_000_000
    assert done["response"]["status"] == "failed"
