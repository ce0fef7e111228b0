"""A vendor's whole answer, and the final object of its streams, which is the same."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from gateway_core import AnyPart, Finish, Refusal, ToolCall

from .._dialect import NULL
from .._logprobs import wrap_rows
from .._output_items import Content

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


class _MessageContent(Struct):
    content: list[Content] | None = None


_answer = msgspec.json.Decoder(Answer)
_message = msgspec.json.Decoder(_MessageContent)
_rows = msgspec.json.Decoder(list[Raw])


def decode_answer(raw: bytes | Raw) -> Answer:
    """Raises MsgspecError."""
    return _answer.decode(raw)


def created(answer: Answer) -> int | None:
    moment = answer.created_at
    # created_at is a float with some compatible servers; a bound keeps it a date.
    return int(moment) if isinstance(moment, int | float) and 0 <= moment < 1e12 else None


def finish_of(answer: Answer, parts: Iterable[AnyPart]) -> Finish:
    """Why an answer ended that did not fail."""
    reason = answer.incomplete_details.reason if answer.incomplete_details else None
    if answer.status == "incomplete" or reason is not None:
        if reason == "content_filter":
            return "content_filter"
        # https://platform.openai.com/docs/api-reference/responses/object#responses-object-incomplete_details
        return "length" if reason in (None, "max_output_tokens") else "pause"
    refused = False
    for part in parts:
        if isinstance(part, ToolCall):
            return "tool_calls"
        refused = refused or isinstance(part, Refusal)
    return "refusal" if refused else "stop"


def contents_of(message: Raw) -> list[Content]:
    return _message.decode(message).content or []


def rows_of_message(item: Raw) -> list[Raw | None]:
    """The log probabilities of each piece of a message."""
    return [rows_of(content) for content in contents_of(item)]


def rows_of(content: Content) -> Raw | None:
    return wrap_rows(content.logprobs) if has_rows(content.logprobs) else None


def has_rows(rows: Raw) -> bool:
    return len(rows) > 2 and rows != NULL
