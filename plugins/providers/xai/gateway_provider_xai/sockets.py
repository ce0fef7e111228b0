"""The vendor's sockets: speech to text, and conversations in the realtime dialect.

https://docs.x.ai/developers/model-capabilities/audio/speech-to-text
https://docs.x.ai/developers/model-capabilities/audio/voice-agent
"""

from collections.abc import Mapping

from gateway_core import Kind, SocketEvent, SocketService, Spent
from gateway_providers.sockets import (
    CANCEL,
    NOTHING,
    PCM16,
    REALTIME_MODELS,
    AudioCount,
    RealtimeReader,
    type_of,
    write_realtime_error,
)

USUAL_RATE = 16_000
SETTINGS = (
    *("sample_rate", "encoding", "interim_results", "endpointing", "language", "diarize"),
    *("filler_words", "multichannel", "channels", "keyterm"),
    *("smart_turn", "smart_turn_timeout", "vad_threshold"),
)


class SpeechReader:
    """Counts the audio that is written down, as the vendor bills it."""

    def __init__(self, query: Mapping[str, str]) -> None:
        width = 1 if query.get("encoding") in ("mulaw", "alaw") else PCM16
        rate = whole_number(query.get("sample_rate"), USUAL_RATE)
        channels = whole_number(query.get("channels"), 1)
        self._audio = AudioCount(rate * channels * width)

    def read_client(self, message: str | bytes) -> SocketEvent:
        return self._audio.take(len(message)) if isinstance(message, bytes) else NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        if type_of(message) == "transcript.done":
            return SocketEvent(spent=self._audio.close())
        return NOTHING

    def close(self) -> Spent | None:
        return self._audio.close()


def whole_number(text: str | None, usual: int) -> int:
    """A parameter that is a number above zero, else what the vendor takes it to be."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) < 8
    return max(1, int(text)) if text is not None and is_number else usual


SOCKETS = (
    SocketService(
        kind=Kind.REALTIME,
        paths=("/v1/realtime",),
        url="wss://api.x.ai/v1/realtime",
        reader=RealtimeReader,
        model_query="model",
        model_fields=REALTIME_MODELS,
        cancel=CANCEL,
        write_error=write_realtime_error,
    ),
    SocketService(
        kind=Kind.TRANSCRIPTION,
        paths=("/v1/native/xai/v1/stt",),
        url="wss://api.x.ai/v1/stt",
        reader=SpeechReader,
        model_query="model",
        unnamed=("stt",),
        query=SETTINGS,
        model_fields=("model",),
        takes_binary=True,
    ),
)
