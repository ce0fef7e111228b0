"""Sections without ids: settings, plugins, aliases, lists of models, prices, media routes."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .section import VALUE, FieldPath, NotInFile, Section
from .world import CallRefused, Fields, Name, Stored, World, nearest, segment

OIDC_SECRET = "oidcClientSecret"


class Plugins(Section):
    """Which plugins are switched on; a change counts from the gateway's next start."""

    name = "plugins"
    can_prune = False
    routes = (("POST", "/api/plugins/{name}/enable"), ("POST", "/api/plugins/{name}/disable"))

    def read(self, world: World) -> Iterable[Stored]:
        for row in world.plugins:
            fields = {"enabled": row["enabled"]}
            yield Stored(name=(row["name"],), id=row["name"], fields=fields)

    def fields(self, world: World, name: Name) -> Collection[str]:
        return ("enabled",)

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        return {"properties": {"enabled": {"type": "boolean"}}}

    def check_new(self, world: World, name: Name, fields: Fields) -> None:
        raise no_plugin(world, name[0])

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        word = "enable" if fields["enabled"] else "disable"
        world.call("POST", f"/api/plugins/{segment(stored.id)}/{word}")

    def exported(self, world: World, stored: Stored) -> Fields | None:
        return None if stored.fields["enabled"] else stored.fields


def no_plugin(world: World, name: str) -> NotInFile:
    hint = nearest(name, (row["name"] for row in world.plugins))
    return NotInFile(f"there is no plugin {name}{hint}")


class PluginSettings(Section):
    """The settings of plugins that are loaded; most count from the gateway's next start."""

    name = "pluginSettings"
    can_prune = False
    nulls_remove = True
    path = "/api/plugins/{name}/settings"
    routes = (("PATCH", path), ("DELETE", path))

    def read(self, world: World) -> Iterable[Stored]:
        names = world.only.get(self.name)
        for name in (row["name"] for row in world.plugins) if names is None else sorted(names):
            try:
                shown = world.call("GET", f"/api/plugins/{segment(name)}/settings")
            except CallRefused as error:
                if error.status != 404:
                    raise
                continue
            yield Stored(name=(name,), id=name, fields=shown["settings"], row=shown)

    def _declared(self, world: World, name: Name) -> Mapping[str, Mapping[str, Any]]:
        for each in world.stored(self.name):
            if each.name == name:
                return {field["name"]: field for field in each.row["fields"]}
        if any(row["name"] == name[0] for row in world.plugins):
            raise NotInFile(f"the plugin {name[0]} has no settings, or is not loaded")
        raise no_plugin(world, name[0])

    def fields(self, world: World, name: Name) -> Collection[str]:
        return self._declared(world, name)

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        world.call("PATCH", f"/api/plugins/{segment(stored.id)}/settings", fields)

    def hides(self, world: World, name: Name, path: FieldPath) -> bool:
        return bool(self._declared(world, name)[path[0]]["secret"])

    def completed(self, world: World, name: Name, path: FieldPath, value: Any) -> Any:
        """With the defaults of what stands in lists, such as the rules of guardrails."""
        if len(path) > 1 or not isinstance(value, list):
            return value
        schema = world.call("GET", f"/api/plugins/{segment(name[0])}/settings/schema")
        whole = _with_defaults({path[0]: value}, schema, schema["$defs"])
        return whole[path[0]]

    def owes_secrets(self, stored: Stored, fields: Fields, changed: Sequence[FieldPath]) -> bool:
        return any(
            field["secret"] and field["name"] in fields and field["source"] == "default"
            for field in stored.row["fields"]
        )

    def exported(self, world: World, stored: Stored) -> Fields | None:
        kept = {
            field["name"]: stored.fields[field["name"]]
            for field in stored.row["fields"]
            if field["source"] == "stored" and not field["secret"]
        }
        return kept or ({} if any(self.secrets(world, stored)) else None)

    def secrets(self, world: World, stored: Stored) -> Iterable[FieldPath]:
        for field in stored.row["fields"]:
            if field["source"] == "stored" and field["secret"]:
                yield (field["name"],)


