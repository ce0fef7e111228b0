"""A vendor's whole answer, and the final object of its streams, which is the same."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    Choice,
    Finish,
    Refusal,
    Reply,
    ToolCall,
    UpstreamError,
    Usage,
)
from gateway_formats.fold import as_error

from .dialect import DIALECT, NULL
from .errors import read_failure
from .logprobs import wrapped
from .members import BROKEN
from .parts import Content, kind_of, read_item, text_of
from .usage import read_usage

UNREADABLE = "The upstream gave an answer that could not be read"
ENDED = ("response.completed", "response.incomplete")


class Incomplete(Struct):
    reason: str | None = None


class Answer(Struct):
    """The ``response`` object, as much as matters."""

    id: str | None = None
    model: str | None = None
    created_at: int | float | str | None = None
    status: str | None = None
    output: list[Raw] | None = None
    usage: Raw = NULL
    error: Raw = NULL
    incomplete_details: Incomplete | None = None


class _Message(Struct):
    content: list[Content] | None = None


_answer = msgspec.json.Decoder(Answer)
_message = msgspec.json.Decoder(_Message)
_rows = msgspec.json.Decoder(list[Raw])


def decode_answer(raw: bytes | Raw) -> Answer:
    """Raises MsgspecError."""
    return _answer.decode(raw)


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    try:
        answer = decode_answer(body)
        if answer.error != NULL:
            raise as_error(read_failure(answer.error))
        if answer.output is None:
            raise UpstreamError(UNREADABLE)
        return _reply(answer, answer.output)
    except BROKEN:
        raise UpstreamError(UNREADABLE) from None


def _reply(answer: Answer, output: list[Raw]) -> Reply:
    if answer.status in ("failed", "cancelled"):
        raise UpstreamError(f"The upstream's answer has the status {answer.status}")
    parts = tuple(part for item in output for part in read_item(item))
    choice = Choice(parts=parts, finish=finish_of(answer, parts), logprobs=_logprobs(output))
    return Reply(
        id=answer.id or "",
        model=answer.model or "",
        created=created(answer),
        choices=(choice,),
        usage=read_usage(answer.usage),
        dialect=DIALECT,
    )


def created(answer: Answer) -> int | None:
    moment = answer.created_at
    return int(moment) if isinstance(moment, int | float) and 0 <= moment < 1e12 else None


def finish_of(answer: Answer, parts: Iterable[AnyPart]) -> Finish:
    """Why an answer ended that did not fail."""
    reason = answer.incomplete_details.reason if answer.incomplete_details else None
    if answer.status == "incomplete" or reason is not None:
        if reason == "content_filter":
            return "content_filter"
        return "length" if reason in (None, "max_output_tokens") else "pause"
    refused = False
    for part in parts:
        if isinstance(part, ToolCall):
            return "tool_calls"
        refused = refused or isinstance(part, Refusal)
    return "refusal" if refused else "stop"


def _logprobs(output: Iterable[Raw]) -> Raw | None:
    """The rows of all texts, in the shape of the hub."""
    rows: list[Raw] = []
    for item in output:
        if kind_of(item) == "message":
            for content in _message.decode(item).content or ():
                rows += _rows.decode(content.logprobs) if has_rows(content.logprobs) else ()
    return wrapped(msgspec.json.encode(rows)) if rows else None


def rows_of_message(item: Raw) -> list[Raw | None]:
    """The log probabilities of each piece of a message."""
    return [rows_of(content) for content in _message.decode(item).content or ()]


def rows_of(content: Content) -> Raw | None:
    return wrapped(content.logprobs) if has_rows(content.logprobs) else None


def has_rows(rows: Raw) -> bool:
    return len(rows) > 2 and rows != NULL


def length_of(output: Iterable[Raw]) -> int:
    """Characters of text, thinking and arguments in the items of an answer."""
    parts = (part for item in output for part in read_item(item))
    return sum(len(text_of(part)) for part in parts)


def overhear(body: bytes) -> tuple[Usage | None, int]:
    """Usage and length of a whole answer that passes by; raises as WholeRelay wants it."""
    answer = decode_answer(body)
    if answer.error != NULL:
        raise as_error(read_failure(answer.error))
    if answer.output is None:
        raise UpstreamError(UNREADABLE)
    return read_usage(answer.usage), length_of(answer.output)
