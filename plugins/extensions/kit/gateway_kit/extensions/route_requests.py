"""Requests that a route serves, made from its path, and junk to put into them."""

import re
from collections.abc import Iterator

from msgspec import Struct
from starlette.routing import Match

from gateway_core.http.operations import Guarded

JUNK_BODIES = (
    *(b"", b"{", b"\xff\xfe", b"null", b"7", b'"x"', b"[]", b"{}"),
    *(b'{"":{"a":[null]},"name":7,"id":[],"value":{},"text":null}', b"[" * 2_000 + b"]" * 2_000),
)
JUNK_WORDS = ("0", "-1", "x" * 300, "%F0%9F%8C%8D", "null", "%27", "a%20b", "1.5e9")
JUNK_QUERIES = ("limit=-1&page=x&id=%00", "=&&=%ff", "limit=1&limit=2&a[]=1", "limit=1e9")
_PARAMETER = re.compile(r"\{(\w+)(?::(\w+))?\}")
_FITTING = {"int": "1", "float": "1.5", "uuid": "00000000-0000-4000-8000-000000000000"}


class ReceivedRequest(Struct, frozen=True, kw_only=True):
    """A method of a route."""

    guarded: Guarded
    method: str
    template: str
    """The path, as it is registered."""

    def __str__(self) -> str:
        return f"{self.method} {self.template}"

    @property
    def has_parameters(self) -> bool:
        return bool(_PARAMETER.search(self.template))

    @property
    def path(self) -> str:
        """A path that the route serves."""
        return _PARAMETER.sub(lambda match: _FITTING.get(match[2] or "", "one"), self.template)

    def fill_path(self, word: str) -> str:
        """The path with this word in every place."""
        return _PARAMETER.sub(lambda _: word, self.template)


def route_methods(guarded: Guarded) -> Iterator[ReceivedRequest]:
    """Each method that is served, HEAD apart; none of a socket or a mounted application."""
    path, methods = (getattr(guarded.route, name, None) for name in ("path", "methods"))
    if path is not None and methods:
        for method in sorted(methods - {"HEAD"}):
            yield ReceivedRequest(guarded=guarded, method=method, template=path)


def matches(guarded: Guarded, method: str, path: str) -> bool:
    """Whether a route serves this."""
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    return guarded.route.matches(scope)[0] is Match.FULL
