"""The plugins that were found, and the switches that count from the next start."""

from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.plugins.about import Row, Sheet, nearest, rows, sheet
from gateway_core.contracts.errors import Conflict, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.plugins import PluginFolder, State
from gateway_core.plugins.files import FileDamaged
from gateway_core.plugins.switches import reservation, switch

from ..admin_context import AdminContext
from ..endpoint import endpoint

PATH = "/api/plugins"
ONE = f"{PATH}/{{name}}"

T = TypeVar("T")


class Plugins(Struct, frozen=True):
    plugins: tuple[Row, ...]


class Switched(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a switch does."""

    name: str
    enabled: bool
    changed: bool
    """False when it stood like this already."""
    restart_required: bool
    """True while the gateway runs as before."""
    note: str | None
    """What else keeps the plugin out."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, list_all, "list plugins", answer=Plugins),
        endpoint(admin, "GET", ONE, show, "show the plugin", answer=Sheet),
        *(
            endpoint(
                admin,
                "POST",
                f"{ONE}/{word}",
                act,
                f"{word} the plugin",
                access=Access.OPERATOR,
                answer=Switched,
            )
            for word, act in (("enable", enable), ("disable", disable))
        ),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    """Every plugin that was found at the start, and what became of it."""
    listed = await _run_in_thread(lambda: tuple(rows(admin.snapshot.registry, _folder(admin))))
    return json_answer(Plugins(listed))


async def show(admin: AdminContext, request: Request) -> Response:
    name = _known(admin, request)
    registry, settings = admin.snapshot.registry, admin.core.plugin_settings
    return json_answer(
        await _run_in_thread(lambda: sheet(registry, settings, _folder(admin), name))
    )


async def enable(admin: AdminContext, request: Request) -> Response:
    return await _switch(admin, request, on=True)


async def disable(admin: AdminContext, request: Request) -> Response:
    return await _switch(admin, request, on=False)


async def _switch(admin: AdminContext, request: Request, *, on: bool) -> Response:
    name, environment = _known(admin, request), admin.core.environment
    await admin.audit(request, "plugin.enable" if on else "plugin.disable", name)
    async with admin.writing():
        changed = await _run_in_thread(lambda: switch(_folder(admin), name, on=on))
    note = reservation(
        name, on=on, allowed=environment.load_plugins, blocked=environment.block_plugins
    )
    is_off = any(
        plugin.name == name and plugin.state is State.DISABLED
        for plugin in admin.snapshot.registry.plugins
    )
    return json_answer(
        Switched(name=name, enabled=on, changed=changed, restart_required=is_off is on, note=note)
    )


def _known(admin: AdminContext, request: Request) -> str:
    """The plugin that the path names. Raises NotFound."""
    name: str = request.path_params["name"]
    names = {plugin.name for plugin in admin.snapshot.registry.plugins}
    if name not in names:
        raise NotFound(nearest(name, names))
    return name


def _folder(admin: AdminContext) -> PluginFolder:
    return PluginFolder.of(admin.core.data_dir.path)


async def _run_in_thread(work: Callable[[], T]) -> T:
    """Read or write the plugins' files. Raises Conflict for a damaged one."""
    try:
        return await anyio.to_thread.run_sync(work)
    except FileDamaged as error:
        raise Conflict(str(error)) from None
