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
from gateway_core.plugins.setting_fields import Declared, SettingField, schema, shown
from gateway_core.plugins.setting_values import SettingSource
from gateway_core.plugins.settings import PluginSettings

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, read_query

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
    declared, table = _declared(admin, request), admin.core.plugin_settings
    body: dict[str, Any] = await read_json(request, dict[str, Any])
    changes = table.changes(declared.plugin, body)
    async with admin.writing():
        before = await admin.stores.plugin_settings.get(declared.plugin)
        table.check(declared.plugin, before, changes)
        if changes:
            await admin.audit(request, CHANGED, declared.plugin, {"keys": sorted(changes)})
            await admin.stores.plugin_settings.patch(declared.plugin, changes, declared.secrets)
    return json_answer(_shown(table, declared))


async def reset(admin: AdminContext, request: Request) -> Response:
    """Forget what is stored: one setting, or all, with those that nobody declares any more."""
    declared, only = _declared(admin, request), read_query(request, ResetQuery).setting
    if only is not None and only not in declared.names:
        raise NotFound(f"Plugin {declared.plugin} has no setting {only}")
    async with admin.writing():
        if only is not None:
            await admin.audit(request, RESET, declared.plugin, {"keys": [only]})
            changes = {only: UNSET}
            await admin.stores.plugin_settings.patch(declared.plugin, changes, declared.secrets)
        else:
            await admin.audit(request, RESET, declared.plugin)
            await admin.stores.plugin_settings.clear(declared.plugin)
    return json_answer(_shown(admin.core.plugin_settings, declared))


def _declared(admin: AdminContext, request: Request) -> Declared:
    """What the plugin in the path declares. Raises NotFound."""
    name = request.path_params["name"]
    declared = admin.core.plugin_settings.declared(name)
    if declared is not None:
        return declared
    if any(plugin.name == name for plugin in admin.snapshot.registry.plugins):
        raise NotFound(f"Plugin {name} has no settings, or is not loaded")
    raise NotFound(f"There is no plugin {name}")


def _shown(table: PluginSettings, declared: Declared) -> PluginSettingsShape:
    present = table.in_force(declared.plugin)
    return PluginSettingsShape(
        plugin=declared.plugin,
        settings=shown_values(declared, present.value),
        fields=tuple(
            SettingShape(
                **msgspec.structs.asdict(field),
                source=present.sources.get(field.name, SettingSource.DEFAULT),
            )
            for field in declared.fields
        ),
        restart_required=table.needs_restart(declared.plugin),
        problems=present.faults,
    )


def shown_values(declared: Declared, value: Struct) -> dict[str, Any]:
    """Settings as JSON, secrets masked."""
    fields = zip(msgspec.structs.fields(declared.struct), declared.fields, strict=True)
    return {
        setting.name: shown(getattr(value, field.name), secret=setting.secret)
        for field, setting in fields
    }
