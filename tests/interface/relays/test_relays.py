"""Sessions with a vendor's own models: what passes, what is checked, what is counted."""

import asyncio
import json
import threading
from collections import deque
from contextlib import suppress
from typing import Any

import openai
import pytest
from own_stores import own_stores
from realtime_client import PATIENCE
from vendor_sockets import USAGE, read, realtime, respond, tell
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway_administration.stores.keys import KeyChange

PATH = "/v1/realtime?model=openai/gpt-realtime"
CREATE = '{"type":"response.create"}'


def until_closed(socket) -> tuple[int, str]:
    """How the gateway closes a socket."""
    with suppress(ConnectionClosed):
        while True:
            socket.recv(timeout=PATIENCE)
    return socket.close_code, socket.close_reason


def rows_of(here, account: str) -> list[Any]:
    return [row for row in here.rows() if row.connection_id == account]


# What passes.


def test_messages_pass_as_they_are(here, vendor, dial, hear):
    sockets = vendor("openai", realtime)
    client = dial(PATH, additional_headers={"openai-beta": "realtime=v1", "cookie": "a=b"})
    assert hear(client)["type"] == "session.created"
    odd = (
        '{ "type" : "conversation.item.create",\n "model":7.0, "session":"model",'
        ' "item": {"n": 1.50, "text": "h\\u00e4 ☃"} }'
    )

    client.send(odd)
    client.send(CREATE)
    events = [hear(client) for _ in range(3)]

    assert sockets.heard == [odd, CREATE]
    assert [event["type"] for event in events] == [
        "response.created",
        "response.output_text.delta",
        "response.done",
    ]
    assert events[1]["delta"] == "Hällo"
    (request,) = sockets.requests
    assert request.path == "/v1/realtime?model=gpt-realtime"
    assert request.headers["authorization"] == "Bearer vendor-key"
    assert request.headers["openai-beta"] == "realtime=v1"
    assert "cookie" not in request.headers


# The client opens its own library's sockets in a way that the library will drop.
@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager")
def test_the_vendors_own_client_is_served(here, vendor):
    vendor("openai", realtime)
    client = openai.OpenAI(base_url=f"{here.url}/v1", api_key="placeholder")

    with client.realtime.connect(model="openai/gpt-realtime") as connection:
        assert connection.recv().type == "session.created"
        connection.session.update(session={"type": "realtime", "model": "openai/gpt-realtime"})
        assert connection.recv().type == "session.updated"
        connection.response.create()
        events = [connection.recv() for _ in range(3)]

    assert events[-1].type == "response.done"
    assert events[-1].response.usage.output_tokens == 148


def test_a_response_is_in_the_ledger_before_its_end_is_sent(here, vendor, dial, hear):
    sockets = vendor("openai", realtime)
    client = dial(PATH)

    client.send(CREATE)
    while hear(client)["type"] != "response.done":
        pass

    (row,) = rows_of(here, sockets.account)
    assert (row.endpoint, row.status, row.provider, row.model_sent) == (
        "/v1/realtime",
        "ok",
        "openai",
        "gpt-realtime",
    )
    assert (row.input_tokens, row.output_tokens, row.cached_tokens) == (127, 148, 64)


def test_a_response_that_is_reported_twice_is_counted_once(here, vendor, dial, hear):
    def twice(connection):
        respond(connection, 1)
        done = {"id": "resp_1", "usage": USAGE}
        tell(connection, "response.done", response=done)
        respond(connection, 2)
        read(connection)

    sockets = vendor("openai", twice)
    client = dial(PATH)
    for _ in range(7):
        hear(client)

    assert len(rows_of(here, sockets.account)) == 2


# Models.


