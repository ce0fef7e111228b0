"""Speech over sockets: a task is started, text follows, audio comes back.

https://platform.minimax.io/docs/api-reference/speech-t2a-websocket
https://platform.minimax.io/docs/api-reference/speech-t2a-websocket-bidi
"""

from collections.abc import Mapping

from gateway_core import Kind, SocketEvent, SocketService, Spent, Usage
from gateway_providers.sockets import NOTHING, RUNNING, member, number, read_object

NAMES = ("t2a_v2", "t2a_v2_bidi")
ENDS = frozenset({"sentence_end", "task_finished", "task_failed"})


class SpeechReader:
    """Reads tasks: each answer counts its characters, or those of the text that was sent for it."""

    def __init__(self, _query: Mapping[str, str]) -> None:
        self._characters = 0
        self._answers = 0

    def read_client(self, message: str | bytes) -> SocketEvent:
        event = read_object(message)
        text = event.get("text")
        if event.get("event") != "task_continue" or not isinstance(text, str) or not text:
            return NOTHING
        is_first, self._characters = not self._characters, self._characters + len(text)
        return RUNNING if is_first else NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        event = read_object(message)
        if event.get("is_final") is True or event.get("event") in ENDS:
            reported = int(number(member(event, "extra_info"), "usage_characters"))
            return SocketEvent(spent=self._spent(reported or self._characters))
        return NOTHING

    def close(self) -> Spent | None:
        return self._spent(self._characters)

    def _spent(self, characters: int) -> Spent | None:
        self._characters = 0
        if not characters:
            return None
        self._answers += 1
        units = {"characters": float(characters)}
        return Spent(id=f"speech:{self._answers}", usage=Usage(units=units))


def sockets(provider: str, origin: str) -> tuple[SocketService, ...]:
    """``origin`` is the platform's, with the scheme of sockets."""
    return tuple(
        SocketService(
            kind=Kind.SPEECH,
            paths=(f"/v1/native/{provider}/ws/v1/{name}",),
            url=f"{origin}/ws/v1/{name}",
            reader=SpeechReader,
            model_fields=("model",),
            session_model="model",
        )
        for name in NAMES
    )
