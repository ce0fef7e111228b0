"""What the head of an inference request says, read once for all requests that repeat it."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..contracts.wire import Endpoint, WireFormat
from ..identity.caller import Caller
from ..identity.credential_headers import without_credentials
from ..identity.keys import Key
from ..upstream.endpoints import JSON

_LENGTH = "content-length"


class Route(Struct, frozen=True):
    """An endpoint and the format whose endpoint it is."""

    endpoint: Endpoint
    wire: WireFormat


class RequestHead(Struct, frozen=True, kw_only=True):
    """A request whose body has not been looked at, from a caller who may pass."""

    route: Route
    parameters: Mapping[str, str]
    """Of the path."""
    path: str
    caller: Caller
    headers: Mapping[str, str]
    """Names in lower case, without credentials."""
    is_json: bool
    """Whether the body says that it is JSON."""
    key: Key | None
    """Whose rules hold and who is charged; nobody's for the command line."""

    def again(self, length: str) -> "RequestHead":
        """The same head, but for the length of its body."""
        if self.headers[_LENGTH] == length:
            return self
        headers = MappingProxyType({**self.headers, _LENGTH: length})
        return RequestHead(
            route=self.route,
            parameters=self.parameters,
            path=self.path,
            caller=self.caller,
            headers=headers,
            is_json=self.is_json,
            key=self.key,
        )


def read_request_head(
    route: Route,
    parameters: Mapping[str, str],
    path: str,
    caller: Caller,
    headers: Mapping[str, str],
) -> RequestHead:
    """Read a head; ``headers`` are whole."""
    return RequestHead(
        route=route,
        parameters=parameters,
        path=path,
        caller=caller,
        headers=without_credentials(headers),
        is_json=is_json(headers.get("content-type", "")),
        key=None if caller.is_cli else caller.key,
    )


def is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == JSON or kind.endswith("+json")
