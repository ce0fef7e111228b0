"""What the events of the realtime dialect mean for limits and the ledger.

The events are those of the vendor's published reference, shortened.
"""

import json

import pytest

from gateway_core import SocketEvent, Usage
from gateway_providers.sockets import (
    SLICE,
    AudioCount,
    RealtimeReader,
    TranscriptionReader,
    write_realtime_error,
)

RESPONSE = {
    "type": "response.done",
    "response": {
        "id": "resp_1",
        "status": "completed",
        "usage": {
            "total_tokens": 275,
            "input_tokens": 127,
            "output_tokens": 148,
            "input_token_details": {"text_tokens": 119, "audio_tokens": 8, "cached_tokens": 64},
            "output_token_details": {"text_tokens": 36, "audio_tokens": 112},
        },
    },
}


def reported(reader, **event):
    return reader.read_vendor(json.dumps(event))


def test_a_response_is_counted_when_it_is_done():
    spent = reported(RealtimeReader({}), **RESPONSE).spent

    assert spent.id == "resp_1"
    assert spent.usage == Usage(input_tokens=127, output_tokens=148, cached_tokens=64)


def test_responses_that_are_asked_for_and_others_begin():
    reader = RealtimeReader({})

    assert reader.read_client('{"type":"response.create"}').begins == "asked"
    assert reported(reader, type="response.created", response={"id": "r"}).begins == "running"
    assert reader.read_client('{"type":"session.update"}') == SocketEvent()


@pytest.mark.parametrize(
    "message", ["", "nonsense", "[1]", '{"type":7}', b"\xff", "[" * 100_000], ids=str
)
def test_what_cannot_be_read_means_nothing(message):
    reader = RealtimeReader({})

    assert reader.read_client(message) == SocketEvent()
    assert reader.read_vendor(message) == SocketEvent()


def test_a_response_without_usage_counts_as_one_of_nothing():
    event = {"type": "response.done", "response": {"id": "r", "usage": None}}

    assert reported(RealtimeReader({}), **event).spent.usage == Usage()


def test_a_response_that_breaks_off_is_estimated():
    reader = RealtimeReader({})
    reported(reader, type="response.created", response={"id": "r"})
    reported(reader, type="response.output_text.delta", delta="x" * 40)
    reported(reader, type="response.output_audio.delta", delta="A" * 64_000)

    spent = reader.close()

    # 48,000 bytes are one second of sound: 20 tokens.
    assert (spent.id, spent.usage) == ("r", Usage(output_tokens=30, estimated=True))
    assert reader.close() is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {"type": "tokens", "input_tokens": 14, "output_tokens": 3, "total_tokens": 17},
            Usage(input_tokens=14, output_tokens=3),
        ),
        ({"type": "duration", "seconds": 2.5}, Usage(units={"seconds": 2.5})),
    ],
    ids=["tokens", "duration"],
)
def test_a_transcription_is_counted_by_what_its_model_reports(usage, counted):
    reader = TranscriptionReader({})
    event = {
        "type": "conversation.item.input_audio_transcription.completed",
        "item_id": "item_1",
        "content_index": 0,
        "usage": usage,
    }

    assert reported(reader, type="input_audio_buffer.committed").begins == "running"
    assert reported(reader, **event).spent.usage == counted


def test_audio_is_counted_in_slices():
    audio = AudioCount(100)

    begins = [audio.take(1000) for _ in range(4)]

    assert [event.begins for event in begins] == ["running", "", "", "running"]
    assert [event.spent is not None for event in begins] == [False, False, True, False]
    assert begins[2].spent.usage == Usage(units={"seconds": SLICE})
    assert audio.close().usage == Usage(units={"seconds": 10.0})
    assert audio.close() is None


def test_an_error_is_an_event_of_the_dialect():
    event = json.loads(write_realtime_error("rate_limit_error", None, "enough"))

    assert event == {
        "type": "error",
        "error": {"type": "rate_limit_error", "code": None, "message": "enough"},
    }
