"""Sessions in each vendor's own dialect, as its published reference shows them."""

import json
from contextlib import suppress

import pytest
from realtime_client import PATIENCE
from vendor_sockets import LIVE_MODEL, bidi, read, tell
from websockets.exceptions import ConnectionClosed

from gateway_realtime import relay

LIVE = "/v1/native/gemini/live"


def rows_of(here, account):
    return [row for row in here.rows() if row.connection_id == account]


def units(here, account):
    """What was counted, oldest first."""
    return [row.units for row in reversed(rows_of(here, account))]


def until_closed(socket):
    with suppress(ConnectionClosed):
        while True:
            socket.recv(timeout=PATIENCE)
    return socket.close_code


def test_a_live_session_begins_with_its_model(here, vendor, dial):
    sockets = vendor("gemini", bidi)

    for message in ("{", '{"clientContent":{}}', '{"setup":{"model":"models/no-such"}}'):
        client = dial(LIVE)
        client.send(message)
        assert until_closed(client) == 1008
    assert not sockets.requests


def test_a_live_session_keeps_to_the_keys_models(here, vendor, dial, new_key):
    sockets = vendor("gemini", bidi)
    _, key = new_key(here, allowedModels=["gemini/gemini-2.5-pro"])
    client = dial(f"{LIVE}?key={key}")

    client.send(json.dumps({"setup": {"model": f"models/{LIVE_MODEL}"}}))

    assert until_closed(client) == 4001
    assert not sockets.requests


def test_a_live_session_of_a_key_that_is_used_up_ends_with_a_reason(here, vendor, dial, new_key):
    vendor("gemini", bidi)
    _, key = new_key(here, maxTokens=10)
    client = dial(f"{LIVE}?key={key}&model={LIVE_MODEL}")
    client.send(json.dumps({"setup": {"model": f"models/{LIVE_MODEL}"}}))
    client.send('{"clientContent":{"turnComplete":true}}')
    assert [json.loads(client.recv(PATIENCE)) for _ in range(3)][-1]["usageMetadata"]

    client.send('{"clientContent":{"turnComplete":true}}')

    assert until_closed(client) == 1008
    assert "token limit reached" in client.close_reason


def speech(connection):
    """A task of speech: the vendor speaks first."""
    connection.send('{"event":"connected_success","session_id":"s"}')
    while True:
        event = read(connection)
        if event["event"] == "task_start":
            connection.send('{"event":"task_started"}')
        elif event["event"] == "task_continue":
            connection.send('{"event":"task_continued","data":{"audio":"00"},"is_final":false}')
            connection.send(
                '{"event":"task_continued","data":{"audio":""},"is_final":true,'
                '"extra_info":{"usage_characters":12}}'
            )


@pytest.mark.parametrize("name", ["t2a_v2", "t2a_v2_bidi"])
def test_speech_is_counted_by_its_characters(here, vendor, dial, name):
    sockets = vendor("minimax", speech)
    client = dial(f"/v1/native/minimax/ws/v1/{name}?model=minimax/speech-2.8-hd")
    assert json.loads(client.recv(PATIENCE))["event"] == "connected_success"

    client.send('{"event":"task_start","model":"minimax/speech-2.8-turbo"}')
    client.send('{"event":"task_continue","text":"Hello"}')
    while not json.loads(client.recv(PATIENCE)).get("is_final"):
        pass

    assert sockets.requests[0].path == f"/ws/v1/{name}"
    assert sockets.requests[0].headers["authorization"] == "Bearer vendor-key"
    assert sockets.heard[0] == '{"event":"task_start","model":"speech-2.8-turbo"}'
    (row,) = rows_of(here, sockets.account)
    assert (row.model_sent, row.units) == ("speech-2.8-turbo", {"characters": 12.0})
    assert row.cost == 720


def test_sound_passes_untouched_and_is_counted(here, vendor, dial):
    def listen(connection):
        tell(connection, "transcript.created")
        while isinstance(connection.recv(), bytes):
            pass
        tell(connection, "transcript.done", text="hi")

    sockets = vendor("xai", listen)
    client = dial("/v1/native/xai/v1/stt?model=xai/stt&sample_rate=8000&encoding=mulaw&other=x")
    sound = bytes(range(256)) * 125

    client.send(sound)
    client.send('{"type":"audio.done"}')
    assert [json.loads(client.recv(PATIENCE))["type"] for _ in range(2)] == [
        "transcript.created",
        "transcript.done",
    ]

    assert sockets.requests[0].path == "/v1/stt?sample_rate=8000&encoding=mulaw"
    assert sockets.heard[0] == sound
    assert units(here, sockets.account) == [{"seconds": 4.0}]


