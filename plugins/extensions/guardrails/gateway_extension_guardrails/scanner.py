"""Finds what a rule looks for in a text that comes in pieces.

However a text is cut, the same places are found, and nothing of one is given out before it is
known:

```text
given out ◀── decided ── │ may be the beginning of something: held back ── next piece
```

Texts are looked at as UTF-8, because the library's offsets are those of bytes.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from .expressions import Expression

LONGEST = 16384
"""Bytes for which a match that does not end is followed."""
_CONTEXT = 128
"""Bytes before the text that expressions see: a character for the boundary of a word, and what may
be the beginning of a detector's ``end``."""


class Detector(Struct, frozen=True, kw_only=True):
    """One expression, and what is known of its matches."""

    pattern: Expression
    label: str
    """What is found, for notes."""
    longest: int
    """Characters of a match; one that is longer is found as far as ``tail`` says."""
    alphabet: bytes = b""
    """The characters that a match may have; empty for any. Text that ends with others need not be
    held back."""
    measure: Callable[[str], int] | None = None
    """How many characters of a match, all ASCII, are what is looked for: what an expression cannot
    say."""
    tail: bytes = b""
    """With these characters a match goes on, however long it gets."""
    end: Expression | None = None
    """A match goes on until this one matches."""


class Span(Struct, frozen=True, order=True):
    """A place in the buffer that was found."""

    start: int
    stop: int
    label: str
    """Empty where it goes on with one that was found before."""


class Scanner:
    """Looks at one text, with what a rule looks for."""

    def __init__(self, detectors: Sequence[Detector], replacement: Callable[[str], str]) -> None:
        """``replacement`` gives what stands in the place of what was found, by its label."""
        self._tracks = [Track(each) for each in detectors]
        self._replacement = replacement
        self._buffer = b""
        self._given = self._covered = 0
        """Up to where the buffer was given out, and up to where it was found."""
        self._spans: list[Span] = []

    def feed(self, piece: str, *, is_last: bool) -> tuple[str, list[str]]:
        """What may be given out, and the labels of what was found in it."""
        buffer = self._buffer = self._buffer + piece.encode(errors="surrogatepass")
        for track in self._tracks:
            self._spans += track.look(buffer, is_last=is_last)
        safe = min(track.safe for track in self._tracks)
        output, labels = [], []
        self._spans.sort(key=lambda span: (span.start, -span.stop))
        while self._spans and self._spans[0].start < safe:
            span = self._spans.pop(0)
            if span.label:
                labels.append(span.label)
            if span.start >= self._covered:
                output.append(buffer[self._given : span.start])
                if span.label:
                    output.append(self._replacement(span.label).encode())
            self._covered = max(self._covered, span.stop)
            self._given = max(self._given, self._covered)
        output.append(buffer[self._given : safe])
        self._given = max(self._given, safe)
        self._forget()
        return b"".join(output).decode(errors="surrogatepass"), labels

    def _forget(self) -> None:
        """Drop what nobody looks at again."""
        needed = min(self._given, *(track.position for track in self._tracks)) - _CONTEXT
        if needed <= 0:
            return
        self._buffer = self._buffer[needed:]
        self._given -= needed
        self._covered -= needed
        self._spans = [Span(s.start - needed, s.stop - needed, s.label) for s in self._spans]
        for track in self._tracks:
            track.shift(needed)


class Track:
    """How far one detector has looked."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.position = 0
        """No match begins before it that is not known."""
        self.safe = 0
        """All matches that begin before it are known."""
        self._is_growing = self._is_open = False
        """What was found last goes on, with characters of its tail, or up to its end."""
        self._opened = 0
        """Where it may end at the earliest."""

    def shift(self, by: int) -> None:
        self.position -= by
        self.safe -= by
        self._opened -= by

    def look(self, buffer: bytes, *, is_last: bool) -> Iterator[Span]:
        """What is new."""
        size, detector = len(buffer), self._detector
        held = size if is_last else self._held_from(buffer)
        if self._is_growing:
            yield self._grow(buffer)
        while not self._is_growing:
            if self._is_open:
                yield self._close(buffer)
                if self._is_open:
                    break
            match = detector.pattern.search(buffer, self.position)
            if match is None or (match.start() >= held and not is_last):
                self.position = self.safe = max(self.position, held)
                return
            start, stop = match.span()
            goes_on = detector.tail or detector.end is not None
            if stop == size and not is_last and not goes_on and size - start < LONGEST:
                # More of it may come. The loop does not wait for it; the text does.
                self.position = self.safe = start
                return
            if detector.measure is not None:
                length = detector.measure(match.group().decode())
                if not length:
                    self.position = _behind_first_group(buffer, start)
                    continue
                stop = start + length
            if stop == start:  # nothing was found
                self.position = stop + 1
                if self.position > size:
                    break
                continue
            self.position = self._opened = stop
            yield Span(start, stop, match.lastgroup or detector.label)
            self._is_open = detector.end is not None
            if detector.tail:
                self._is_growing = stop == size and not is_last
        self.safe = size

    def _grow(self, buffer: bytes) -> Span:
        start, rest = self.position, buffer[self.position :].lstrip(self._detector.tail)
        self.position = len(buffer) - len(rest)
        self._is_growing = not rest
        return Span(start, self.position, "")

    def _close(self, buffer: bytes) -> Span:
        assert self._detector.end is not None
        start = self.position
        # The end may have begun in what was looked at before.
        earliest = max(0, self._opened, start - self._detector.longest)
        match = self._detector.end.search(buffer, earliest)
        self.position = len(buffer) if match is None else max(start, match.end())
        self._is_open = match is None
        return Span(start, self.position, "")

    def _held_from(self, buffer: bytes) -> int:
        """Where a match may have begun that is not whole yet."""
        detector, size = self._detector, len(buffer)
        # A character has up to four bytes (RFC 3629).
        is_short = buffer[-detector.longest :].isascii()
        held = max(0, size - detector.longest * (1 if is_short else 4))
        if detector.alphabet:
            held = max(held, len(buffer.rstrip(detector.alphabet)))
        while 0 < held < size and buffer[held] & 0xC0 == 0x80:
            held -= 1
        return held


def _behind_first_group(buffer: bytes, start: int) -> int:
    """Where to look on behind a number that is none: its first group of digits may not belong to
    it."""
    position = start + 1
    while position < len(buffer) and buffer[position : position + 1].isalnum():
        position += 1
    return position