def test_the_providers_name_is_taken_off_a_models_and_nothing_else_changes(
    here, vendor, dial, hear
):
    sockets = vendor("openai", realtime)
    client = dial(PATH)
    text = (
        '{"type":"session.update", "session":{"model" : "openai/gpt-realtime",'
        '"instructions":"say openai/gpt-realtime",'
        '"audio":{"input":{"transcription":{"model":"openai/gpt-4o-transcribe"}}},"x":1e3}}'
    )

    client.send(text)
    assert hear(client)["type"] == "session.created"
    assert hear(client)["type"] == "session.updated"

    assert sockets.heard == [
        text.replace('"openai/gpt-realtime"', '"gpt-realtime"').replace(
            '"openai/gpt-4o-transcribe"', '"gpt-4o-transcribe"'
        )
    ]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "session.update", "session": {"model": "gpt-realtime-mini"}},
        {
            "type": "session.update",
            "session": {"audio": {"input": {"transcription": {"model": "whisper-1"}}}},
        },
        {"type": "response.create", "response": {"model": "openai/gpt-realtime-mini"}},
        {
            "type": "session.update",
            "session": {"tools": [{"type": "x"}, {"type": "advisor", "model": "o3"}]},
        },
        {"type": "session.update", "session": {"model": "anthropic/claude-sonnet-4-5"}},
    ],
    ids=["session", "transcription", "response", "tool", "another provider"],
)
def test_a_model_that_the_key_may_not_use_closes_the_socket(here, vendor, dial, new_key, event):
    sockets = vendor("openai", realtime)
    _, key = new_key(here, allowedModels=["openai/gpt-realtime"])
    client = dial(f"{PATH}&key={key}")

    client.send(json.dumps(event))

    assert until_closed(client)[0] == 4001
    assert sockets.heard == []


@pytest.mark.parametrize(
    "message",
    [
        "{",
        "[1]",
        '"text"',
        "",
        b"\xff",
        '{"type":"session.update","session":{"model":"a","model":"b"}}',
        '{"type":"session.update","session":{"model":"a","\\u006dodel":"b"}}',
        '{"type":"session.update","Session":{"model":"gpt-realtime-mini"}}',
        '{"type":"session.update","session":{"Model":"gpt-realtime-mini"}}',
    ],
    ids=[
        *("cut", "list", "text", "empty", "binary", "twice", "twice with an escape"),
        *("capitals on the way", "capitals"),
    ],
)
def test_what_is_no_event_closes_the_socket(here, vendor, dial, message):
    sockets = vendor("openai", realtime)
    client = dial(PATH)

    client.send(message)

    assert until_closed(client)[0] == 1007
    assert sockets.heard == []


def test_the_models_price_is_that_of_the_address(here, vendor, dial, hear):
    sockets = vendor("openai", realtime)
    client = dial(PATH)
    client.send('{"type":"session.update","session":{"model":"gpt-realtime-mini"}}')
    client.send(CREATE)
    while hear(client)["type"] != "response.done":
        pass

    (row,) = rows_of(here, sockets.account)
    assert row.model_sent == "gpt-realtime"


def test_a_response_that_is_asked_for_and_left_at_once_is_counted(here, vendor, dial, hear):
    def late(connection):
        tell(connection, "session.created")
        assert read(connection)["type"] == "response.create"
        assert read(connection)["type"] == "response.cancel"
        respond(connection, 1)
        connection.recv()

    sockets = vendor("openai", late)
    client = dial(PATH)
    hear(client)
    client.send(CREATE)
    client.close()
    assert sockets.gone.acquire(timeout=PATIENCE)

    (row,) = rows_of(here, sockets.account)
    assert (row.status, row.output_tokens) == ("ok", 148)


def test_what_the_vendor_refuses_to_begin_is_no_row(here, vendor, dial, hear):
    def unwilling(connection):
        read(connection)
        tell(connection, "error", error={"type": "invalid_request_error", "message": "no"})
        connection.close(1000)

    sockets = vendor("openai", unwilling)
    client = dial(PATH)
    client.send(CREATE)

    assert hear(client)["error"]["message"] == "no"
    assert until_closed(client)[0] == 1000
    assert rows_of(here, sockets.account) == []


# Who may open it, and with which account.


def refused(dial, path: str, **headers: str) -> tuple[int, str]:
    """The status and the error of a handshake."""
    with pytest.raises(InvalidStatus) as caught:
        dial(path, additional_headers=headers)
    response = caught.value.response
    return response.status_code, json.loads(response.body)["error"]


def test_a_key_may_open_only_its_models(here, vendor, dial, new_key):
    sockets = vendor("openai", realtime)
    _, key = new_key(here, allowedModels=["openai/gpt-4o"])

    status, _ = refused(dial, f"{PATH}&key={key}")

    assert status == 403
    assert not sockets.requests


def test_a_bad_key_learns_it_from_an_event(here, vendor, dial, hear):
    sockets = vendor("openai", realtime)
    client = dial(
        PATH, additional_headers={"x-forwarded-for": "203.0.113.9", "x-api-key": "sk-00000000"}
    )

    assert hear(client)["error"]["code"] == "invalid_api_key"
    assert until_closed(client)[0] == 4001
    assert not sockets.requests


