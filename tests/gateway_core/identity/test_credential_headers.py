"""What plugins see of a request holds nothing that opens a door."""

from typing import Any

import pytest

from gateway_core.identity.credential_headers import (
    SECRET_HEADERS,
    scope_without_credentials,
    without_credentials,
)
from gateway_core.identity.credentials import CLI_HEADER


def test_the_rest_of_the_headers_stays() -> None:
    shown = {"content-type": "application/json", "x-session-id": "s"}

    assert dict(without_credentials({**dict.fromkeys(SECRET_HEADERS, "canary"), **shown})) == shown


@pytest.mark.parametrize(
    "name",
    [
        *("authorization", "cookie", "proxy-authorization", "x-api-key", "x-alt-api-key"),
        *("x-goog-api-key", "x-gateway-password", "x-gateway-cli-token"),
        "sec-websocket-protocol",
    ],
)
def test_every_header_with_a_credential_is_left_out(name: str) -> None:
    scope = {"headers": [(name.encode(), b"canary")]}

    assert dict(without_credentials({name: "canary"})) == {}
    assert scope_without_credentials(scope)["headers"] == []


def test_headers_without_credentials_are_read_only() -> None:
    headers: Any = without_credentials({"a": "b"})

    with pytest.raises(TypeError):
        headers["c"] = "d"


def test_a_scope_is_shown_without_credentials_and_without_the_gateway() -> None:
    scope = {
        "type": "http",
        "path": "/a",
        "app": object(),
        "state": {},
        "query_string": b"key=canary&a=b&%6bey=canary&keys=c",
        "headers": [(b"Cookie", b"canary"), (b"accept", b"*/*"), (CLI_HEADER.encode(), b"canary")],
    }

    shown = scope_without_credentials(scope)

    assert dict(shown) == {
        "type": "http",
        "path": "/a",
        "query_string": b"a=b&keys=c",
        "headers": [(b"accept", b"*/*")],
    }
    assert len(scope["headers"]) == 3  # type: ignore[arg-type]


def test_a_sockets_scope_is_shown_without_the_subprotocol_that_holds_a_key() -> None:
    offered = ["realtime", "openai-insecure-api-key.canary", "compat-insecure-api-key.canary"]
    scope = {"type": "websocket", "headers": [], "subprotocols": offered}

    assert scope_without_credentials(scope)["subprotocols"] == ["realtime"]
