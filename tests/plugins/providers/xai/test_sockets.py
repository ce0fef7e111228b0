"""Speech to text over a socket."""

import pytest
from gateway_provider_xai.sockets import SpeechReader

from gateway_core import Usage


@pytest.mark.parametrize(
    ("query", "rate"),
    [
        ({}, 32_000),
        ({"sample_rate": "8000", "encoding": "mulaw"}, 8000),
        ({"sample_rate": "24000", "channels": "2"}, 96_000),
        ({"sample_rate": "no number"}, 32_000),
    ],
    ids=str,
)
def test_audio_is_counted_as_its_address_describes_it(query, rate):
    reader = SpeechReader(query)

    assert reader.read_client(bytes(2 * rate)).begins == "running"
    assert reader.read_client('{"type":"audio.done"}').spent is None
    spent = reader.read_vendor('{"type":"transcript.done","text":"hi"}').spent

    assert spent.usage == Usage(units={"seconds": 2.0})
    assert reader.close() is None
