"""What the code of plugins may see of a client's request: all of it but its credentials."""

from collections.abc import Mapping, MutableMapping
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote_plus

from .credentials import CLI_HEADER

SECRET_HEADERS = frozenset(
    {
        "authorization",
        "cookie",
        "proxy-authorization",
        # Pages in browsers, which can set no header, put a key among a WebSocket's subprotocols.
        "sec-websocket-protocol",
        "x-alt-api-key",
        "x-api-key",
        "x-gateway-password",
        "x-goog-api-key",
        CLI_HEADER,
    }
)
"""Names in lower case."""
SECRET_PARAMETERS = frozenset({"key"})
KEY_MARK = "api-key."
"""Stands before the key in a subprotocol."""
_GATEWAYS_OWN = frozenset({"app", "state"})
"""Members of a scope through which the whole gateway could be reached."""


def without_credentials(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers, names in lower case, without credentials; they cannot be written to."""
    shown = dict(headers)
    shown.pop("authorization", None)  # nearly every request has this one, and hardly any another
    if not SECRET_HEADERS.isdisjoint(shown):
        for name in SECRET_HEADERS.intersection(shown):
            del shown[name]
    return MappingProxyType(shown)


def scope_without_credentials(scope: Mapping[str, Any]) -> MutableMapping[str, Any]:
    """A copy of an ASGI scope without credentials and without a way to the gateway."""
    shown = {name: value for name, value in scope.items() if name not in _GATEWAYS_OWN}
    shown["headers"] = [
        (name, value)
        for name, value in scope["headers"]
        if name.decode("latin-1").lower() not in SECRET_HEADERS
    ]
    if "subprotocols" in shown:
        shown["subprotocols"] = [each for each in shown["subprotocols"] if KEY_MARK not in each]
    shown["query_string"] = b"&".join(
        pair
        for pair in scope.get("query_string", b"").split(b"&")
        if unquote_plus(pair.partition(b"=")[0].decode("latin-1")) not in SECRET_PARAMETERS
    )
    return shown
