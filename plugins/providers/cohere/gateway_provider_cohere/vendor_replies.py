"""Cohere's whole answer to a reply."""

from gateway_core import Reply, UpstreamError
from gateway_formats.fold import as_error, gather

from ._answer import AnswerReader, failure_of
from ._shapes import BROKEN, decode_answer


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an answer that is an error."""
    try:
        answer = decode_answer(body)
    except BROKEN:
        raise UpstreamError("The upstream gave an answer that could not be read") from None
    failure = failure_of(answer.finish_reason, answer.error, answer.error_type)
    if failure is not None:
        raise as_error(failure)
    reader = AnswerReader()
    message = answer.message
    reader.start(answer.id)
    reader.plan(message.tool_plan or "")
    contents = message.content or ()
    first = next((i for i, content in enumerate(contents) if content.text), -1)
    for index, content in enumerate(contents):
        reader.begin_content(index, content, answer.logprobs if index == first else None)
        for row in message.citations or ():
            if index == (first if row.content_index is None else row.content_index):
                reader.cite(row)
        reader.end_content()
    for index, call in enumerate(message.tool_calls or ()):
        reader.begin_call(index, call)
        reader.end_call(index)
    reader.finish(answer.finish_reason, answer.usage)
    return gather(reader.events)
