"""What a well-formed stream of this format looks like.

https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Grammar
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.sse import FrameBuffer, split_frames

from ._answers import ABSENT, UNSPECIFIED, choice_number, is_blocked


class FrameContent(Struct):
    parts: list[dict[str, Raw]] | None = None


class FrameCandidate(Struct, rename="camel"):
    content: FrameContent | None = None
    finish_reason: str | int | None = None
    index: int | None = None


class FrameError(Struct):
    code: int
    message: str
    status: str | None = None


class Frame(Struct, rename="camel"):
    candidates: list[FrameCandidate] | None = None
    prompt_feedback: Raw = ABSENT
    usage_metadata: dict[str, Raw] | None = None
    error: FrameError | None = None


_decode = msgspec.json.Decoder(Frame).decode


class FrameWords:
    """Candidates that have begun and not ended."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def word(self, block: bytes) -> str:
        # Clients of this format know no other line than ``data: `` and no other line end than LF.
        if (
            not block.startswith(b"data: ")
            or b"\n" in block
            or escape_line_separators(block) != block
        ):
            return "rubbish"
        try:
            frame = _decode(block[6:])
            if frame.error is not None:
                return "error"
            if is_blocked(frame.prompt_feedback):
                return "blocked"
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return "rubbish"
        if not frame.candidates:
            return "usage"
        for place, candidate in enumerate(frame.candidates):
            number = choice_number(candidate.index, place)
            if candidate.finish_reason in UNSPECIFIED:
                self._open.add(number)
            else:
                self._open.discard(number)
        return "part" if self._open else "end"


def words(stream: bytes) -> list[str]:
    """One word a frame; ``part`` as long as a candidate goes on, then ``end``."""
    frames, reader = FrameBuffer(), FrameWords()
    labels = [reader.word(block) for block in split_frames(frames.feed(stream))]
    return [*labels, "rubbish"] if frames.close().strip() else labels


GRAMMAR = Grammar(
    words=words,
    pattern=r"(?:(?:usage |part |end )*(?:end |blocked )(?:usage )*|(?:usage |part |end )*error )",
)
