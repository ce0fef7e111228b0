"""What a stream of this dialect looks like: lines, and a last one that says it is."""

from msgspec import MsgspecError

from gateway_core import Grammar

from .relay import decode_passing

# Python's str.splitlines and the readers built on it split at these.
_SPLITTERS = (b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85")
"""U+2028, U+2029 and U+0085: a client's reader of lines splits there too."""


def _words(stream: bytes) -> list[str]:
    *whole, rest = stream.split(b"\n")
    words: list[str] = []
    for line in whole:
        try:
            parsed = decode_passing(line)
        except (MsgspecError, UnicodeDecodeError, RecursionError):
            words.append("rubbish")
            continue
        has_message, has_error = parsed.message is not None, parsed.error is not None
        # A line holds a message or an error, never both or neither.
        if any(splitter in line for splitter in _SPLITTERS) or has_message == has_error:
            words.append("rubbish")
        else:
            words.append("error" if has_error else "done" if parsed.done else "part")
    return [*words, "rubbish"] if rest else words


GRAMMAR = Grammar(words=_words, pattern=r"(part )*(done |error )")
