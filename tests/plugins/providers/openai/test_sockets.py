"""Translation and live sessions; the events are those of the vendor's published reference."""

import json

from gateway_provider_openai import OPENAI
from gateway_provider_openai.sockets import LiveReader, TranslationReader

from gateway_core import Usage


def test_every_kind_of_session_is_declared():
    assert {(each.kind, *each.paths) for each in OPENAI.sockets} == {
        ("realtime", "/v1/realtime"),
        ("realtime-transcription", "/v1/realtime"),
        ("realtime-translation", "/v1/realtime/translations"),
        ("live", "/v1/live/sessions"),
    }


def test_a_transcription_session_begins_with_its_model():
    (service,) = (each for each in OPENAI.sockets if each.opening is not None)

    session = json.loads(service.opening("gpt-realtime-whisper"))["session"]

    assert session == {
        "type": "transcription",
        "audio": {"input": {"transcription": {"model": "gpt-realtime-whisper"}}},
    }
    assert service.model_query is None


def test_translation_is_counted_by_the_audio_that_is_sent():
    reader = TranslationReader({})
    second = "A" * 64_000
    append = json.dumps({"type": "session.input_audio_buffer.append", "audio": second})

    events = [reader.read_client(append) for _ in range(31)]

    assert [event.begins for event in events].count("running") == 2
    assert next(event.spent for event in events if event.spent).usage == Usage(
        units={"seconds": 30.0}
    )
    closed = reader.read_vendor('{"type":"session.closed"}')
    assert closed.spent.usage == Usage(units={"seconds": 1.0})


def live(reader, type, **members):
    return reader.read_vendor(json.dumps({"type": type, **members}))


def test_a_live_session_is_counted_by_what_its_sum_has_grown():
    reader = LiveReader({})

    assert live(reader, "session.started").begins == "running"
    assert live(reader, "session.usage.updated", usage={"seconds": 4.0}).spent is None
    first = live(reader, "session.usage.updated", usage={"seconds": 11.0}).spent
    assert first.usage == Usage(units={"seconds": 11.0})
    assert live(reader, "session.output_audio.delta").begins == "running"
    last = live(reader, "session.closed", usage={"seconds": 12.5}).spent
    assert last.usage == Usage(units={"seconds": 1.5})
    assert first.id != last.id
    assert reader.close() is None


def test_the_model_behind_a_live_session_is_counted_for_itself():
    event = {
        "type": "response.completed",
        "response": {"id": "resp_9", "usage": {"input_tokens": 5, "output_tokens": 7}},
    }

    spent = live(LiveReader({}), "response.event", delegation_id="d", event=event).spent

    assert (spent.id, spent.usage) == ("resp_9", Usage(input_tokens=5, output_tokens=7))
    assert "session.delegation.responses.model" in spent.fields
