"""Sockets of plugins: each class of access lets the callers of its rule through, and no others."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import SECRET
from credentials import Credential, credentials, open_credentials, passes
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.identity.access import Access

pytestmark = pytest.mark.anyio
CLASSES = [access for access in Access if access is not Access.ISOLATED]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def welcome(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


def sockets(host: object) -> list[Guarded]:
    return [Guarded(WebSocketRoute(f"/api/socket/{each}", welcome), each) for each in Access]


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {"sockets": SimpleNamespace(register_routes=hookimpl(sockets))}
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more=more) as here:
        yield here


async def knock(
    admin: AdminGateway, credential: Credential, path: str, *, denies: bool = True
) -> int:
    """101, or the status of the refusal."""
    sent: list[Any] = []
    headers = {"host": "127.0.0.1", **credential.headers}

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "scheme": "ws",
        "http_version": "1.1",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(n.encode(), v.encode()) for n, v in headers.items()],
        "client": (credential.host, 1),
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}} if denies else {},
    }
    await admin.gateway.app(scope, receive, send)
    first = sent[0]
    if first["type"] == "websocket.accept":
        return 101
    return int(first["status"]) if "status" in first else 403


@pytest.mark.parametrize("is_open", [False, True], ids=["login", "open"])
async def test_a_socket_is_open_to_the_callers_of_its_class(
    admin: AdminGateway, is_open: bool
) -> None:
    if is_open:
        await admin.core.stores.settings.patch({"requireLogin": False})
        await admin.core.refresh()
    callers = open_credentials() if is_open else await credentials(admin)

    wanted, found = {}, {}
    for name, credential in callers.items():
        for access in CLASSES:
            status = passes(access, credential, "POST")
            wanted[name, access] = 101 if status == 200 else status
            found[name, access] = await knock(admin, credential, f"/api/socket/{access}")

    assert found == wanted
    assert {401, 403, 101} <= set(wanted.values()) | ({401} if is_open else set())


async def test_a_server_that_cannot_say_why_closes(admin: AdminGateway) -> None:
    stranger = Credential()

    assert await knock(admin, stranger, "/api/socket/management", denies=False) == 403
    assert await knock(admin, stranger, "/api/unknown", denies=False) == 403
