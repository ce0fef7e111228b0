"""The settings of plugins: what each takes, what counts and where it comes from."""

from typing import Any

import msgspec
from msgspec import UNSET, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.plugins.setting_fields import Declared, SettingField, schema
from gateway_core.plugins.setting_values import SettingSource, shown_values
from gateway_core.plugins.settings import PluginSettings

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import query, read

PATH = "/api/plugins/{name}/settings"

CHANGED = "plugin-settings.change"

RESET = "plugin-settings.reset"


class SettingShape(SettingField, frozen=True, kw_only=True, rename="camel"):
    """One setting, with where its value comes from."""

    source: SettingSource


class PluginSettingsShape(Struct, frozen=True, kw_only=True, rename="camel"):
    """``settings`` are those in force, secrets masked.

    ``restartRequired`` is true while the plugin works with older ones.
    """

    plugin: str
    settings: dict[str, Any]
    fields: tuple[SettingShape, ...]
    restart_required: bool
    problems: tuple[str, ...]
    """Values that are set and do not count, and why."""


class ResetQuery(Struct, frozen=True, kw_only=True):
    setting: str | None = None
    """The one to bring back; all of them when it is left out."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin, "GET", PATH, show, "read the plugin's settings", answer=PluginSettingsShape
        ),
        endpoint(
            admin,
            "PATCH",
            PATH,
            patch,
            "update the plugin's settings",
            access=Access.OPERATOR,
            body=dict[str, Any],
            answer=PluginSettingsShape,
            example={},
        ),
        endpoint(
            admin,
            "DELETE",
            PATH,
            reset,
            "bring the plugin's defaults back",
            access=Access.OPERATOR,
            query=ResetQuery,
            answer=PluginSettingsShape,
        ),
        endpoint(
            admin,
            "GET",
            PATH + "/schema",
            describe,
            "describe the plugin's settings",
            answer=dict[str, Any],
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(_shown(admin.core.plugin_settings, _declared(admin, request)))


async def describe(admin: AdminContext, request: Request) -> Response:
    """JSON Schema 2020-12 of a document of these settings."""
    return json_answer(schema(_declared(admin, request)))


async def patch(admin: AdminContext, request: Request) -> Response:
    found, table = _declared(admin, request), admin.core.plugin_settings
    wanted: dict[str, Any] = await read(request, dict[str, Any])
    changes = table.changes(found.plugin, wanted)
    async with admin.writing():
        before = await admin.stores.plugin_settings.get(found.plugin)
        table.check(found.plugin, before, changes)
        if changes:
            await admin.audit(request, CHANGED, found.plugin, {"keys": sorted(changes)})
            await admin.stores.plugin_settings.patch(found.plugin, changes, found.secrets)
    return json_answer(_shown(table, found))


async def reset(admin: AdminContext, request: Request) -> Response:
    """Forget what is stored: one setting, or all, with those that nobody declares any more."""
    found, only = _declared(admin, request), query(request, ResetQuery).setting
    if only is not None and only not in found.names:
        raise NotFound(f"Plugin {found.plugin} has no setting {only}")
    async with admin.writing():
        if only is not None:
            await admin.audit(request, RESET, found.plugin, {"keys": [only]})
            changes = {only: UNSET}
            await admin.stores.plugin_settings.patch(found.plugin, changes, found.secrets)
        else:
            await admin.audit(request, RESET, found.plugin)
            await admin.stores.plugin_settings.clear(found.plugin)
    return json_answer(_shown(admin.core.plugin_settings, found))


def _declared(admin: AdminContext, request: Request) -> Declared:
    """What the plugin in the path declares. Raises NotFound."""
    name = request.path_params["name"]
    found = admin.core.plugin_settings.declared(name)
    if found is not None:
        return found
    if any(plugin.name == name for plugin in admin.tables.registry.plugins):
        raise NotFound(f"Plugin {name} has no settings, or is not loaded")
    raise NotFound(f"There is no plugin {name}")


def _shown(table: PluginSettings, found: Declared) -> PluginSettingsShape:
    present = table.in_force(found.plugin)
    return PluginSettingsShape(
        plugin=found.plugin,
        settings=shown_values(found, present.value),
        fields=tuple(
            SettingShape(
                **msgspec.structs.asdict(field),
                source=present.sources.get(field.name, SettingSource.DEFAULT),
            )
            for field in found.fields
        ),
        restart_required=table.needs_restart(found.plugin),
        problems=present.faults,
    )
