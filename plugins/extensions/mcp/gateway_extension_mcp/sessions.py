"""Sessions with MCP servers, on the ``mcp`` library. Imported with the first one: it takes long.

Of an answer nothing is checked against schemas that the server itself sends: a pattern of theirs
could keep the process busy for ever.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.plugin_host import running_version

from .instances import Instance
from .outbound import UNSENT, http_client
from .programs import program
from .settings import Settings

MOST_PAGES = 20
MOST_TOOLS = 1000
RESULT = ("content", "structuredContent", "isError")
"""What of a result is the client's; the rest is between the server and the gateway, whose versions
of the protocol may be others than the client's."""
TERMINATED = "Session terminated"
"""How the library words that a server has forgotten a session; it has done nothing then."""


class Refused(Exception):
    """The server answered with an error, or with what is none of the protocol's answers."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    @property
    def is_forgotten(self) -> bool:
        return self.code == types.INVALID_REQUEST and self.message == TERMINATED

    @property
    def is_over(self) -> bool:
        """The connection is of no more use."""
        return self.is_forgotten or self.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT)

    @property
    def is_unsent(self) -> bool:
        """The network failed, with the message's words."""
        return self.code == UNSENT

    @property
    def is_late(self) -> bool:
        return self.code == types.REQUEST_TIMEOUT


class Session:
    """An open session."""

    def __init__(self, session: ClientSession, seconds: float) -> None:
        self._session, self._seconds = session, seconds

    async def tools(self) -> list[dict[str, Any]]:
        """Every tool, as the server describes it. Raises Refused."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
            asked = types.ListToolsRequest(params=params)
            page = await self._ask(asked, types.ListToolsResult)
            found += (_plain(tool) for tool in page.tools)
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        return found[:MOST_TOOLS]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A tool's result. Raises Refused."""
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        asked = types.CallToolRequest(params=params)
        result = _plain(await self._ask(asked, types.CallToolResult))
        return {name: result[name] for name in RESULT if name in result}

    async def _ask(self, asked: Any, kind: type[Any]) -> Any:
        try:
            return await self._session.send_request(
                asked, kind, request_read_timeout_seconds=self._seconds
            )
        except MCPError as error:
            raise Refused(error.code, error.message) from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise Refused(types.CONNECTION_CLOSED, "the connection is closed") from None
        except ValidationError:
            raise Refused(types.INTERNAL_ERROR, "its answer is not one of the protocol") from None


@asynccontextmanager
async def opened(
    core: Collaborators, instance: Instance, settings: Settings, ended: Callable[[], None]
) -> AsyncIterator[Session]:
    """A session with an instance's server. ``ended`` is called when a program has ended.

    Raises what the library raises.
    """
    async with Client(
        _transport(core, instance, settings, ended),
        cache=None,
        client_info=types.Implementation(name="model-gateway", version=running_version()),
        read_timeout_seconds=settings.start_seconds,
    ) as client:
        yield Session(client.session, settings.call_seconds)


def _transport(
    core: Collaborators, instance: Instance, settings: Settings, ended: Callable[[], None]
) -> AbstractAsyncContextManager[Any]:
    if instance.is_program:
        return program(
            instance.command,
            instance.args,
            instance.env,
            most_bytes=settings.most_bytes,
            ended=ended,
        )

    def client(headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None) -> Any:
        return http_client(core, settings, {**(headers or {}), **instance.headers})

    if instance.transport == "sse":
        return sse_client(instance.url, httpx_client_factory=client)
    return _streamable(instance.url, client)


@asynccontextmanager
async def _streamable(url: str, client: Callable[[], Any]) -> AsyncIterator[Any]:
    async with client() as http, streamable_http_client(url, http_client=http) as streams:
        yield streams


def _plain(model: Any) -> dict[str, Any]:
    """As the server wrote it."""
    plain: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return plain
