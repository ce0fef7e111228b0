"""What a well-formed stream of this format looks like."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Grammar
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.sse import FrameBuffer, split_frames

from ._answers import ABSENT, UNSPECIFIED, blocked, choice_of


class _Content(Struct):
    parts: list[dict[str, Raw]] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | int | None = None
    index: int | None = None


class _Error(Struct):
    code: int
    message: str
    status: str | None = None


class _Frame(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: Raw = ABSENT
    usage_metadata: dict[str, Raw] | None = None
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Frame).decode


class _Words:
    """Candidates that have begun and not said why they ended."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def word(self, block: bytes) -> str:
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
            return self._told(frame)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return "rubbish"

    def _told(self, frame: _Frame) -> str:
        if blocked(frame.prompt_feedback):
            return "blocked"
        if not frame.candidates:
            return "usage"
        for place, candidate in enumerate(frame.candidates):
            index = choice_of(candidate.index, place)
            if candidate.finish_reason in UNSPECIFIED:
                self._open.add(index)
            else:
                self._open.discard(index)
        return "part" if self._open else "end"


def words(stream: bytes) -> list[str]:
    """One word a frame; ``part`` as long as a candidate goes on, then ``end``."""
    frames, reader = FrameBuffer(), _Words()
    said = [reader.word(block) for block in split_frames(frames.feed(stream))]
    return [*said, "rubbish"] if frames.close().strip() else said


GRAMMAR = Grammar(
    words=words,
    pattern=r"(?:(?:usage |part |end )*(?:end |blocked )(?:usage )*|(?:usage |part |end )*error )",
)
