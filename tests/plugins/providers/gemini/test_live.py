"""Turns of a live session; the messages are those of the vendor's published reference."""

import json

from gateway_provider_gemini.live import LIVE, LiveReader

from gateway_core import Usage


def reported(reader, **message):
    # The vendor sends its JSON in binary messages.
    return reader.read_vendor(json.dumps(message).encode())


def test_the_key_goes_into_the_address():
    assert (LIVE.key_query, LIVE.model_query, LIVE.session_model) == ("key", None, "setup.model")


def test_a_turn_is_counted_when_it_is_complete():
    reader = LiveReader({})
    used = {
        "promptTokenCount": 522,
        "responseTokenCount": 42,
        "thoughtsTokenCount": 136,
        "totalTokenCount": 700,
    }

    assert reader.read_client('{"client_content":{"turn_complete":true}}').begins == "running"
    assert reported(reader, serverContent={"modelTurn": {"parts": [{"text": "hi"}]}}).begins == ""
    assert reported(reader, serverContent={"generationComplete": True}).spent is None
    spent = reported(reader, serverContent={"turnComplete": True}, usageMetadata=used).spent

    assert spent.usage == Usage(input_tokens=522, output_tokens=178, reasoning_tokens=136)


def test_usage_behind_the_end_of_a_turn_is_counted():
    reader = LiveReader({})
    reported(reader, serverContent={"modelTurn": {"parts": []}})

    assert reported(reader, serverContent={"turnComplete": True}).spent is None
    assert reported(reader, usageMetadata={"promptTokenCount": 3}).spent.usage == Usage(
        input_tokens=3
    )


def test_a_turn_that_the_vendor_begins_is_one():
    reader = LiveReader({})

    assert reader.read_client('{"realtimeInput":{"audio":{}}}').begins == ""
    assert reported(reader, serverContent={"modelTurn": {"parts": []}}).begins == "running"


def test_everything_that_a_turn_generates_is_counted():
    reader = LiveReader({})
    reported(reader, toolCall={"functionCalls": []}, usageMetadata={"promptTokenCount": 10})
    used = {"promptTokenCount": 20, "responseTokenCount": 5}

    spent = reported(reader, serverContent={"turnComplete": True}, usageMetadata=used).spent

    assert spent.usage == Usage(input_tokens=30, output_tokens=5)


def test_a_turn_that_breaks_off_is_estimated():
    reader = LiveReader({})
    parts = [{"text": "x" * 40}, {"inlineData": {"data": "A" * 64_000}}]
    reported(reader, serverContent={"modelTurn": {"parts": parts}})

    # 48,000 bytes are one second of sound: 25 tokens.
    assert reader.close().usage == Usage(output_tokens=35, estimated=True)
    assert reader.close() is None
