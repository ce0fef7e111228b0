"""What a stream of this dialect looks like: lines, and a last one that says it is."""

from msgspec import MsgspecError

from gateway_core import Grammar

from .relay import decode_passing

# Python's str.splitlines and the readers built on it split at these.
_SPLITTERS = (b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85")
"""U+2028, U+2029 and U+0085: a client's reader of lines splits there too."""


def _words(stream: bytes) -> list[str]:
    *whole, rest = stream.split(b"\n")
    words = [_word(line) for line in whole]
    return [*words, "rubbish"] if rest else words


def _word(line: bytes) -> str:
    try:
        parsed = decode_passing(line)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return "rubbish"
    if any(splitter in line for splitter in _SPLITTERS):
        return "rubbish"
    if parsed.error is not None:
        return "error" if parsed.message is None else "rubbish"
    if parsed.message is None:
        return "rubbish"
    return "done" if parsed.done else "part"


GRAMMAR = Grammar(words=_words, pattern=r"(part )*(done |error )")
