"""The lines that a batch leaves behind: one for each row, as answer or as error.

```text
{"id":"batchreq_…","custom_id":"…","response":{"status_code":200,…},"error":null}
{"id":"batchreq_…","custom_id":"…","response":null,"error":{"type":"error","error":{…}}}
```
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from .whole_response import WholeResponse

CANCELLED, EXPIRED = "batch_cancelled", "batch_expired"
_NULL = Raw(b"null")  # A union of Raw and None would decode null only.
_ERROR_FROM = 400
_encode = msgspec.json.Encoder().encode


class RowResponse(Struct, frozen=True):
    """What a row was answered."""

    status_code: int
    request_id: str
    body: Raw


class OutputLine(Struct, frozen=True):
    """A settled row."""

    id: str
    custom_id: str
    response: RowResponse | None
    error: Raw = _NULL

    @property
    def is_success(self) -> bool:
        return self.response is not None and self.response.status_code < _ERROR_FROM


class _ErrorBody(Struct, frozen=True):
    type: str
    message: str = ""


class _Error(Struct, frozen=True):
    error: _ErrorBody


read_line = msgspec.json.Decoder(OutputLine).decode
_read_error = msgspec.json.Decoder(_Error).decode


def answer_line(id: str, custom_id: str, answer: WholeResponse) -> OutputLine:
    """The line of a row that was answered, whatever its status."""
    response = RowResponse(answer.status, answer.record.request_id, body_of(answer))
    return OutputLine(id, custom_id, response)


def error_line(id: str, custom_id: str, kind: str, message: str) -> OutputLine:
    """The line of a row that has no answer."""
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return OutputLine(id, custom_id, None, Raw(_encode(error)))


def write_line(line: OutputLine) -> bytes:
    return _encode(line) + b"\n"


def body_of(answer: WholeResponse) -> Raw:
    """An answer's body as a JSON value in one line: the document itself, or a text."""
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    if is_json and is_document(answer.body):
        return Raw(in_one_line(answer.body))
    return Raw(in_one_line(_encode(answer.body.decode("utf-8", "replace"))))


def is_document(body: bytes) -> bool:
    try:
        msgspec.json.decode(body, type=Raw)
        body.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def in_one_line(document: bytes) -> bytes:
    """A JSON document without line ends, Unicode's included, at which some readers split too.

    Line feeds stand between its tokens only; the others stand in texts only, and are escaped.
    """
    text = document.replace(b"\n", b" ").replace(b"\r", b" ")
    for code in ("\x85", "\u2028", "\u2029"):
        if (raw := code.encode()) in text:
            text = text.replace(raw, b"\\u%04x" % ord(code))
    return text


def result_of(line: OutputLine) -> Mapping[str, Any]:
    """The same as a result of a messages batch."""
    if line.response is not None:
        body = line.response.body
        if line.is_success:
            return {"type": "succeeded", "message": body}
        return {"type": "errored", "error": body}
    kind = _read_error(line.error).error.type
    if kind in (CANCELLED, EXPIRED):
        return {"type": "canceled" if kind == CANCELLED else "expired"}
    return {"type": "errored", "error": line.error}


def result_line(line: OutputLine) -> bytes:
    return _encode({"custom_id": line.custom_id, "result": result_of(line)}) + b"\n"