@pytest.mark.parametrize(
    "path",
    [
        "/v1/realtime?model=openai/gpt-realtime-translate",
        "/v1/realtime?model=openai/gpt-live-1",
        "/v1/live/sessions?model=openai/gpt-realtime",
        "/v1/realtime/translations?model=openai/gpt-realtime",
        "/v1/realtime/translations?model=openai/no-such-model",
        "/v1/live/sessions",
        "/v1/native/minimax/ws/v1/t2a_v2?model=openai/gpt-realtime",
        "/v1/native/minimax/ws/v1/t2a_v2",
        "/v1/native/minimax/ws/v1/t2a_v2?model=minimax/no-such-model",
    ],
)
def test_the_path_has_to_fit_the_model(vendor, dial, path):
    vendor("openai", realtime)

    assert refused(dial, path)[0] == 400


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/native/minimax/v1/realtime", (404, "Unknown native operation")),
        ("/v1/native/no-such/v1/realtime", (400, "Unknown provider")),
    ],
)
def test_no_other_socket_is_a_vendors(dial, path, answer):
    assert refused(dial, path) == answer


def test_an_account_may_be_named(here, vendor, dial, hear):
    first, second = vendor("openai", realtime), vendor("openai", realtime)
    other = vendor("xai", realtime)

    client = dial(PATH, additional_headers={"x-connection-id": second.account})
    hear(client)

    assert (len(first.requests), len(second.requests)) == (0, 1)
    assert refused(dial, PATH, **{"x-connection-id": other.account})[0] == 403
    assert refused(dial, PATH, **{"x-connection-id": "gone"}) == (
        503,
        "Provider account unavailable",
    )


def test_a_key_keeps_to_its_accounts(here, vendor, dial, hear, new_key):
    first, second = vendor("openai", realtime), vendor("openai", realtime)
    _, key = new_key(here, (second.account,))

    hear(dial(f"{PATH}&key={key}"))

    assert (len(first.requests), len(second.requests)) == (0, 1)
    status, _ = refused(dial, f"{PATH}&key={key}", **{"x-connection-id": first.account})
    assert status == 403


def test_an_account_that_refuses_rests_and_another_one_is_tried(here, vendor, dial, hear):
    first, second = vendor("openai", realtime), vendor("openai", realtime)
    first.refusal = 401

    hear(dial(PATH))
    hear(dial(PATH))

    assert (len(first.requests), len(second.requests)) == (1, 2)


def test_a_vendor_that_opens_no_socket_closes_the_clients(here, vendor, dial):
    sockets = vendor("openai", realtime)
    sockets.refusal = 500

    assert until_closed(dial(PATH)) == (1011, '{"error":{"message":"refused"}}')
    (row,) = rows_of(here, None)[:1]
    assert (row.endpoint, row.status) == ("/v1/realtime", "error")


# Limits.


def test_the_response_that_uses_a_limit_up_is_sent_and_the_next_one_refused(
    here, vendor, dial, hear, new_key
):
    sockets = vendor("openai", realtime)
    _, key = new_key(here, maxTokens=100)
    client = dial(f"{PATH}&key={key}")
    assert hear(client)["type"] == "session.created"
    client.send(CREATE)
    assert [hear(client)["type"] for _ in range(3)][-1] == "response.done"

    client.send(CREATE)
    error = hear(client)["error"]

    assert error["code"] == "rate_limit_exceeded"
    assert "token limit reached" in error["message"]
    assert sockets.heard.count(CREATE) == 1
    assert len(rows_of(here, sockets.account)) == 1
    # The session goes on, and a new one is refused.
    client.send('{"type":"session.update","session":{}}')
    assert hear(client)["type"] == "session.updated"
    assert refused(dial, f"{PATH}&key={key}")[0] == 429


def test_a_response_that_the_vendor_begins_beyond_a_limit_closes_the_socket(
    here, vendor, dial, hear, new_key
):
    def keen(connection):
        for number in range(3):
            respond(connection, number)
        read(connection)

    sockets = vendor("openai", keen)
    _, key = new_key(here, maxTokens=100)
    client = dial(f"{PATH}&key={key}")
    assert [hear(client)["type"] for _ in range(3)][-1] == "response.done"

    assert hear(client)["error"]["code"] == "rate_limit_exceeded"
    assert until_closed(client)[0] == 1008
    assert len(rows_of(here, sockets.account)) == 1


