"""Frames that are passed over say what they say when each is read."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway_formats.frame_scanner import FrameScanner
from gateway_formats.frame_template import FrameTemplate, derive_template
from gateway_formats.sse import parse_events

ALIKE = FrameTemplate(b'data: {"id":1,"text":', b"}\n\n")


class Piece(msgspec.Struct):
    text: str | None = None
    other: str | None = None
    last: bool = False


_piece = msgspec.json.Decoder(Piece).decode


class Reading:
    """Keeps what was said; an empty text lets another member speak."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.looks = 0

    def look(self, name: bytes, data: bytes) -> str | None:
        self.looks += 1
        piece = _piece(data)
        written = piece.text or piece.other or ""
        self.tell([written] if written else [f"nothing in {name!r}"])
        return None if piece.last else written

    def tell(self, texts: list[str]) -> None:
        self.written += texts


def each(chunks: list[bytes]) -> tuple[list[str], str]:
    """What is said when every frame is read, and how that failed."""
    reading = Reading()
    try:
        for chunk in chunks:
            for name, data in parse_events(chunk):
                if reading.look(name, data) is None:
                    return reading.written, ""
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return reading.written, type(error).__name__
    return reading.written, ""


def skimmed(chunks: list[bytes]) -> tuple[list[str], str]:
    """The same of a stream that is skimmed."""
    reading, skimmer, is_over = Reading(), FrameScanner(), False

    def look(name: bytes, data: bytes) -> str | None:
        nonlocal is_over
        text = reading.look(name, data)
        is_over = text is None
        return text

    try:
        for chunk in chunks:
            text = skimmer.text(chunk)
            if text:
                reading.tell([text])
            else:
                skimmer.through(chunk, look, reading.tell)
            if is_over:
                break
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return reading.written, type(error).__name__
    return reading.written, ""


words = st.text(max_size=4) | st.sampled_from(
    ["text", "id", "é", "\u2028", '"', "\\", "\n", ",", '","', '\\"', "last"]
)
usual = st.builds(lambda text: b"data: " + msgspec.json.encode({"text": text}) + b"\n\n", words)
odd = st.sampled_from(
    [
        b'data: {"text":"","other":"b"}\n\n',
        b'data: {"text":"a","other":"b"}\n\n',
        b'data: {"text":"a","last":true}\n\n',
        b'data: {"text":"a"}\r\n\r\n',
        b'data: {"text":"a" }\n\n',
        b'data: {"text":"a"\n\n}\n\n',
        b'data: {"text":"a\n\nb"}\n\n',
        b'data: {"text":"a\\"}\n\n',
        b'data: {"text":"\\u0061"}\n\n',
        b'data: {"text":"\\ud800"}\n\n',
        b'data: {"text":"\xff"}\n\n',
        b'data: {"text":"a","text":"b"}\n\n',
        b'data: {"text":null}\n\n',
        b'event: e\ndata: {"text":"a"}\n\n',
        b": a comment\n\n",
        b"\n\n",
    ]
)
frames = st.one_of(usual, usual, usual, odd)
chunks = st.lists(st.lists(frames, min_size=1, max_size=6).map(b"".join), max_size=5)
FIRST = b'data: {"text":"usual"}\n\n'
CUT = b'data: {"text":"a\\"}\n\ndata: {"text":"b","text":"c"}\n\n'


@given(chunks)
@example([CUT])
@example([b'data: {"text":"a"}\n\n' + CUT])
def test_a_stream_that_is_skimmed_says_the_same(chunks: list[bytes]) -> None:
    assert skimmed([FIRST, *chunks]) == each([FIRST, *chunks])
    assert skimmed([FIRST + b"".join(chunks)]) == each([FIRST + b"".join(chunks)])


def test_frames_that_are_alike_are_not_looked_at() -> None:
    reading, skimmer = Reading(), FrameScanner()
    texts = ["usual", "a", "\n", "é", '"', '","', "b" * 500]
    whole = b"".join(b"data: " + msgspec.json.encode({"text": text}) + b"\n\n" for text in texts)

    skimmer.through(whole, reading.look, reading.tell)

    assert (reading.written, reading.looks) == (texts, 1)


def test_a_frame_that_is_not_alike_ends_a_run() -> None:
    before = b'data: {"id":1,"text":"a"}\n\ndata: {"id":1,"text":"b"}\n\n'
    whole = before + b'data: {"id":2,"text":"c"}\n\ndata: {"id":1,"text":"d"}\n\n'

    assert ALIKE.run(whole, 0) == (["a", "b"], len(before))


@pytest.mark.parametrize(
    "frame",
    [
        b'data: {"id":1,"text":""}\n\n',
        b'data: {"id":1,"text":"a}\n\n',
        b'data: {"id":1,"text":"a\\"}\n\n',
        b'data: {"id":1,"text":"a","text":"b"}\n\n',
        b'data: {"id":1,"text":"a" }\n\n',
        b'data: {"id":1,"text":"\n"}\n\n',
        b'data: {"id":1,"text":1}\n\n',
        b'data: {"id":1,"text":}\n\n',
        b'data: {"id":2,"text":"a"}\n\n',
    ],
)
def test_other_frames_are_not_alike(frame: bytes) -> None:
    assert ALIKE.text(frame) == ""
    assert ALIKE.run(frame, 0) == ([], 0)


@given(st.lists(words, min_size=1, max_size=6))
def test_texts_come_back_one_by_one_and_in_a_run(texts: list[str]) -> None:
    made = [b'data: {"id":1,"text":%b}\n\n' % msgspec.json.encode(text) for text in texts]

    assert [ALIKE.text(frame) for frame in made] == texts
    ran = ALIKE.run(b"".join(made), 0)
    assert ran == (texts, len(b"".join(made))) or ("" in texts and ran == ([], 0))


def test_nothing_is_learnt_of_a_text_whose_place_is_in_doubt() -> None:
    assert derive_template(b'data: {"text":"text"}\n\n', "text") is None
