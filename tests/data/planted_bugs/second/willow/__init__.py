"""Willow: takes addresses of letters out of what is asked, and says how many there were.

Every e-mail address in a call's body becomes a placeholder. A ledger below the plugin's folder is
written when the gateway closes, and callers may read how many were taken out of their calls.
"""

import asyncio
import contextlib
import json
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

from gateway_core import (
    Access,
    BadRequest,
    Call,
    Guarded,
    Host,
    Interceptor,
    hookimpl,
)

GATEWAY_PROTOCOL = 1
ADDRESS = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
FILE = "totals.json"


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    placeholder: Annotated[
        str, Meta(description="What stands in an address's place.", min_length=1, max_length=40)
    ] = "[address]"
    most: Annotated[
        int, Meta(description="A call with more addresses than this is refused.", ge=1)
    ] = 100
    models: Annotated[
        tuple[str, ...], Meta(description="Models whose calls are read; none for all.")
    ] = ()
    report_token: Annotated[
        str, Meta(description="Lets a monitor read the totals.", extra={"secret": True})
    ] = ""

    def __post_init__(self) -> None:
        if ADDRESS.search(self.placeholder):
            raise ValueError("placeholder must not be an address itself")


class Totals:
    """How many addresses were taken out, by model, and how many calls ended."""

    def __init__(self) -> None:
        self.removed: Counter[str] = Counter()
        self.ended = 0

    def shown(self) -> dict[str, Any]:
        return {"removed": dict(self.removed), "ended": self.ended}


class Willow:
    order, required = 20, True

    def __init__(self, settings: Settings, totals: Totals) -> None:
        self._settings = settings
        self._totals = totals

    async def before(self, call: Call) -> Call:
        """Raises BadRequest."""
        if self._settings.models and call.model not in self._settings.models:
            return call
        count = 0
        members: dict[str, Raw] = {}
        for name, value in call.members.items():
            members[name] = value
            if name == "model" or b"@" not in bytes(value):
                continue
            changed, found = self._take_out(msgspec.json.decode(value))
            if found:
                members[name] = Raw(msgspec.json.encode(changed))
                count += found
        if count > self._settings.most:
            raise BadRequest(f"This call has more than {self._settings.most} addresses")
        if not count:
            return call
        self._totals.removed[call.model[:80]] += count
        return replace(call, members=members, body=msgspec.json.encode(members))

    def _take_out(self, value: Any) -> tuple[Any, int]:
        """The value without addresses, and how many there were."""
        if isinstance(value, str):
            return ADDRESS.subn(lambda match: self._settings.placeholder, value)
        if isinstance(value, list):
            rows = [self._take_out(each) for each in value]
            return [row for row, _ in rows], sum(count for _, count in rows)
        if isinstance(value, dict):
            pairs = {name: self._take_out(each) for name, each in value.items()}
            counts = sum(count for _, count in pairs.values())
            return {name: each for name, (each, _) in pairs.items()}, counts
        return value, 0

    async def after(self, record: Mapping[str, Any]) -> None:
        self._totals.ended += 1


TOTALS = Totals()


async def show(request: Request) -> Response:
    return JSONResponse(TOTALS.shown())


async def forget(request: Request) -> Response:
    TOTALS.removed.clear()
    TOTALS.ended = 0
    return Response(status_code=204)


async def watch(host: Host, wake: asyncio.Event) -> None:
    """Write the totals each time that somebody wakes it."""
    while True:
        await wake.wait()
        wake.clear()
        await asyncio.to_thread(write_totals, host)


def write_totals(host: Host) -> None:
    host.folder.joinpath(FILE).write_text(json.dumps(TOTALS.shown()), "utf-8")


@asynccontextmanager
async def keep(host: Host) -> AsyncIterator[None]:
    TOTALS.removed.clear()
    TOTALS.ended = 0
    task = asyncio.create_task(watch(host, asyncio.Event()))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await asyncio.to_thread(write_totals, host)
        host.log.info("%d addresses were taken out", TOTALS.removed.total())


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_interceptors(settings: Settings) -> list[Interceptor]:
    return [Willow(settings, TOTALS)]


@hookimpl
def register_routes() -> list[Guarded]:
    return [
        Guarded(Route("/api/willow", show, methods=["GET"]), Access.MANAGEMENT),
        Guarded(Route("/api/willow/forget", forget, methods=["POST"]), Access.MANAGEMENT),
    ]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return keep(host)


@hookimpl
def register_commands(cli: click.Group, settings: Settings) -> None:
    @cli.command("willow")
    def willow() -> None:
        """Show what stands in an address's place."""
        click.echo(settings.placeholder)
