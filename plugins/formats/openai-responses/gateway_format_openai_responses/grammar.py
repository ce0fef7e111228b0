"""What a whole stream of this format looks like.

Frames of the beginning, of the body and of the end have a word each. Besides
the order of these, a frame is rubbish when it is not an object with a type,
when its event name says something else than its type, or when its number does
not follow the one before; and ``stray`` when it is about an item that was
never added.
"""

import msgspec
from msgspec import Struct

from gateway_core import Grammar
from gateway_formats.sse import EventDecoder

_WORDS = {
    "response.created": "created",
    "response.in_progress": "begun",
    "response.queued": "begun",
    "response.completed": "end",
    "response.incomplete": "end",
    "response.failed": "failed",
    "error": "error",
}
# The order of events: https://platform.openai.com/docs/api-reference/responses-streaming
PATTERN = (
    r"(?:(?:created )?(?:begun )*(?:body )*"
    r"(?:end (?:done )*|failed (?:done )*|error (?:failed )?(?:done )*))"
)


class _GrammarFrame(Struct):
    type: str | None = None
    sequence_number: int | None = None
    output_index: int | None = None


_frame = msgspec.json.Decoder(_GrammarFrame)


def words(stream: bytes) -> list[str]:
    decoder = EventDecoder()
    written: list[str] = []
    added: set[int] = set()
    number: int | None = None
    for event, data in [*decoder.feed(stream), *decoder.close()]:
        if data == b"[DONE]":
            written.append("done")
            continue
        try:
            frame = _frame.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            written.append("rubbish")
            continue
        written.append(_classify(event, frame, number, added))
        if frame.sequence_number is not None:
            number = frame.sequence_number
    return written


def _classify(event: bytes, frame: _GrammarFrame, number: int | None, added: set[int]) -> str:
    name = event.decode("utf-8", "replace")
    kind = frame.type or ("error" if name == "error" else "")
    if not kind or (name and name != kind):
        return "rubbish"
    after = frame.sequence_number
    if after is not None and number is not None and after != number + 1:
        return "rubbish"
    if kind == "response.output_item.added":
        added.add(frame.output_index or 0)
    elif frame.output_index is not None and frame.output_index not in added:
        return "stray"
    return _WORDS.get(kind, "body")


GRAMMAR = Grammar(words=words, pattern=PATTERN)
