"""Finding model servers on this machine and adding accounts for them (P.7)."""

import asyncio
from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import UpstreamError
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.storage.stores.connection import Connection, ConnectionChange, NewConnection
from gateway_core.upstream.redaction import redact

from ..accounts.probes.discovery import discover
from ..accounts.probes.subjects import build_candidate
from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..models.own_servers import is_local
from ..models.sync import sync_own_server
from ..requests import read_json

LIMIT = 2.0
"""Seconds for one server."""


class LocalServer(Struct, frozen=True, kw_only=True):
    """``models`` counts what a server lists; ``error`` says why there is no list."""

    provider: str
    url: str
    reachable: bool
    models: int = 0
    error: str | None = None


def local_specs(admin: AdminContext) -> Iterator[ProviderSpec]:
    """Yield providers that usually run on this machine and need no key."""
    for spec in admin.snapshot.registry.providers.values():
        if is_local(spec):
            yield spec


async def local_servers(admin: AdminContext) -> list[LocalServer]:
    """Request all their lists of models at once."""
    return list(await asyncio.gather(*(_look(admin, spec) for spec in local_specs(admin))))


async def _look(admin: AdminContext, spec: ProviderSpec) -> LocalServer:
    url = spec.base_url or ""
    account = build_candidate(admin, spec.id, None, {})
    try:
        async with asyncio.timeout(LIMIT):
            listed = await discover(admin.core, spec, admin.wire(spec), account)
    except TimeoutError:
        return LocalServer(
            provider=spec.id, url=url, reachable=False, error="The server did not answer in time"
        )
    except UpstreamError as error:
        return LocalServer(provider=spec.id, url=url, reachable=False, error=redact(error.message))
    if listed is None:
        return LocalServer(
            provider=spec.id, url=url, reachable=False, error="The server has no list of models"
        )
    return LocalServer(provider=spec.id, url=url, reachable=True, models=len(listed))


PATH = "/api/settings/auto-configure"
NAME = "Local"
Act = Literal["none", "add", "enable"]


class RunBody(Struct, frozen=True, kw_only=True, rename="camel"):
    dry_run: bool = False


class Line(Struct, frozen=True, kw_only=True, rename="camel"):
    """One server: what was found, and what is done, or would be."""

    provider: str
    url: str
    reachable: bool
    models: int
    error: str | None
    action: Act


class Report(Struct, frozen=True, kw_only=True, rename="camel"):
    """``changed`` counts accounts that were added or enabled."""

    ok: bool = True
    dry_run: bool
    changed: int
    report: tuple[Line, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    session = Access.SESSION
    return [
        endpoint(admin, "GET", PATH, show, "look for local servers", access=session, answer=Report),
        endpoint(
            admin,
            "POST",
            PATH,
            run,
            "configure local servers",
            access=session,
            body=RunBody,
            answer=Report,
            example={"dryRun": True},
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """Show what a run would find and do."""
    return json_answer(await _report(admin))


async def run(admin: AdminContext, request: Request) -> Response:
    """Add an account for every server that answers, or enable the one there is."""
    is_dry = (await read_json(request, RunBody)).dry_run
    report = await _report(admin)
    if is_dry:
        return json_answer(report)
    changed = 0
    async with admin.writing():
        actions = {line.provider: line.action for line in report.report if line.action != "none"}
        await admin.audit(request, "local-servers.connect", None, actions)
        for line in report.report:
            changed += await _apply(admin, line)
    for line in report.report:
        if line.action != "none":
            await sync_own_server(admin, line.provider)
    return json_answer(msgspec.structs.replace(report, dry_run=False, changed=changed))


async def _report(admin: AdminContext) -> Report:
    stored = await admin.stores.connections.list()
    lines = tuple(_line(server, stored) for server in await local_servers(admin))
    return Report(dry_run=True, changed=0, report=lines)


def _line(server: LocalServer, stored: tuple[Connection, ...]) -> Line:
    """Describe a server; one that has an active account needs no action."""
    own = [each for each in stored if each.provider == server.provider]
    action: Act = "enable" if own else "add"
    if not server.reachable or any(each.is_active for each in own):
        action = "none"
    return Line(
        provider=server.provider,
        url=server.url,
        reachable=server.reachable,
        models=server.models,
        error=server.error,
        action=action,
    )


async def _apply(admin: AdminContext, line: Line) -> int:
    """Carry out a line unless that was done meanwhile; returns how many accounts changed."""
    own = await admin.stores.connections.list(line.provider)
    if line.action == "add" and not own:
        await admin.stores.connections.create(
            NewConnection(provider=line.provider, auth_type="none", name=NAME)
        )
        return 1
    if line.action == "enable" and own and not any(each.is_active for each in own):
        await admin.stores.connections.update(own[0].id, ConnectionChange(is_active=True))
        return 1
    return 0
