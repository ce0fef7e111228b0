"""Which part of a content a request wants (RFC 9110, sections 13 and 14)."""

import re
from typing import NamedTuple

from gateway_core.contracts.errors import GatewayError

# Numbers that are longer than any content are the same as none: the whole content is sent.
_one = re.compile(r"bytes=[ \t]*([0-9]{0,30})-([0-9]{0,30})[ \t]*", re.IGNORECASE).fullmatch


class Span(NamedTuple):
    """Bytes from ``begin`` up to, and without, ``end``."""

    begin: int
    end: int


class Unsatisfiable(GatewayError):
    """No byte of the content is in the range."""

    status = 416
    type = "invalid_request_error"
    code = "range_not_satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__(f"The content has {size} bytes")
        self.size = size


def wanted(header: str | None, if_range: str | None, tag: str, size: int) -> Span | None:
    """The one range that is asked for; ``None`` is the whole content. Raises Unsatisfiable.

    Section 14.2 lets a server ignore what it does not want to serve. Several ranges at once cost
    the server more than the client, so they get the whole content.
    """
    found = None if header is None else _one(header.strip())
    # Section 13.1.5: only a strong tag that is the same keeps the range.
    if found is None or (if_range is not None and if_range.strip() != tag):
        return None
    first, last = found.groups()
    if first:
        begin, end = int(first), int(last) + 1 if last else size
        if last and int(last) < begin:
            return None
        if begin >= size:
            raise Unsatisfiable(size)
        return Span(begin, min(end, size))
    if not last:
        return None
    if int(last) == 0:
        raise Unsatisfiable(size)
    return Span(max(0, size - int(last)), size) if size else None


def has_tag(header: str, tag: str) -> bool:
    """Whether ``If-None-Match`` or ``If-Match`` names a tag, which is a strong one."""
    return any(each.strip() in ("*", tag) for each in header.split(","))
