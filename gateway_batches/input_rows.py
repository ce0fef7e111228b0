"""The rows of a batch's input: how they are checked, and read one after another.

A row is one JSON object in a line: ``custom_id``, ``method``, ``url`` and ``body``.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec import Raw, Struct

from .batch import ENDPOINTS, BatchError, RowUnderWay

MOST_ERRORS = 100
"""Errors of one input that are listed."""
LONGEST_ID = 512
_UNLIMITED = float("inf")


class InputRow(Struct, frozen=True):
    """One request. The members that a batch needs; others are passed over."""

    custom_id: str
    method: str
    url: str
    body: Raw

    @property
    def model(self) -> str:
        """The model that it names; empty where it names none."""
        try:
            return _model(self.body).model
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""


class _Model(Struct, frozen=True):
    model: str = ""


_model = msgspec.json.Decoder(_Model).decode


class Checked(Struct, frozen=True):
    """What was found in an input."""

    total: int
    errors: tuple[BatchError, ...] = ()


class Place(NamedTuple):
    """Where a line of an input begins."""

    line: int
    position: int


NewRow = tuple[RowUnderWay, InputRow]
_decode = msgspec.json.Decoder(InputRow).decode


def read_lines(file: BinaryIO, longest: int) -> Iterator[tuple[int, int, bytes]]:
    """Each line that is not blank: its number from 1, its position and its bytes.

    The end of a line that is longer than ``longest`` is left out, so no line takes more memory.
    """
    number, position = 0, file.tell()
    while line := file.readline(longest + 1):
        number += 1
        size = len(line)
        piece = line
        while not piece.endswith(b"\n") and (piece := file.readline(longest)):
            size += len(piece)
        if line.strip():
            yield number, position, line
        position += size


def read_row(line: bytes, endpoint: str, longest: int) -> InputRow:
    """Read one line. Raises ValueError, which says what is wrong with it."""
    if len(line) > longest:
        raise ValueError(f"the line is longer than {longest} bytes")
    try:
        row = _decode(line)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("the line is not valid JSON") from None
    if not row.custom_id:
        raise ValueError("custom_id must be a text that is not empty")
    if len(row.custom_id) > LONGEST_ID:
        raise ValueError(f"custom_id is longer than {LONGEST_ID} characters")
    if row.method != "POST":
        raise ValueError("method must be POST")
    if row.url not in ENDPOINTS:
        raise ValueError(f"url must be one of {', '.join(ENDPOINTS)}")
    if row.url != endpoint:
        raise ValueError(f"url must be the endpoint of the batch, {endpoint}")
    if not bytes(row.body).lstrip().startswith(b"{"):
        raise ValueError("body must be an object")
    return row


def check_input(
    file: BinaryIO,
    endpoint: str,
    longest: int,
    *,
    until: float = _UNLIMITED,
    clock: Callable[[], float] = time.monotonic,
) -> Checked | None:
    """Check every line of an input; ``None`` when it is not done by the time ``until``.

    To be called in a thread. What it keeps of a row are eight bytes, to see that no ``custom_id``
    occurs twice.
    """
    seen, errors, total = set[bytes](), list[BatchError](), 0
    for number, _, line in read_lines(file, longest):
        if number % 256 == 0 and clock() > until:
            return None
        total += 1
        try:
            add_id(seen, read_row(line, endpoint, longest).custom_id)
        except ValueError as error:
            errors.append(BatchError(message=str(error), code="invalid_request", line=number))
            if len(errors) >= MOST_ERRORS:
                break
    if total == 0:
        errors.append(BatchError(message="the file has no rows", code="empty_file"))
    return Checked(total, tuple(errors))


def add_id(seen: set[bytes], custom_id: str) -> None:
    """Note an id. Raises ValueError for one that was there before."""
    digest = blake2b(custom_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    if digest in seen:
        raise ValueError(f"custom_id {custom_id[:64]} occurs twice")
    seen.add(digest)


class RowReader:
    """Reads the rows of a checked input in order. Its methods are for a thread."""

    def __init__(self, file: BinaryIO, endpoint: str, longest: int) -> None:
        self._file, self._endpoint, self._longest = file, endpoint, longest

    def take(self, start: Place, most: int) -> tuple[list[NewRow], Place]:
        """At most so many rows from a place on, and the place behind them."""
        taken = list(islice(self.rows_from(start), most))
        if not taken:
            return taken, start
        return taken, Place(taken[-1][0].line + 1, self._file.tell())

    def rows_from(self, start: Place) -> Iterator[NewRow]:
        """Each row from a place on."""
        self._file.seek(start.position)
        for number, position, text in read_lines(self._file, self._longest):
            row = read_row(text, self._endpoint, self._longest)
            yield RowUnderWay(start.line + number - 1, position), row

    def read(self, row: RowUnderWay) -> InputRow:
        """A row that was begun before."""
        self._file.seek(row.position)
        return read_row(self._file.readline(self._longest + 1), self._endpoint, self._longest)

    def close(self) -> None:
        self._file.close()


def write_rows(rows: Iterable[tuple[str, Raw]], endpoint: str) -> Iterator[bytes]:
    """Rows as lines of an input, by their custom ids and bodies."""
    url = msgspec.json.encode(endpoint)
    for custom_id, body in rows:
        # A line end in JSON stands between its tokens only, where a space means the same.
        text = bytes(body).replace(b"\n", b" ").replace(b"\r", b" ")
        yield b'{"custom_id":%b,"method":"POST","url":%b,"body":%b}\n' % (
            msgspec.json.encode(custom_id),
            url,
            text,
        )
