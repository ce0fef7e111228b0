"""What the path and the query of a native call ask for, before its body is read."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import unquote_plus

from msgspec import Struct

from gateway_core import BadRequest, Operation, ProviderSpec
from gateway_core.contracts.errors import NotFound

PREFIX = "/v1/native"
ID = re.compile(r"[A-Za-z0-9_-]+")
"""A parameter of a path, and the id of what a vendor keeps."""
_OWN = ("model", "key")
"""Parameters of the query that are for the gateway alone: the model, and the caller's key."""
_PARAMETER = re.compile(r"\\{(\w+)\\}")


class NativeRequest(Struct, frozen=True):
    """A call that is allowed."""

    provider: ProviderSpec
    operation: Operation
    parameters: Mapping[str, str] = {}
    """Of the path."""
    query: str = ""
    """As it was sent."""

    def values(self, name: str) -> list[str]:
        """Every value of a query parameter."""
        return [value for key, value, _ in self._pairs() if key == name]

    @property
    def forwarded(self) -> str:
        """The query for the vendor."""
        return "&".join(part for key, _, part in self._pairs() if key not in _OWN)

    def _pairs(self) -> Iterable[tuple[str, str, str]]:
        """Name, value and spelling of each parameter."""
        for part in filter(None, self.query.split("&")):
            key, _, value = part.partition("=")
            yield unquote_plus(key), unquote_plus(value), part


def find_request(
    providers: Mapping[str, ProviderSpec], provider: str, method: str, path: str, query: str
) -> NativeRequest:
    """The call of a method and a path below a vendor's origin. Raises BadRequest, NotFound."""
    spec = providers.get(provider)
    if spec is None or not spec.native:
        raise BadRequest("Unknown provider")
    for operation in spec.native:
        match = _pattern(operation.path).fullmatch(path)
        if match is not None and operation.method == method:
            return NativeRequest(spec, operation, match.groupdict(), query)
    raise NotFound("Unknown native operation")


@lru_cache(maxsize=1024)
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_PARAMETER.sub(rf"(?P<\1>{ID.pattern})", re.escape(path)))
