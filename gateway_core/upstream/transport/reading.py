"""Bytes of a connection to answers, however the bytes are cut. No I/O.

llhttp does the parsing and is strict about framing; what it leaves open is
decided here: interim answers, transfer codings, sizes, and bodies that end
with the connection.
"""

from collections import deque
from collections.abc import Callable, MutableSequence

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from ...contracts.errors import TransportError
from .answers import UpstreamAnswer
from .failures import garbage, head_too_large
from .fields import Field, Fields
from .limits import HEAD_BYTES, HEAD_FIELDS

FRAMED = {"content-length", "transfer-encoding"}
VERSIONS = {"1.0", "1.1"}
UNREADABLE = (HttpParserError, HttpParserUpgrade)
"""What the parser raises. ``stop`` knows what it means."""


class Enough(Exception):
    """Stops the parser behind the head of an answer to HEAD, which only describes a body."""


class Reader:
    """Fills one answer after another; ``begin`` comes before the bytes of each."""

    answer: UpstreamAnswer

    def __init__(self) -> None:
        self.complete = False
        """The whole answer has come."""
        self.reusable = False
        """Another answer may follow on the same connection."""
        self.quiet = 0
        """Bytes since the exchange began, or since there was last some of its body to take."""
        self.until_close = False
        """The answer ends when the connection does."""
        self._bodiless = False
        self._coded = False
        self._fields: MutableSequence[Field] = []
        # RFC 9112 section 7.1.2: trailers may be discarded; a deque of length 0 does so.
        self._trailers: deque[Field] = deque(maxlen=0)
        self._pieces: list[bytes] = []
        """What of the body has come; lent to each answer for as long as it comes."""
        self.on_body = self._pieces.append
        self._parser = HttpResponseParser(self)
        self.parse: Callable[[bytes | memoryview], None] = self._parser.feed_data
        """Takes bytes of an answer whose head has come; the caller sees what they brought. Raises
        UNREADABLE, which is for ``stop``."""

    def begin(self, answer: UpstreamAnswer, *, bodiless: bool) -> None:
        """Expect an answer; ``bodiless`` when the request was a HEAD."""
        self.answer = answer
        self._pieces.clear()
        answer.chunks = self._pieces
        self.complete = False
        self.reusable = True
        self.quiet = 0
        self.until_close = False
        self._bodiless = bodiless
        self._coded = False
        self._fields = []

    def feed(self, data: bytes | memoryview, answer: UpstreamAnswer) -> None:
        """Take the next bytes. Raises TransportError when they cannot belong to an answer."""
        self.quiet += len(data)
        try:
            self.parse(data)
        except UNREADABLE as error:
            self.stop(error)
            return
        if self._pieces:
            self.quiet = 0
        else:
            self.note_silence(0)

    def note_silence(self, size: int) -> None:
        """So many bytes were none of the body. Raises TransportError when they are too many."""
        self.quiet += size
        if self.quiet > HEAD_BYTES and not self.complete:
            raise garbage() if self.answer.status else head_too_large()

    def close(self) -> None:
        """Break the reference cycle with the parser, so that no garbage collection is needed."""
        del self._parser, self.parse

    def stop(self, error: Exception) -> None:
        """The parser reads no further. Raises TransportError, unless the answer is whole."""
        if isinstance(error, TransportError):
            raise error
        self.reusable = False
        if self.complete:
            # The answer is whole. What follows it was not requested, so the connection is not used
            # again (RFC 9112 section 9.2).
            return
        cause = error.__context__
        raise cause if isinstance(cause, TransportError) else garbage() from error

    # What follows is called by the parser.

    def on_message_begin(self) -> None:
        if self.complete:
            raise Enough

    def on_header(self, name: bytes, value: bytes) -> None:
        if 16 <= len(name) <= 17:
            self._note_coding(name.lower(), value.strip().lower())
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            # RFC 9110 section 15.2: interim answers are skipped. RFC 9112 section 6.3: they have no
            # body. The parser itself stops at a 101.
            if status < 100 or not FRAMED.isdisjoint(Fields(self._fields)):
                raise garbage()
            return
        fields, self._fields = self._fields, self._trailers
        if len(fields) > HEAD_FIELDS or (
            # What came in one piece with the head may be body, so the fields are counted too.
            self.quiet > HEAD_BYTES and sum(len(n) + len(v) + 4 for n, v in fields) > HEAD_BYTES
        ):
            raise head_too_large()
        answer = self.answer
        answer.headers = Fields(fields)
        answer.status = status
        if not self._parser.should_keep_alive():
            self.reusable = False
            if self._parser.get_http_version() not in VERSIONS:
                raise garbage()
            # RFC 9112 section 6.3: without a length or chunks the body ends with the connection.
            self.until_close = FRAMED.isdisjoint(answer.headers)
        if self._bodiless:
            # RFC 9110 section 9.3.2: an answer to HEAD has no body, whatever its length field says.
            self.complete = True
            raise Enough

    def on_message_complete(self) -> None:
        if self._fields is self._trailers:
            self.complete = True
        else:
            # An interim answer has ended; the real one follows.
            self._fields = []

    def _note_coding(self, name: bytes, value: bytes) -> None:
        if name == b"transfer-encoding":
            # No TE was sent, so chunked is the only coding a server may use (RFC 9112 section
            # 7.4), and only once (section 6.1).
            if self._coded or value != b"chunked":
                raise garbage()
            self._coded = True
        elif name == b"content-encoding" and self._fields is not self._trailers:
            self.answer.is_coded = value not in (b"", b"identity")
