"""Read the reply of a vendor that compacts conversations itself."""

from gateway_core import Choice, Foreign, Reply, UpstreamError
from gateway_formats.fold import as_error

from .._dialect import BROKEN, DIALECT, NULL
from .._output_items import kind_of
from .._usage import read_usage
from ..errors import read_failure
from .response import UNREADABLE, created, decode_answer


def read_compaction(body: bytes) -> Reply:
    """Every item as it came: they are the client's to send back. Raises UpstreamError."""
    try:
        answer = decode_answer(body)
        if answer.error != NULL:
            raise as_error(read_failure(answer.error))
        if answer.output is None:
            raise UpstreamError(UNREADABLE)
        parts = [
            Foreign(dialect=DIALECT, type=kind_of(item), raw=item.copy()) for item in answer.output
        ]
        return Reply(
            id=answer.id or "",
            model=answer.model or "",
            created=created(answer),
            choices=(Choice(parts=tuple(parts)),),
            usage=read_usage(answer.usage),
            dialect=DIALECT,
        )
    except BROKEN:
        raise UpstreamError(UNREADABLE) from None