def test_a_transcription_is_set_up_with_its_model(here, vendor, dial):
    def transcribe(connection):
        session = read(connection)["session"]
        tell(connection, "session.updated", session=session)
        while read(connection)["type"] != "input_audio_buffer.commit":
            pass
        tell(connection, "input_audio_buffer.committed", item_id="item_1")
        usage = {"type": "duration", "seconds": 3}
        kind = "conversation.item.input_audio_transcription.completed"
        tell(connection, kind, item_id="item_1", content_index=0, transcript="hi", usage=usage)

    sockets = vendor("openai", transcribe)
    client = dial("/v1/realtime?model=openai/gpt-realtime-whisper&intent=transcription")
    session = json.loads(client.recv(PATIENCE))["session"]
    client.send('{"type":"input_audio_buffer.commit"}')
    until_closed(client)

    assert session["type"] == "transcription"
    assert session["audio"]["input"]["transcription"]["model"] == "gpt-realtime-whisper"
    assert sockets.requests[0].path == "/v1/realtime?intent=transcription"
    (row,) = rows_of(here, sockets.account)
    assert (row.model_sent, row.units) == ("gpt-realtime-whisper", {"seconds": 3.0})


def test_what_a_conversation_hears_is_counted_for_the_model_that_writes_it_down(here, vendor, dial):
    def converse(connection):
        read(connection)
        kind = "conversation.item.input_audio_transcription.completed"
        usage = {"type": "tokens", "input_tokens": 9, "output_tokens": 2}
        tell(connection, kind, item_id="i", content_index=0, usage=usage)

    sockets = vendor("openai", converse)
    client = dial("/v1/realtime?model=openai/gpt-realtime")
    transcription = {"model": "openai/gpt-4o-transcribe"}
    session = {"audio": {"input": {"transcription": transcription}}}
    client.send(json.dumps({"type": "session.update", "session": session}))
    until_closed(client)

    (row,) = rows_of(here, sockets.account)
    assert (row.model_sent, row.input_tokens) == ("gpt-4o-transcribe", 9)


def test_translation_is_counted_even_when_the_client_just_leaves(here, vendor, dial, monkeypatch):
    monkeypatch.setattr(relay, "SETTLING", 0.2)  # This vendor never says what it counted.

    def translate(connection):
        while True:
            if read(connection)["type"] == "session.input_audio_buffer.append":
                tell(connection, "session.output_transcript.delta", delta="hola")

    sockets = vendor("openai", translate)
    client = dial("/v1/realtime/translations?model=openai/gpt-realtime-translate")
    second = json.dumps({"type": "session.input_audio_buffer.append", "audio": "A" * 64_000})
    client.send(second)
    assert json.loads(client.recv(PATIENCE))["delta"] == "hola"
    client.close()
    assert sockets.gone.acquire(timeout=PATIENCE)

    assert sockets.requests[0].path == "/v1/realtime/translations?model=gpt-realtime-translate"
    assert units(here, sockets.account) == [{"seconds": 1.0}]


def test_live_sessions_and_the_models_behind_them_are_counted(here, vendor, dial):
    def live(connection):
        read(connection)
        tell(connection, "session.started", session={"id": "s"})
        done = {"id": "resp_1", "usage": {"input_tokens": 5, "output_tokens": 7}}
        tell(connection, "response.event", event={"type": "response.completed", "response": done})
        tell(connection, "session.closed", reason="close_requested", usage={"seconds": 7.5})

    sockets = vendor("openai", live)
    client = dial("/v1/live/sessions?model=openai/gpt-live-1")
    responses = {"model": "openai/gpt-5-mini"}
    delegation = {"type": "responses", "responses": responses}
    session = {"model": "openai/gpt-live-1", "delegation": delegation}
    client.send(json.dumps({"type": "session.start", "session": session}))
    until_closed(client)

    started = json.loads(sockets.heard[0])["session"]
    assert (started["model"], started["delegation"]["responses"]["model"]) == (
        "gpt-live-1",
        "gpt-5-mini",
    )
    behind, own = reversed(rows_of(here, sockets.account))
    assert (behind.model_sent, behind.output_tokens) == ("gpt-5-mini", 7)
    assert (own.model_sent, own.units) == ("gpt-live-1", {"seconds": 7.5})
