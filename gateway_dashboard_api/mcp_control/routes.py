"""``POST /api/mcp/control``: one JSON-RPC request in, one answer out, and no session (facts: Q.1).

Model Context Protocol: https://modelcontextprotocol.io/specification/2024-11-05
JSON-RPC 2.0: https://www.jsonrpc.org/specification
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, Forbidden, GatewayError, Unauthorized
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import UNAUTHORIZED, Access, permit
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import is_same_origin
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.plugin_host import running_version
from gateway_core.pipeline.request_body import read_body

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..login.cookies import origin
from ..requests import LIMIT
from .management_calls import ManagementRoutes
from .tools import TOOLS, schema_of

PATH = "/api/mcp/control"
PROTOCOL = "2024-11-05"
NAME = "model-gateway-control"
PARSE_ERROR, NO_REQUEST, UNKNOWN, NO_NAME = -32700, -32600, -32601, -32602


class JsonRpcRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request, or a notification without an id."""

    jsonrpc: str
    method: str
    id: int | str | None = None
    params: dict[str, Any] | None = None


class JsonRpcAnswer(Struct, frozen=True, omit_defaults=True):
    """``result`` or ``error``, with the request's id."""

    id: int | str | None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    jsonrpc: str = "2.0"


def routes(admin: AdminContext, others: Sequence[Guarded]) -> list[Guarded]:
    """``others`` are the routes that the tools call."""
    management = ManagementRoutes(others)

    async def control(admin: AdminContext, request: Request) -> Response:
        return await answer(admin, management, request)

    return [
        endpoint(
            admin,
            "POST",
            PATH,
            control,
            "answer the control request",
            access=Access.CONTROL,
            body=JsonRpcRequest,
            answer=JsonRpcAnswer,
            example={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        )
    ]


async def answer(admin: AdminContext, management: ManagementRoutes, request: Request) -> Response:
    """Raises Forbidden, Unauthorized, BodyTooLarge, ClientGone."""
    check_caller(admin, request)
    body = await read_body(request.receive, headers_of(request.scope), LIMIT)
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return failed(None, PARSE_ERROR, "The body is not valid JSON", status=400)
    try:
        asked = msgspec.convert(value, JsonRpcRequest)
    except msgspec.ValidationError as error:
        return failed(None, NO_REQUEST, f"Not a JSON-RPC request: {error}", status=400)
    if asked.jsonrpc != "2.0":
        return failed(asked.id, NO_REQUEST, "jsonrpc has to be 2.0", status=400)
    if asked.method.startswith("notifications/"):
        return Response(status_code=202)
    if asked.method == "initialize":
        server = {"name": NAME, "version": running_version()}
        capabilities: dict[str, Any] = {"tools": {}}
        return succeeded(
            asked, protocolVersion=PROTOCOL, capabilities=capabilities, serverInfo=server
        )
    if asked.method == "ping":
        return succeeded(asked)
    if asked.method == "tools/list":
        return succeeded(asked, tools=list(list_tools()))
    if asked.method == "tools/call":
        return await call_tool(management, request, asked)
    return failed(asked.id, UNKNOWN, f"Unknown method: {asked.method}")


def check_caller(admin: AdminContext, request: Request) -> None:
    """Let in who may write by the management API; and anybody on this machine, while clients need
    no key. A page of another site is not let in either way. Raises Forbidden, Unauthorized."""
    if not is_same_origin(headers_of(request.scope), origin(admin, request)):
        raise Forbidden("Requests from another origin are not accepted", code="foreign_origin")
    caller: Caller = admin.caller(request)
    if caller.is_cli or caller.session is not None or caller.key is not None:
        permit(Access.MANAGEMENT, caller, request.method)
    elif not caller.is_open and admin.snapshot.settings.require_api_key:
        raise Unauthorized(UNAUTHORIZED)


def list_tools() -> Sequence[dict[str, Any]]:
    return [
        {"name": name, "description": tool.description, "inputSchema": schema_of(tool)}
        for name, tool in TOOLS.items()
    ]


async def call_tool(
    management: ManagementRoutes, request: Request, asked: JsonRpcRequest
) -> Response:
    params = asked.params or {}
    name = params.get("name")
    if not isinstance(name, str) or not name:
        return failed(asked.id, NO_NAME, "params.name is missing")
    tool = TOOLS.get(name)
    if tool is None:
        return failed(asked.id, UNKNOWN, f"Unknown tool: {name}")
    try:
        given = _arguments(params.get("arguments") or {}, tool.arguments)
        result = await tool.run(partial(management.call, request), given)
    except GatewayError as error:
        return failed(asked.id, 404 if error.status == 404 else 400, error.message)
    text = msgspec.json.format(msgspec.json.encode(result), indent=2).decode()
    return succeeded(asked, content=[{"type": "text", "text": text}])


def _arguments(value: Any, kind: Any) -> Any:
    """Raises BadRequest."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid arguments: {error}") from None


def succeeded(asked: JsonRpcRequest, **result: Any) -> Response:
    return json_answer({"jsonrpc": "2.0", "id": asked.id, "result": result})


def failed(id: int | str | None, code: int, message: str, *, status: int = 200) -> Response:
    error = {"code": code, "message": message}
    return json_answer({"jsonrpc": "2.0", "id": id, "error": error}, status)