def _with_defaults(value: Any, schema: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    """A value of a JSON Schema as msgspec writes them, with the defaults of absent members."""
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [_with_defaults(each, schema.get("items", {}), named) for each in value]
    if not isinstance(value, dict):
        return value
    members = schema.get("properties", {})
    defaults = {name: each["default"] for name, each in members.items() if "default" in each}
    given = {
        name: _with_defaults(each, members.get(name, {}), named) for name, each in value.items()
    }
    return {**defaults, **given}


class Settings(Section):
    """The settings of the gateway itself."""

    name, levels = "settings", 0
    can_prune = False
    nulls_remove = True
    path = "/api/settings"
    routes = (("PATCH", path),)
    skipped = {
        "databaseEngine": "changed with the database's own routes",
        "databaseEngineError": "a finding of the gateway's",
        "databaseCutoverAt": "a fact",
        "databaseCutoverSchemaVersion": "a fact",
        "quotaTrackerState": "how a page was last shown",
        "quotaSelection": "what a page shows",
        "mediaRoutes": "a section of its own",
        "newPassword": "changed by a person, with the current one",
        "currentPassword": "proof for a new password",
    }

    def read(self, world: World) -> Iterable[Stored]:
        shown = world.call("GET", self.path)
        fields = {name: shown[name] for name in self.fields(world, ()) if name in shown}
        yield Stored(name=(), id="", fields=fields, row=shown)

    def fields(self, world: World, name: Name) -> Collection[str]:
        members = world.body_members("PATCH", self.path)
        return [each for each in members if each not in self.skipped]

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        return world.body_schema("PATCH", self.path)

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        world.call("PATCH", self.path, fields)

    def hides(self, world: World, name: Name, path: FieldPath) -> bool:
        schema = world.document["components"]["schemas"]["SettingsDocument"]
        return path[0] not in schema["properties"]

    def owes_secrets(self, stored: Stored, fields: Fields, changed: Sequence[FieldPath]) -> bool:
        touches = any(path[0].startswith("oidc") for path in changed)
        return OIDC_SECRET in fields and touches and not stored.row["oidcConfigured"]

    def secrets(self, world: World, stored: Stored) -> Iterable[FieldPath]:
        if stored.row["oidcConfigured"]:
            yield (OIDC_SECRET,)


class CustomModels(Section):
    """Models that the operator adds, by provider and kind."""

    name, levels = "customModels", 3
    path = "/api/models/custom"
    routes = (("POST", path), ("PATCH", path), ("DELETE", path))
    skipped = {
        "providerAlias": "the name above the kind's",
        "id": "the model's name in the file",
        "type": "the name above the model's",
        "kind": "the name above the model's",
    }

    def read(self, world: World) -> Iterable[Stored]:
        for row in world.call("GET", self.path)["models"]:
            name = (world.provider_name(row["provider"]), row["type"], row["id"])
            fields = {field: row.get(field) for field in self.fields(world, name)}
            yield Stored(name=name, id=row["id"], fields=fields)

    def fields(self, world: World, name: Name) -> Collection[str]:
        members = world.body_members("PATCH", self.path)
        return [each for each in members if each not in self.skipped]

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Fields:
        provider, kind, id_ = name
        owner = world.provider_id(provider)
        return {"providerAlias": owner, "kind": kind, "id": id_, **fields}

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        return world.body_schema("POST" if new else "PATCH", self.path)

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        body = self.body(world, name, fields, new=True)
        answer: Mapping[str, Any] = world.call("POST", self.path, body)
        return answer

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        world.call("PATCH", self.path, self.body(world, stored.name, fields, new=False))

    def delete(self, world: World, stored: Stored) -> None:
        provider, kind, id_ = stored.name
        owner = world.provider_id(provider)
        world.call("DELETE", self.path, providerAlias=owner, id=id_, type=kind)

    def exported(self, world: World, stored: Stored) -> Fields | None:
        fields = super().exported(world, stored) or {}
        # A model without a name of its own is shown with its id.
        return {n: v for n, v in fields.items() if (n, v) != ("name", stored.id)}


class ValueSection(Section):
    """Names with one value each."""

    is_plain = True
    value_schema: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}

    def fields(self, world: World, name: Name) -> Collection[str]:
        return (VALUE,)

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        return {"properties": {VALUE: self.value_schema}}

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        self.put(world, name, fields[VALUE])
        return {}

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        self.put(world, stored.name, fields[VALUE])

    @abstractmethod
    def put(self, world: World, name: Name, value: Any) -> None:
        """Set the value of a name. Raises CallRefused."""


