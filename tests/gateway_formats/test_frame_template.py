"""A stream that is only skimmed says the same as one that is read frame by frame."""

from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import ReplyFailed, Usage
from gateway_formats.frame_template import LONGEST, FrameTemplate, derive_template
from gateway_formats.relay import StreamRelay

BEFORE, AFTER = b'data: {"id":1,"text":', b"}\n\n"
ALIKE = FrameTemplate(BEFORE, AFTER)


class Piece(msgspec.Struct):
    text: str | None = None
    bad: bool = False


_piece = msgspec.json.Decoder(Piece).decode


class Reading:
    """Reads every frame: a text is counted, ``bad`` is an error, no text is left out."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = True
        self.characters = 0

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
        piece = _piece(data)
        if piece.bad or piece.text is None:
            return ReplyFailed("bad") if piece.bad else False
        self.characters += len(piece.text)
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return b"data: !\n\n"


class Skimming(Reading):
    """Gives away that a frame was nothing but its text."""

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
        seen = super().look(event, data)
        return _piece(data).text or seen if seen is True else seen


@dataclass
class Reported:
    given: list[bytes]
    characters: int
    failure: ReplyFailed | None


def reported(watch: Reading, chunks: list[bytes]) -> Reported:
    relay = StreamRelay(watch)
    given = [*map(relay.feed, chunks), relay.close()]
    return Reported(given, relay.characters, relay.failure)


texts = st.text(max_size=4) | st.sampled_from(["text", "id", "é", "\u200b", '"', "\\", "\n", "bad"])
usual = st.builds(lambda text: b"data: " + msgspec.json.encode({"text": text}) + b"\n\n", texts)
odd = st.sampled_from(
    [
        b'data: {"text":"a","bad":true}\n\n',
        b'data: {"text":"a","bad":false}\n\n',
        b'data: {"text":"\xff"}\n\n',
        b'data: {"text":"\xe4"}\n\ndata: {"text":"\xbd\xa0"}\n\n',
        b'data: {"text":\n\n"a"}\n\n',
        b'data: {"text":"\x01"}\n\n',
        b'data: {"text":"\x7f"}\n\n',
        b'data: {"text":"\\"}\n\n',
        b'data: {"text":"a"}\r\n\r\n',
        b'data: {"text":"\\u0061"}\n\n',
        b'data: {"text": "a", "x": "a"}\n\n',
        b'event: e\ndata: {"text":"a"}\n\n',
        b'data: {"text":\ndata: "a"}\n\n',
        b"data: {}\n\n",
        b": a comment\n\n",
        b"\n",
    ]
)
streams = st.lists(usual | odd, max_size=12)


@given(streams, st.data())
def test_skimming_and_reading_are_the_same_however_bytes_are_cut(
    frames: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(frames)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=8)))
    cut = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    assert reported(Skimming(), frames) == reported(Reading(), frames)
    assert reported(Skimming(), cut) == reported(Reading(), cut)


@given(st.lists(usual, min_size=2, max_size=6), st.data())
def test_a_byte_out_of_place_is_seen(frames: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(frames[-1]) - 1))
    byte = bytes([data.draw(st.integers(0, 255))])
    garbled = [*frames[:-1], frames[-1][:at] + byte + frames[-1][at + 1 :]]

    assert reported(Skimming(), garbled) == reported(Reading(), garbled)


@pytest.mark.parametrize(
    ("texts", "length"),
    [
        ([b"a b"], 3),
        (["é".encode()], 1),
        ([b'\\"\\n\\ud83d\\ude00'], 3),
        ([b"ab", b"", b"c"], 3),
        ([b"long " * 100], 500),
    ],
    ids=["one", "not ASCII", "escaped", "many", "long"],
)
def test_texts_are_counted_in_characters(texts: list[bytes], length: int) -> None:
    assert ALIKE.length(b"".join(BEFORE + b'"%b"' % text + AFTER for text in texts)) == length


@pytest.mark.parametrize(
    "inside",
    [
        *(b"", b'"', b"\\x", b"\\", b"\xff", b"\n", b"\0", b"\\ud83d"),
        b'x"}\n\n: y\n\ndata: {"id":1,"text":"',
        b'\xe4"}\n\ndata: {"id":1,"text":"\xbd\xa0',
        b'x\\"}\n\ndata: {"id":1,"text":"n',
    ],
)
def test_what_may_say_something_else_has_no_length(inside: bytes) -> None:
    assert ALIKE.length(BEFORE + b'"%b"' % inside + AFTER) == 0


@pytest.mark.parametrize("space", [b" ", b"\n\n", b"\r\n\r\n"])
def test_space_around_a_text_may_end_its_frame_and_is_looked_at(space: bytes) -> None:
    assert ALIKE.length(BEFORE + space + b'"x"' + AFTER) == 0
    assert ALIKE.length(BEFORE + b'"x"' + space + AFTER) == 0


@pytest.mark.parametrize("whole", [b'"x"', BEFORE + b'"x"', b'"x"' + AFTER])
def test_a_text_without_both_its_sides_has_no_length(whole: bytes) -> None:
    assert ALIKE.length(whole) == 0


def test_a_frame_whose_two_sides_overlap_has_no_length() -> None:
    alike = FrameTemplate(b'data: {"a":', b'":"')

    assert alike.length(b'data: {"a":"') == alike.length(b'data: {"a":":"') == 0


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (b'data: {"text":"x"}\n\n', "y"),
        (b'data: {"text":"x","other":"x"}\n\n', "x"),
        (b'data: {"text":"text"}\n\n', "text"),
        (b'data: {"a\\"b":"x"}\n\n', "x"),
    ],
    ids=["absent", "twice", "a name", "escaped"],
)
def test_nothing_is_learnt_where_the_place_of_the_text_is_in_doubt(frame: bytes, text: str) -> None:
    assert derive_template(frame, text) is None


def test_where_the_last_like_frame_ends() -> None:
    frame = BEFORE + b'"x"' + AFTER

    assert ALIKE.last_end(frame + frame + b"data: [DONE]\n\n") == 2 * len(frame)
    assert ALIKE.last_end(b"data: [DONE]\n\n") == 0


def test_nothing_is_learnt_from_a_very_long_frame() -> None:
    text = "x" * LONGEST

    assert derive_template(BEFORE + b'"short"' + AFTER, "short") is not None
    assert derive_template(BEFORE + b'"%b"' % text.encode() + AFTER, text) is None
