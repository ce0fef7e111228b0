"""Hazel: masks words in calls, counts them, and shows the counts.

It never stores what it sees.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any

import click
import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway_core import Access, BadRequest, Call, Guarded, Host, Interceptor, hookimpl

GATEWAY_PROTOCOL = 1
CONFORMANCE = {"public": ["/hazel/health"]}


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What Hazel masks."""

    words: Annotated[tuple[str, ...], Meta(description="Words that are masked.")] = ("acorn",)
    longest: Annotated[int, Meta(description="The longest body, bytes.", ge=1)] = 1_000_000
    webhook_token: Annotated[str, Meta(description="Signs reports.", extra={"secret": True})] = ""

    def __post_init__(self) -> None:
        if any(not word for word in self.words):
            raise ValueError("a word must have letters")


class Masker:
    """Replaces the words in a call's messages."""

    order, required = 20, True

    def __init__(self, settings: Settings, counts: Counter[str]) -> None:
        self._words = settings.words
        self._longest = settings.longest
        self._pattern = re.compile("|".join(map(re.escape, settings.words)) or "(?!)")
        self._counts = counts

    async def before(self, call: Call) -> Call:
        """Raises BadRequest."""
        if len(call.body) > self._longest:
            self._counts["refused"] += 1
            raise BadRequest(f"This call is longer than {self._longest} bytes")
        raw = call.members.get("messages")
        if raw is None:
            return call
        text = bytes(raw).decode()
        masked = self._pattern.sub("***", text)
        if masked == text:
            return call
        self._counts["masked"] += 1
        members = {**call.members, "messages": Raw(masked.encode())}
        return replace(call, members=members, body=msgspec.json.encode(members))

    async def after(self, record: Mapping[str, Any]) -> None:
        self._counts["finished"] += 1


COUNTS: Counter[str] = Counter()


async def show(request: Request) -> JSONResponse:
    return JSONResponse({"counts": dict(COUNTS)})


async def forget(request: Request) -> Response:
    try:
        wanted = await request.json()
        names = [str(name) for name in wanted["names"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return JSONResponse({"error": {"message": "names must be a list"}}, 400)
    for name in names:
        COUNTS.pop(name, None)
    return JSONResponse({"counts": dict(COUNTS)})


async def health(request: Request) -> Response:
    return Response("ok", media_type="text/plain")


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    async def report() -> None:
        while True:
            await asyncio.sleep(60)
            host.log.info("%d calls were masked", COUNTS["masked"])

    COUNTS.clear()
    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_interceptors(settings: Settings) -> list[Interceptor]:
    return [Masker(settings, COUNTS)]


@hookimpl
def register_routes() -> list[Guarded]:
    return [
        Guarded(Route("/api/hazel", show), Access.MANAGEMENT),
        Guarded(Route("/api/hazel/forget", forget, methods=["POST"]), Access.MANAGEMENT),
        Guarded(Route("/hazel/health", health), Access.PUBLIC),
    ]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return run(host)


@hookimpl
def register_commands(cli: click.Group, settings: Settings) -> None:
    @cli.command("hazel")
    def hazel() -> None:
        """Show which words are masked."""
        click.echo(", ".join(settings.words))
