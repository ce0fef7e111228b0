"""Read a vendor's whole reply."""

import msgspec
from msgspec import Raw

from gateway_core import Choice, Reply, UpstreamError
from gateway_formats.fold import as_error

from .._dialect import BROKEN, DIALECT, NULL
from .._logprobs import wrap_rows
from .._output_items import kind_of, read_item
from .._usage import read_usage
from ..errors import read_failure
from .response import UNREADABLE, contents_of, created, decode_answer, finish_of, has_rows

_rows = msgspec.json.Decoder(list[Raw])


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    try:
        answer = decode_answer(body)
        if answer.error != NULL:
            raise as_error(read_failure(answer.error))
        if answer.output is None:
            raise UpstreamError(UNREADABLE)
        if answer.status in ("failed", "cancelled"):
            raise UpstreamError(f"The upstream's answer has the status {answer.status}")
        parts = tuple(part for item in answer.output for part in read_item(item))
        # The hub has one list of rows for a whole choice.
        rows: list[Raw] = []
        for item in answer.output:
            for content in contents_of(item) if kind_of(item) == "message" else ():
                rows += _rows.decode(content.logprobs) if has_rows(content.logprobs) else ()
        choice = Choice(
            parts=parts,
            finish=finish_of(answer, parts),
            logprobs=wrap_rows(msgspec.json.encode(rows)) if rows else None,
        )
        return Reply(
            id=answer.id or "",
            model=answer.model or "",
            created=created(answer),
            choices=(choice,),
            usage=read_usage(answer.usage),
            dialect=DIALECT,
        )
    except BROKEN:
        raise UpstreamError(UNREADABLE) from None
