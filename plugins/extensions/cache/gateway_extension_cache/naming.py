"""Under which names answers are kept: all that they depend on, and for whom they are."""

from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from gateway_core import Conversation, Text
from gateway_filters.sources import Question

LONGEST_TEXT = 8192
"""Characters of a question that is compared by its meaning."""


def name_of(question: Question, scope: str) -> str:
    """Of the very same request, whatever the client called the model."""
    return _digest("same", _place(question, scope), _canonical(question.request.body))


def name_of_similar(question: Question, scope: str, conversation: Conversation) -> str:
    """Of all requests that differ in their last text only."""
    said = msgspec.json.encode(conversation)
    return _digest("similar", [question.call.format, *_place(question, scope)], said)


def without_last_text(conversation: Conversation) -> tuple[str, Conversation]:
    """What the user said last, and everything else; an empty text where that is no text."""
    turns = conversation.turns
    if not turns or turns[-1].role != "user":
        return "", conversation
    texts = [part.text for part in turns[-1].parts if isinstance(part, Text)]
    text = "\n".join(texts)
    if not text.strip() or len(text) > LONGEST_TEXT:
        return "", conversation
    parts = (replace(part, text="") if isinstance(part, Text) else part for part in turns[-1].parts)
    last = replace(turns[-1], parts=tuple(parts))
    # The model is in the name by what it is, not by what the client called it.
    return text, replace(conversation, model="", turns=(*turns[:-1], last))


def _place(question: Question, scope: str) -> list[Any]:
    target, call = question.target, question.call
    # Headers of the client that its vendor gets; those with the account's secret are no client's.
    shown = {
        name: value
        for name, value in question.request.headers.items()
        if call.headers.get(name) == value and name not in ("traceparent", "tracestate")
    }
    return [
        scope,
        sorted(question.accounts),
        target.provider.id,
        target.model.id,
        question.request.url,
        call.stream,
        sorted(shown.items()),
    ]


def _canonical(body: bytes) -> bytes:
    """A JSON body whose members are in order, so that equal requests of two programs are one."""
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    except (msgspec.DecodeError, RecursionError):
        return body


def _digest(kind: str, place: list[Any], content: bytes) -> str:
    digest = blake2b(msgspec.json.encode((kind, place)), digest_size=32)
    digest.update(content)
    return digest.hexdigest()
