"""What MCP clients speak: JSON-RPC in a POST, and the older transport with a stream of events.

Model Context Protocol: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gateway_core import GatewayError
from gateway_core.contracts.errors import BadRequest, NotFound, Unauthorized, Unavailable
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER, is_same_origin, own_origin
from gateway_core.identity.keys import by_header
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.plugin_host import running_version
from gateway_core.pipeline.request_body import read_body

from .links import ToolRefused
from .tools import Asker, Tools, UnknownTool

NAME = "model-gateway-mcp"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The newest first: what a client gets that asks for none of them."""
PARSE_ERROR, NO_REQUEST, UNKNOWN, NO_NAME, FAILED = -32700, -32600, -32601, -32602, -32000
MISSING, INVALID = "gateway key missing", "gateway key invalid"
MOST_BODY = 4 * 1024 * 1024
"""Bytes."""
MOST_STREAMS = 100
MOST_WAITING = 32
"""Answers that the client of a stream has not taken, and requests of it under way."""
PING_SECONDS = 15.0


class Rpc(Struct, frozen=True):
    """A request, or a notification without an id."""

    jsonrpc: str
    method: str
    id: int | str | None = None
    params: dict[str, Any] | None = None


class Answer(Struct, frozen=True):
    """``result`` or ``error``, with the request's id."""

    id: int | str | None
    result: dict[str, Any] | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET
    jsonrpc: str = "2.0"


class Stream:
    """A client of the older transport."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.answers: asyncio.Queue[Answer] = asyncio.Queue(MOST_WAITING)
        self.work: set[asyncio.Task[None]] = set()


class Surface:
    """The endpoint of one gateway."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._streams: dict[str, Stream] = {}

    async def post(self, request: Request) -> Response:
        """Raises Unauthorized, BodyTooLarge, ClientGone."""
        asker = await self._asker(request)
        rpc = await read_rpc(request)
        if isinstance(rpc, Answer):
            return json_answer(rpc, 400)
        answer = await self._answer(asker, rpc, request_id_of(request))
        return Response(status_code=202) if answer is None else json_answer(answer)

    async def stream(self, request: Request) -> Response:
        """Raises Unauthorized, Unavailable."""
        asker = await self._asker(request)
        if len(self._streams) >= MOST_STREAMS:
            raise Unavailable(f"{MOST_STREAMS} streams are open already", retry_after=5)
        id = secrets.token_urlsafe(24)
        stream = self._streams[id] = Stream(asker)
        address = request.url.path.removesuffix("/sse") + f"/message?sessionId={id}"

        async def events() -> AsyncIterator[bytes]:
            try:
                yield f"event: endpoint\ndata: {address}\n\n".encode()
                while True:
                    try:
                        async with asyncio.timeout(PING_SECONDS):
                            answer = await stream.answers.get()
                    except TimeoutError:
                        yield b": ping\n\n"
                        continue
                    yield b"event: message\ndata: " + msgspec.json.encode(answer) + b"\n\n"
            finally:
                del self._streams[id]
                for each in stream.work:
                    each.cancel()

        headers = {**NO_STORE, "x-accel-buffering": "no"}
        return StreamingResponse(events(), headers=headers, media_type="text/event-stream")

    async def message(self, request: Request) -> Response:
        """Raises Unauthorized, BadRequest, NotFound, Unavailable, BodyTooLarge, ClientGone."""
        asker = await self._asker(request)
        id = request.query_params.get("sessionId", "")
        if not id:
            raise BadRequest("sessionId is missing")
        stream = self._streams.get(id)
        if stream is None or _id(stream.asker) != _id(asker):
            raise NotFound("There is no such session")
        rpc = await read_rpc(request)
        if isinstance(rpc, Answer):
            return json_answer(rpc, 400)
        if len(stream.work) >= MOST_WAITING or stream.answers.full():
            raise Unavailable("Too many answers are waited for", retry_after=1)
        request_id = request_id_of(request)

        async def work() -> None:
            # The key as it is now, not as it was when the stream began.
            answer = await self._answer(asker, rpc, request_id)
            if answer is not None:
                await stream.answers.put(answer)

        task = asyncio.create_task(work())
        stream.work.add(task)
        task.add_done_callback(stream.work.discard)
        return Response(status_code=202)

    async def _asker(self, request: Request) -> Asker:
        """Who asks: a gateway key, the command line, or a program on this machine.

        A key that is shown counts, wherever it comes from. Raises Unauthorized.
        """
        headers = headers_of(request.scope)
        shown = list(by_header(headers))[:4]
        for text in shown:
            key = await self._tools.keys.find(text)
            if key is not None:
                return Asker(key)
        caller: Caller = request.scope[CALLER]
        if caller.is_cli:
            return Asker(None)
        if shown:
            raise Unauthorized(INVALID)
        public = self._tools.core.identity.public_origin
        is_own = is_same_origin(headers, own_origin(request.scope, headers, public))
        if caller.is_local and is_own:
            return Asker(None)
        raise Unauthorized(MISSING)

    async def _answer(self, asker: Asker, rpc: Rpc, request_id: str) -> Answer | None:
        """``None`` for a notification."""
        params = rpc.params or {}
        if rpc.id is None:
            return None
        match rpc.method:
            case "initialize":
                asked = params.get("protocolVersion")
                return Answer(
                    rpc.id,
                    {
                        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
                        "capabilities": {"tools": {"listChanged": False}},
                        "serverInfo": {"name": NAME, "version": running_version()},
                    },
                )
            case "ping":
                return Answer(rpc.id, {})
            case "tools/list":
                return Answer(rpc.id, {"tools": await self._tools.list(asker)})
            case "tools/call":
                return await self._call(asker, rpc.id, params, request_id)
        return failed(rpc.id, UNKNOWN, f"Unknown method: {rpc.method[:200]}")

    async def _call(
        self, asker: Asker, id: int | str, params: dict[str, Any], request_id: str
    ) -> Answer:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not name:
            return failed(id, NO_NAME, "params.name is missing")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            return failed(id, NO_NAME, "params.arguments is no object")
        try:
            return Answer(id, await self._tools.call(asker, name, arguments, request_id))
        except UnknownTool as error:
            return failed(id, UNKNOWN, error.message)
        except ToolRefused as error:
            return failed(id, error.rpc_code, error.message)
        except GatewayError as error:
            return failed(id, FAILED, error.message)


def failed(id: int | str | None, code: int, message: str) -> Answer:
    return Answer(id, error={"code": code, "message": message})


async def read_rpc(request: Request) -> Rpc | Answer:
    """The request of a body, or what is wrong with it. Raises BodyTooLarge, ClientGone."""
    body = await read_body(request.receive, headers_of(request.scope), MOST_BODY)
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return failed(None, PARSE_ERROR, "The body is not valid JSON")
    try:
        rpc = msgspec.convert(value, Rpc)
    except msgspec.ValidationError as error:
        return failed(None, NO_REQUEST, f"Not a JSON-RPC request: {error}")
    if rpc.jsonrpc != "2.0":
        return failed(rpc.id, NO_REQUEST, "jsonrpc has to be 2.0")
    return rpc


def _id(asker: Asker) -> str:
    return "" if asker.key is None else asker.key.id
