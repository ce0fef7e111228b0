"""The routes below ``/api/mcp-gateway``: the endpoint of MCP clients, and its operator's."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core import Access, Guarded, TransportError
from gateway_core.contracts.errors import BadRequest, Forbidden, NotFound
from gateway_core.http.responses import json_answer
from gateway_core.storage.moments import iso
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy, MalformedUrl
from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.answers import Success
from gateway_dashboard_api.destinations import LOOK_UP
from gateway_dashboard_api.endpoint import endpoint
from gateway_dashboard_api.requests import read_json

from .instances import (
    Instance,
    InstanceBody,
    InstanceChange,
    InstanceRow,
    changed,
    new_instance,
    shown_url,
)
from .keys import KeyBody, KeyChange, KeyRow, NewKey, row_of
from .surface import Answer, Rpc, Surface
from .tools import Tools

PATH = "/api/mcp-gateway"
INSTANCES, INSTANCE = f"{PATH}/instances", PATH + "/instances/{slug}"
KEYS, KEY = f"{PATH}/keys", PATH + "/keys/{id}"
NEW_INSTANCE = {"slug": "search", "kind": "http", "url": "https://mcp.example.com/mcp"}
NEW_KEY = {"name": "agent", "grants": {"search": ["find", "fetch"], "files": ["*"]}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class InstanceList(Struct, frozen=True):
    instances: tuple[InstanceRow, ...]


class OneInstance(Struct, frozen=True):
    instance: InstanceRow


class KeyList(Struct, frozen=True):
    keys: tuple[KeyRow, ...]


class OneKey(Struct, frozen=True):
    key: KeyRow


class Revealed(Struct, frozen=True):
    key: str


class ToolList(Struct, frozen=True):
    tools: tuple[dict[str, Any], ...]
    error: str | None
    """Why there are none."""


def routes(tools: Tools) -> list[Guarded]:
    admin, surface = AdminContext(tools.core), Surface(tools)
    manage = Management(tools)
    # The keys of this endpoint are unknown to the gate, so the endpoint asks for them itself.
    speak = partial(endpoint, admin, access=Access.PUBLIC)
    row = partial(endpoint, admin, answer=OneInstance)
    key = partial(endpoint, admin, answer=OneKey)

    async def post(admin: AdminContext, request: Request) -> Response:
        return await surface.post(request)

    async def refuse(admin: AdminContext, request: Request) -> Response:
        return Response(status_code=405, headers={"allow": "POST"})

    async def stream(admin: AdminContext, request: Request) -> Response:
        return await surface.stream(request)

    async def message(admin: AdminContext, request: Request) -> Response:
        return await surface.message(request)

    return [
        speak("POST", PATH, post, "answer the MCP request", body=Rpc, answer=Answer, example=CALL),
        speak("GET", PATH, refuse, "refuse a stream of the MCP endpoint", status=405),
        speak("GET", f"{PATH}/sse", stream, "open the MCP stream", media="text/event-stream"),
        speak("POST", f"{PATH}/message", message, "take the MCP message", body=Rpc, example=CALL),
        endpoint(
            admin,
            "GET",
            INSTANCES,
            manage.list_instances,
            "list MCP instances",
            answer=InstanceList,
        ),
        row(
            *("POST", INSTANCES, manage.add_instance, "add the MCP instance"),
            body=InstanceBody,
            example=NEW_INSTANCE,
            status=201,
        ),
        row("GET", INSTANCE, manage.show_instance, "read the MCP instance"),
        row(
            *("PATCH", INSTANCE, manage.change_instance, "change the MCP instance"),
            body=InstanceChange,
            example={"enabled": False},
        ),
        endpoint(
            *(admin, "DELETE", INSTANCE, manage.remove_instance, "delete the MCP instance"),
            answer=Success,
        ),
        endpoint(
            *(admin, "GET", f"{INSTANCE}/tools", manage.list_tools, "list the instance's tools"),
            answer=ToolList,
        ),
        endpoint(admin, "GET", KEYS, manage.list_keys, "list MCP keys", answer=KeyList),
        endpoint(
            *(admin, "POST", KEYS, manage.add_key, "create the MCP key"),
            body=KeyBody,
            answer=NewKey,
            example=NEW_KEY,
            status=201,
        ),
        key(
            *("PATCH", KEY, manage.change_key, "change the MCP key"),
            body=KeyChange,
            example={"isActive": False},
        ),
        endpoint(admin, "DELETE", KEY, manage.remove_key, "delete the MCP key", answer=Success),
        endpoint(
            *(admin, "GET", f"{KEY}/reveal", manage.reveal_key, "reveal the MCP key"),
            access=Access.OPERATOR,
            answer=Revealed,
        ),
    ]


class Management:
    """The operator's routes of one gateway."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def list_instances(self, admin: AdminContext, request: Request) -> Response:
        every = await self._tools.instances.all()
        return json_answer(InstanceList(tuple(self._row(each) for each in every.values())))

    async def show_instance(self, admin: AdminContext, request: Request) -> Response:
        instance = await self._tools.instances.find(request.path_params["slug"])
        return json_answer(OneInstance(self._row(instance)))

    async def add_instance(self, admin: AdminContext, request: Request) -> Response:
        """Raises BadRequest, Conflict, Forbidden."""
        instance = new_instance(await read_json(request, InstanceBody), self._now(admin))
        _check_operator(admin, request, instance)
        if refusal := await _refusal(admin, instance):
            return refusal
        await admin.audit(request, "mcp.instance.create", instance.slug, _detail(instance))
        await self._tools.instances.add(instance)
        return json_answer(OneInstance(self._row(instance)), 201)

    async def change_instance(self, admin: AdminContext, request: Request) -> Response:
        """Raises BadRequest, NotFound, Forbidden."""
        slug, change = request.path_params["slug"], await read_json(request, InstanceChange)
        before, now = await self._tools.instances.find(slug), self._now(admin)
        after = changed(before, change, now)
        _check_operator(admin, request, before)
        if refusal := await _refusal(admin, after):
            return refusal
        await admin.audit(request, "mcp.instance.update", slug, _detail(after))
        after = await self._tools.instances.change(slug, lambda each: changed(each, change, now))
        await self._tools.links.drop(slug)
        return json_answer(OneInstance(self._row(after)))

    async def remove_instance(self, admin: AdminContext, request: Request) -> Response:
        """Raises NotFound."""
        slug = request.path_params["slug"]
        await self._tools.instances.find(slug)
        await admin.audit(request, "mcp.instance.delete", slug)
        await self._tools.instances.remove(slug)
        await self._tools.keys.forget(slug)
        await self._tools.links.drop(slug)
        return json_answer(Success())

    async def list_tools(self, admin: AdminContext, request: Request) -> Response:
        """By their own names. Raises NotFound."""
        instance = await self._tools.instances.find(request.path_params["slug"])
        found, error = await self._tools.tools_of(instance)
        return json_answer(ToolList(tuple(found.values()), error))

    async def list_keys(self, admin: AdminContext, request: Request) -> Response:
        return json_answer(KeyList(tuple(row_of(each) for each in await self._tools.keys.all())))

    async def add_key(self, admin: AdminContext, request: Request) -> Response:
        """Raises BadRequest, Conflict, Forbidden."""
        if not admin.caller(request).is_local:
            raise Forbidden("Key creation is only available from local requests.")
        body = await read_json(request, KeyBody)
        await admin.audit(request, "mcp.key.create", None, {"name": body.name[:200]})
        key, text = await self._tools.keys.add(body, self._now(admin))
        row = row_of(key)
        made = NewKey(**{name: getattr(row, name) for name in row.__struct_fields__}, key=text)
        return json_answer(made, 201)

    async def change_key(self, admin: AdminContext, request: Request) -> Response:
        """Raises BadRequest, NotFound."""
        id, change = request.path_params["id"], await read_json(request, KeyChange)
        await admin.audit(request, "mcp.key.update", id)
        return json_answer(OneKey(row_of(await self._tools.keys.change(id, change))))

    async def remove_key(self, admin: AdminContext, request: Request) -> Response:
        """Raises NotFound."""
        id = request.path_params["id"]
        await admin.audit(request, "mcp.key.delete", id)
        if not await self._tools.keys.remove(id):
            raise NotFound("There is no such key")
        return json_answer(Success())

    async def reveal_key(self, admin: AdminContext, request: Request) -> Response:
        """Raises NotFound, Forbidden."""
        if not admin.caller(request).is_local:
            raise Forbidden("Key reveal is only available from local requests.")
        id = request.path_params["id"]
        await admin.audit(request, "mcp.key.reveal", id)
        return json_answer(Revealed(await self._tools.keys.reveal(id)))

    def _row(self, instance: Instance) -> InstanceRow:
        link = self._tools.links.get(instance.slug)
        error = None if link is None else link.error
        is_open = link is not None and link.is_open
        return InstanceRow(
            id=instance.slug,
            slug=instance.slug,
            kind=instance.kind,
            transport=instance.transport,
            title=instance.title,
            enabled=instance.enabled,
            url=shown_url(instance.url),
            command=instance.command or None,
            args=instance.args,
            header_names=tuple(instance.headers),
            env_names=tuple(instance.env),
            status="open" if is_open else "failed" if error else "closed",
            error=error,
            created_at=instance.created_at,
            updated_at=instance.updated_at,
        )

    def _now(self, admin: AdminContext) -> str:
        return iso(admin.core.clock())


def _check_operator(admin: AdminContext, request: Request, instance: Instance) -> None:
    """Programs are started for people only: an API key could else run anything here.

    Raises Forbidden."""
    if instance.is_program and not admin.caller(request).is_operator:
        raise Forbidden("An API key cannot set which programs are started")


async def _refusal(admin: AdminContext, instance: Instance) -> Response | None:
    """The answer where an instance has an address that the gateway never calls. Raises BadRequest.

    A name that is not resolved passes: each address is checked again when it is dialled.
    """
    if not instance.url:
        return None
    try:
        async with asyncio.timeout(LOOK_UP):
            await admin.core.network.permit(instance.url, AddressPolicy.OPERATOR)
    except AddressForbidden:
        return json_answer({"error": "URL not allowed", "blocked": True}, 403)
    except MalformedUrl as error:
        raise BadRequest(error.message) from None
    except (TransportError, TimeoutError):
        pass
    return None


def _detail(instance: Instance) -> Mapping[str, Any]:
    return {
        "kind": instance.kind,
        "url": shown_url(instance.url),
        "command": instance.command,
        "enabled": instance.enabled,
    }
