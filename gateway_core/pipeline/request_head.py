"""The head of an inference request, read once for all requests of a connection that repeat it."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..contracts.wire import Endpoint, WireFormat
from ..identity.caller import Caller
from ..identity.credential_headers import without_credentials
from ..identity.credentials import Identity
from ..identity.keys import Key
from ..upstream.endpoints import JSON

_LENGTH = "content-length"


class EndpointRoute(Struct, frozen=True):
    """An endpoint and the format whose endpoint it is."""

    endpoint: Endpoint
    wire: WireFormat


class RequestHead(Struct, frozen=True, kw_only=True):
    """A request whose body was not read yet, from a caller who is let in."""

    route: EndpointRoute
    parameters: Mapping[str, str]
    """Of the path."""
    path: str
    caller: Caller
    headers: Mapping[str, str]
    """Names in lower case, without credentials."""
    is_json: bool
    """The content type is JSON."""
    key: Key | None
    """The key whose policy holds and that is charged; ``None`` for the command line."""
    is_shared: bool
    """A key was shown, so pages of every origin may read the answer."""
    is_direct: bool
    """Nothing in the head keeps the request from the fast path."""

    def with_length(self, length: str) -> "RequestHead":
        """The same head with another ``content-length``."""
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
            is_shared=self.is_shared,
            is_direct=self.is_direct,
        )


class AdmittedHead(Struct, frozen=True):
    """A head that was let in, so that a repetition need not be checked again."""

    head: RequestHead
    key_changes: int
    """How often keys had changed by then."""

    def renew(self, identity: Identity, length: bytes) -> RequestHead | None:
        """The head of a request with a body of this length, if it would still be let in."""
        if self.key_changes != identity.keys.changes:
            return None
        key = self.head.caller.key
        # An expiry is no change of a key: the clock alone decides.
        if key is not None and key.expires_at is not None and not key.is_good(identity.clock()):
            return None
        return self.head.with_length(length.decode("ascii"))


def read_request_head(
    route: EndpointRoute,
    parameters: Mapping[str, str],
    path: str,
    caller: Caller,
    headers: Mapping[str, str],
) -> RequestHead:
    """Read a head; ``headers`` are whole."""
    endpoint, has_json = route.endpoint, is_json(headers.get("content-type", ""))
    takes_json = endpoint.body == "json" and endpoint.counting is None
    return RequestHead(
        route=route,
        parameters=parameters,
        path=path,
        caller=caller,
        headers=without_credentials(headers),
        is_json=has_json,
        key=None if caller.is_cli else caller.key,
        is_shared=caller.has_shown,
        is_direct=takes_json and has_json and "content-encoding" not in headers,
    )


def is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == JSON or kind.endswith("+json")
