"""The log over HTTP: its last lines, and new ones as they are written."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import NotFound
from gateway_core.http.operations import STREAM, Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.upstream.redaction import hidden, masked, redact, secrets_of

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from ..streams import Frames
from .console import LINES, Console, LogLine, console_of

PATH = "/api/log"
PING = 25.0
"""Seconds between pings in an idle stream."""
_LEVELS = logging.getLevelNamesMapping()


class LogFilter(Struct, frozen=True, kw_only=True):
    """Which lines."""

    level: Literal["debug", "info", "warning", "error", "critical"] = "debug"
    """Those of this level and above."""
    logger: Annotated[str, Meta(max_length=128)] = ""
    """Those of a logger and of all below it, such as ``gateway_core.pipeline``."""
    search: Annotated[str, Meta(max_length=128)] = ""
    """Looked for in messages and traces."""


class LogQuery(LogFilter, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=LINES)] = 200


class LogPage(Struct, frozen=True, kw_only=True):
    """The newest lines, newest first; ``total`` counts those that match and are kept."""

    lines: tuple[LogLine, ...]
    total: int


def routes(admin: AdminContext) -> list[Guarded]:
    access = Access.OPERATOR
    return [
        endpoint(
            *(admin, "GET", PATH, show, "read the log"),
            access=access,
            query=LogQuery,
            answer=LogPage,
        ),
        endpoint(
            *(admin, "GET", f"{PATH}/stream", stream, "follow the log"),
            access=access,
            query=LogFilter,
            answer=LogLine,
            media=STREAM,
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, LogQuery)
    redacted = redactor(admin)
    found = [
        line
        for line in map(redacted, reversed(running_console(admin).lines))
        if matches(line, parameters)
    ]
    return json_answer(LogPage(lines=tuple(found[: parameters.limit]), total=len(found)))


async def stream(admin: AdminContext, request: Request) -> Response:
    """Stream each new line; comments keep the stream open."""
    return Frames(follow(admin, running_console(admin), read_query(request, LogFilter)))


def running_console(admin: AdminContext) -> Console:
    """Raises NotFound."""
    console = console_of(admin.core)
    if console is None:
        raise NotFound("Not found")
    return console


def redactor(admin: AdminContext) -> Callable[[LogLine], LogLine]:
    """Return a function that removes the secrets of all accounts from a line."""
    accounts = (each for some in admin.snapshot.accounts.values() for each in some)
    secrets = [secret for each in accounts for secret in secrets_of(each.credential)]

    def redacted(line: LogLine) -> LogLine:
        trace = line.trace
        if trace is not None:
            trace = hidden(masked(trace.encode("utf-8", "replace"), secrets).decode())
        return replace(line, message=redact(line.message, secrets), trace=trace)

    return redacted


def matches(line: LogLine, parameters: LogFilter) -> bool:
    if _LEVELS.get(line.level, logging.CRITICAL) < _LEVELS[parameters.level.upper()]:
        return False
    if parameters.logger and not f"{line.logger}.".startswith(f"{parameters.logger}."):
        return False
    return parameters.search.casefold() in f"{line.message}\n{line.trace or ''}".casefold()


async def follow(
    admin: AdminContext, console: Console, parameters: LogFilter, ping: float = PING
) -> AsyncGenerator[bytes, None]:
    with console.reader() as queue:
        yield b": ping\n\n"  # So that the head of the answer leaves at once.
        while True:
            try:
                async with asyncio.timeout(ping):
                    entry = await queue.get()
            except TimeoutError:
                yield b": ping\n\n"
                continue
            if entry is None:
                continue
            line = redactor(admin)(entry)
            if matches(line, parameters):
                yield b"id: %d\ndata: %b\n\n" % (line.number, msgspec.json.encode(line))
