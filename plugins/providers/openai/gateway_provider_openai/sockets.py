"""The vendor's sockets.

Realtime: https://platform.openai.com/docs/guides/realtime-websocket
Transcription: https://platform.openai.com/docs/guides/realtime-transcription
Translation: https://platform.openai.com/docs/guides/realtime-translation
Live events: https://platform.openai.com/docs/api-reference/live
"""

import json
from collections.abc import Mapping

from gateway_core import Kind, SocketEvent, SocketService, Spent, Usage
from gateway_providers.sockets import (
    CANCEL,
    NOTHING,
    PCM16,
    REALTIME_MODELS,
    RUNNING,
    TRANSCRIPTION_MODEL,
    AudioCount,
    RealtimeReader,
    TranscriptionReader,
    member,
    number,
    read_object,
    token_usage,
    type_of,
    write_realtime_error,
)

ORIGIN = "wss://api.openai.com/v1"
HEADERS = ("openai-beta", "openai-safety-identifier")
SUBPROTOCOLS = ("realtime", "openai-beta.realtime-v1")
TRANSLATED_RATE = 24_000 * PCM16
"""Bytes a second of the audio that is translated: the vendor takes 24 kHz of one channel only."""
DELEGATE = ("session.delegation.responses.model", "session.delegation.decisions.model")
"""Where a live session names the model that works for it."""
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
PORTION = 10.0
"""Seconds of a live session that are counted together while it runs."""


class TranslationReader:
    """Counts the audio that is translated, as the vendor bills it; its events report nothing."""

    def __init__(self, _query: Mapping[str, str]) -> None:
        self._audio = AudioCount(TRANSLATED_RATE)

    def read_client(self, message: str | bytes) -> SocketEvent:
        if type_of(message) != "session.input_audio_buffer.append":
            return NOTHING
        audio = member(read_object(message), "audio")
        # RFC 4648, section 4: four characters stand for three bytes.
        return self._audio.take(len(audio) * 3 / 4) if isinstance(audio, str) else NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        if type_of(message) == "session.closed":
            return SocketEvent(spent=self._audio.close())
        return NOTHING

    def close(self) -> Spent | None:
        return self._audio.close()


class LiveReader:
    """Reads live sessions: their time is reported as a sum, the work of the model behind them as
    responses."""

    def __init__(self, _query: Mapping[str, str]) -> None:
        self._seconds = self._counted = 0.0
        self._portions = 0
        self._is_open = False

    def read_client(self, message: str | bytes) -> SocketEvent:
        return NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        type = type_of(message)
        if type == "response.event":
            return self._delegated(message)
        if type in ("session.usage.updated", "session.closed"):
            self._seconds = max(self._seconds, number(read_object(message), "usage", "seconds"))
            if type == "session.closed" or self._seconds - self._counted >= PORTION:
                self._is_open = False
                return SocketEvent(spent=self.close())
        if self._is_open or type in ("", "error"):
            return NOTHING
        self._is_open = True
        return RUNNING

    def close(self) -> Spent | None:
        seconds, self._counted = self._seconds - self._counted, self._seconds
        if not seconds:
            return None
        self._portions += 1
        units = {"seconds": round(seconds, 3)}
        return Spent(id=f"live:{self._portions}", usage=Usage(units=units))

    def _delegated(self, message: str | bytes) -> SocketEvent:
        event = member(read_object(message), "event")
        if member(event, "type") not in ENDS:
            return NOTHING
        response = member(event, "response")
        usage = token_usage(member(response, "usage"))
        return SocketEvent(
            spent=Spent(id=str(member(response, "id")), usage=usage, fields=DELEGATE)
        )


def transcription_session(model: str) -> str:
    """The event that makes a session one of transcription."""
    audio = {"input": {"transcription": {"model": model}}}
    return json.dumps(
        {"type": "session.update", "session": {"type": "transcription", "audio": audio}}
    )


SOCKETS = (
    SocketService(
        kind=Kind.REALTIME,
        paths=("/v1/realtime",),
        url=f"{ORIGIN}/realtime",
        reader=RealtimeReader,
        model_query="model",
        forward=HEADERS,
        subprotocols=SUBPROTOCOLS,
        model_fields=REALTIME_MODELS,
        cancel=CANCEL,
        write_error=write_realtime_error,
    ),
    SocketService(
        kind=Kind.REALTIME_TRANSCRIPTION,
        paths=("/v1/realtime",),
        url=f"{ORIGIN}/realtime",
        reader=TranscriptionReader,
        query=("intent",),
        forward=HEADERS,
        subprotocols=SUBPROTOCOLS,
        model_fields=REALTIME_MODELS,
        session_model=TRANSCRIPTION_MODEL[0],
        opening=transcription_session,
        write_error=write_realtime_error,
    ),
    SocketService(
        kind=Kind.REALTIME_TRANSLATION,
        paths=("/v1/realtime/translations",),
        url=f"{ORIGIN}/realtime/translations",
        reader=TranslationReader,
        model_query="model",
        forward=HEADERS,
        subprotocols=SUBPROTOCOLS,
        model_fields=REALTIME_MODELS,
        write_error=write_realtime_error,
    ),
    SocketService(
        kind=Kind.LIVE,
        paths=("/v1/live/sessions",),
        url=f"{ORIGIN}/live/sessions",
        reader=LiveReader,
        model_query="model",
        forward=HEADERS,
        subprotocols=SUBPROTOCOLS,
        model_fields=(
            *REALTIME_MODELS,
            *DELEGATE,
            "session.delegation.responses.tools[].model",
            "response.tools[].model",
        ),
        write_error=write_realtime_error,
    ),
)