def test_a_key_that_is_paused_begins_no_further_response(here, vendor, dial, hear, new_key):
    vendor("openai", realtime)
    key_id, key = new_key(here)
    client = dial(PATH, additional_headers={"authorization": f"Bearer {key}"})
    hear(client)

    async def pause():
        core = here.gateway.core
        await own_stores(core).keys.update(key_id, KeyChange(is_active=False))
        await core.refresh()

    here.do(pause())
    client.send(CREATE)

    assert hear(client)["type"] == "error"
    assert until_closed(client)[0] == 4001


def test_a_client_that_leaves_in_the_middle_pays_for_what_it_had(here, vendor, dial, hear):
    def slow(connection):
        tell(connection, "response.created", response={"id": "resp_1"})
        while read(connection).get("type") != "response.cancel":
            pass
        done = {"id": "resp_1", "status": "cancelled", "usage": USAGE}
        tell(connection, "response.done", response=done)
        connection.recv()

    sockets = vendor("openai", slow)
    client = dial(PATH)
    assert hear(client)["type"] == "response.created"
    client.close()
    assert sockets.gone.acquire(timeout=PATIENCE)

    (row,) = rows_of(here, sockets.account)
    assert (row.input_tokens, row.output_tokens) == (127, 148)


# Ends.


@pytest.mark.parametrize(
    ("code", "seen"), [(1000, 1000), (1001, 1001), (1011, 1011), (3000, 3000), (4999, 4999)]
)
def test_the_vendors_close_code_is_passed_on(here, vendor, dial, code, seen):
    def leave(connection):
        connection.close(code, "that is it")

    vendor("openai", leave)

    assert until_closed(dial(PATH)) == (seen, "that is it")


def test_a_vendor_that_vanishes_closes_with_an_error(here, vendor, dial, hear):
    def vanish(connection):
        tell(connection, "response.created", response={"id": "resp_1"})
        tell(connection, "response.output_text.delta", delta="x" * 40)
        connection.socket.shutdown(2)

    sockets = vendor("openai", vanish)

    assert until_closed(dial(PATH))[0] == 1011
    (row,) = rows_of(here, sockets.account)
    assert (row.output_tokens, row.estimated) == (10, True)


def test_the_clients_close_code_reaches_the_vendor(here, vendor, dial, hear):
    sockets = vendor("openai", realtime)
    client = dial(PATH)
    hear(client)

    client.close(4000, "bye")
    assert sockets.gone.acquire(timeout=PATIENCE)

    assert sockets.closed == [(4000, "")]


def test_a_message_that_is_too_long_is_not_held(here, vendor, dial):
    def shout(connection):
        connection.send("x" * (1024 * 1024 + 1))
        connection.recv()

    vendor("openai", shout)

    assert until_closed(dial(PATH))[0] == 1013


def test_a_slow_client_slows_its_vendor_down(here, vendor, dial):
    sent, stuck = [], threading.Event()

    def flood(connection):
        message = json.dumps({"type": "x", "filling": "x" * 500_000})
        connection.socket.settimeout(2)
        try:
            for _ in range(200):
                connection.send(message)
                sent.append(len(message))
        except TimeoutError:
            pass
        finally:
            stuck.set()

    vendor("openai", flood)
    client = dial(PATH, max_queue=1)

    assert stuck.wait(60)
    # The kernels hold some megabytes for each connection, and this client's library a message.
    assert sum(sent) < 48_000_000
    # A client that still has messages to read waits long for the end of its connection.
    with suppress(ConnectionClosed):
        deque(client, maxlen=0)


def test_a_slow_vendor_slows_its_client_down(here, vendor):
    release = threading.Event()

    def lazy(connection):
        tell(connection, "session.created")
        release.wait(60)
        # Its library notices the end of a connection whose messages are read, and else waits long.
        deque(connection, maxlen=0)

    vendor("openai", lazy)
    message = json.dumps({"type": "input_audio_buffer.append", "audio": "A" * 500_000})

    async def flood():
        sent = 0
        url = f"{here.url.replace('http', 'ws', 1)}{PATH}"
        async with connect(url, proxy=None, compression=None) as client:
            with suppress(TimeoutError):
                while sent < 200:
                    async with asyncio.timeout(2):
                        await client.send(message)
                    sent += 1
            release.set()
            client.transport.abort()
        return sent

    # Sixteen of them wait in the vendor's library, and the kernels hold some more.
    assert asyncio.run(flood()) * len(message) < 48_000_000
