"""The log's last lines, and the files of the translator's pages (A.10)."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.data_dir import PRIVATE_DIRECTORY
from gateway_core.contracts.errors import NotFound
from gateway_core.http.operations import STREAM, Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..log.console import Console, LogLine
from ..log.routes import redactor, running_console
from ..requests import read_json, read_query
from ..streams import Frames
from .bodies import FileBody, FileQuery
from .routes import PATH, if_enabled
from .views import Content, Logs

LOGS = f"{PATH}/console-logs"
FOLDER = "translator"
PING = 25.0
"""Seconds between pings in an idle stream."""


def routes(admin: AdminContext) -> list[Guarded]:
    route = partial(endpoint, admin, access=Access.OPERATOR)
    saved = partial(route, body=FileBody, example={"file": "1_req_client.json", "content": "{}"})
    loaded = partial(route, query=FileQuery, answer=Content)
    return [
        route("GET", LOGS, if_enabled(show), "read the log", answer=Logs),
        route("DELETE", LOGS, if_enabled(clear), "clear the log", answer=Logs),
        route("GET", f"{LOGS}/stream", if_enabled(stream), "follow the log", media=STREAM),
        loaded("GET", f"{PATH}/load", if_enabled(load), "load the text"),
        saved("POST", f"{PATH}/save", if_enabled(save), "save the text", answer=dict[str, bool]),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(Logs(success=True, logs=_lines(admin, running_console(admin).lines)))


async def clear(admin: AdminContext, request: Request) -> Response:
    running_console(admin).clear()
    return json_answer(Logs(success=True, logs=()))


async def stream(admin: AdminContext, request: Request) -> Response:
    """Stream the kept lines, then each new one; comments keep the stream open."""
    return Frames(events(admin, running_console(admin)))


def _lines(admin: AdminContext, lines: tuple[LogLine, ...]) -> tuple[str, ...]:
    """The lines as text, without the secrets of all accounts."""
    return tuple(line.text for line in map(redactor(admin), lines))


async def events(admin: AdminContext, console: Console) -> AsyncGenerator[bytes, None]:
    with console.reader() as queue:
        yield _frame({"type": "init", "logs": _lines(admin, console.lines)})
        while True:
            try:
                async with asyncio.timeout(PING):
                    entry = await queue.get()
            except TimeoutError:
                yield b": ping\n\n"
                continue
            if entry is None:
                yield _frame({"type": "clear"})
            else:
                yield _frame({"type": "line", "line": _lines(admin, (entry,))[0]})


def _frame(event: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(event)


async def load(admin: AdminContext, request: Request) -> Response:
    name = read_query(request, FileQuery).file
    content = await anyio.to_thread.run_sync(admin.core.data_dir.read, f"{FOLDER}/{name}")
    if content is None:
        raise NotFound("The text was not saved yet")
    return json_answer(Content(success=True, content=content.decode()))


async def save(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, FileBody)
    await anyio.to_thread.run_sync(_write, admin, body)
    return json_answer({"success": True})


def _write(admin: AdminContext, body: FileBody) -> None:
    folder = admin.core.data_dir.path / FOLDER
    folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    admin.core.data_dir.write(f"{FOLDER}/{body.file}", body.content.encode())