class Aliases(ValueSection):
    name = "aliases"
    path = "/api/models/alias"
    value_schema = {"type": "string"}
    routes = (("PUT", path), ("DELETE", path), ("PUT", "/api/models"))

    def read(self, world: World) -> Iterable[Stored]:
        for alias, model in world.call("GET", self.path)["aliases"].items():
            yield Stored(name=(alias,), id=alias, fields={VALUE: model})

    def put(self, world: World, name: Name, value: Any) -> None:
        world.call("PUT", self.path, {"alias": name[0], "model": value})

    def delete(self, world: World, stored: Stored) -> None:
        world.call("DELETE", self.path, alias=stored.id)


class ModelLists(ValueSection):
    """Lists of models by provider."""

    path: str
    listed: str

    def read(self, world: World) -> Iterable[Stored]:
        for provider, ids in world.call("GET", self.path)[self.listed].items():
            yield Stored(name=(world.provider_name(provider),), id=provider, fields={VALUE: ids})

    def check_new(self, world: World, name: Name, fields: Fields) -> None:
        known = world.provider_names()
        if name[0] not in known and ("nodes", name[:1]) not in world.ids:
            raise NotInFile(f"there is no provider {name[0]}{nearest(name[0], known)}")

    def delete(self, world: World, stored: Stored) -> None:
        world.call("DELETE", self.path, providerAlias=world.provider_id(stored.name[0]))


class EnabledModels(ModelLists):
    name = "enabledModels"
    path, listed = "/api/models/enabled", "enabled"
    routes = (("PUT", path), ("DELETE", path))

    def put(self, world: World, name: Name, value: Any) -> None:
        body = {"providerAlias": world.provider_id(name[0]), "ids": value}
        world.call("PUT", self.path, body)


class DisabledModels(ModelLists):
    name = "disabledModels"
    path, listed = "/api/models/disabled", "disabled"
    routes = (("POST", path), ("DELETE", path))

    def put(self, world: World, name: Name, value: Any) -> None:
        """Make the list this one; the route itself only adds to it."""
        provider = world.provider_id(name[0])
        before = next((each for each in world.stored(self.name) if each.name == name), None)
        present = before.fields[VALUE] if before else []
        for id_ in (each for each in present if each not in value):
            world.call("DELETE", self.path, providerAlias=provider, id=id_)
        world.call("POST", self.path, {"providerAlias": provider, "ids": value})


class MediaRoutes(ValueSection):
    """The models for media calls that name none, by kind; an empty list is automatic."""

    name = "mediaRoutes"
    can_prune = False
    path = "/api/media-providers/routes"
    routes = (("PUT", path),)

    def read(self, world: World) -> Iterable[Stored]:
        for row in world.call("GET", self.path)["routes"]:
            yield Stored(name=(row["id"],), id=row["id"], fields={VALUE: row["saved"]})

    def check_new(self, world: World, name: Name, fields: Fields) -> None:
        known = (each.id for each in world.stored(self.name))
        raise NotInFile(f"there is no media route {name[0]}{nearest(name[0], known)}")

    def put(self, world: World, name: Name, value: Any) -> None:
        world.call("PUT", self.path, {"kind": name[0], "models": value})

    def exported(self, world: World, stored: Stored) -> Fields | None:
        return stored.fields if stored.fields[VALUE] else None


class Prices(Section):
    """The operator's own rates, by provider and model."""

    name, levels = "prices", 2
    path = "/api/pricing"
    routes = (("PATCH", path), ("DELETE", path))

    def read(self, world: World) -> Iterable[Stored]:
        for provider, models in world.call("GET", self.path).items():
            for model, rates in models.items():
                own = {
                    rate: value
                    for rate, value in rates.items()
                    if rates["source"].get(rate) == "operator"
                }
                if own:
                    name = (world.provider_name(provider), model)
                    yield Stored(name=name, id=model, fields=own)

    def fields(self, world: World, name: Name) -> Collection[str]:
        return tuple(self._rates(world)["properties"])

    def _rates(self, world: World) -> Mapping[str, Any]:
        schema: Mapping[str, Any] = world.document["components"]["schemas"]["RatesBody"]
        return schema

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        return self._rates(world)

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        provider, model = name
        world.call("PATCH", self.path, {world.provider_id(provider): {model: fields}})
        return {}

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        self.create(world, stored.name, fields)

    def delete(self, world: World, stored: Stored) -> None:
        provider, model = stored.name
        world.call("DELETE", self.path, provider=world.provider_id(provider), model=model)
