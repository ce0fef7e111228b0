"""Sections of objects that have an id and routes of their own."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gateway_core.storage.stores.secret_members import is_secret

from .section import FieldPath, NotInFile, Route, Section
from .world import Fields, Name, Stored, World, nearest, segment

DATA = "providerSpecificData"
POOL = "proxyPoolId"
CLEARED = "reauth_required"
"""The state of an account whose key the gateway has cleared."""


class Reference(Struct, frozen=True):
    """A member with ids of other objects, which a file has by name."""

    member: str
    field: str
    section: str


class IdCollection(Section):
    """Objects that are listed at a path, and changed and deleted below it."""

    path: str
    listed: str
    """The member of the list's answer."""
    identity: str = "name"
    """The member that a file has as the object's name."""
    references: tuple[Reference, ...] = ()
    write_only: tuple[str, ...] = ()
    """Fields that the gateway never shows."""

    @property
    def routes(self) -> tuple[Route, ...]:  # type: ignore[override]
        one = f"{self.path}/{{id}}"
        return (("POST", self.path), ("PUT", one), ("DELETE", one))

    def read(self, world: World) -> Iterable[Stored]:
        for row in world.call("GET", self.path)[self.listed]:
            if self.is_owned(row):
                fields = self.to_file(world, row)
                yield Stored(name=self.name_of(world, row), id=row["id"], fields=fields, row=row)

    def is_owned(self, row: Mapping[str, Any]) -> bool:
        """Whether a file may have it."""
        return True

    def name_of(self, world: World, row: Mapping[str, Any]) -> Name:
        return (str(row[self.identity]),)

    def members(self, world: World) -> tuple[str, ...]:
        """The members of a change that have a place in a file."""
        listed = world.body_members("PUT", f"{self.path}/{{id}}")
        return tuple(each for each in listed if each not in self.skipped and each != self.identity)

    def fields(self, world: World, name: Name) -> Collection[str]:
        renamed = {each.member: each.field for each in self.references}
        return [renamed.get(member, member) for member in self.members(world)]

    def to_file(self, world: World, row: Mapping[str, Any]) -> Fields:
        fields = {
            member: row.get(member)
            for member in self.members(world)
            if member not in self.write_only
        }
        for reference in self.references:
            if reference.member in fields:
                ids = fields.pop(reference.member)
                fields[reference.field] = _each(
                    ids, lambda id_, to=reference.section: shown_name(world, to, id_)
                )
        return fields

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Fields:
        body = dict(fields)
        for reference in self.references:
            if reference.field in body:
                names = body.pop(reference.field)
                body[reference.member] = _each(
                    names, lambda text, to=reference.section: id_named(world, to, text)
                )
        return {self.identity: name[-1], **body} if new else body

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any]:
        if new:
            return world.body_schema("POST", self.path)
        return world.body_schema("PUT", f"{self.path}/{{id}}")

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        body = self.body(world, name, fields, new=True)
        answer: Mapping[str, Any] = world.call("POST", self.path, body)
        row = answer if "id" in answer else next(iter(answer.values()))
        world.ids[self.name, name] = row["id"]
        return answer

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        body = self.body(world, stored.name, fields, new=False)
        world.call("PUT", f"{self.path}/{segment(stored.id)}", body)

    def delete(self, world: World, stored: Stored) -> None:
        world.call("DELETE", f"{self.path}/{segment(stored.id)}")

    def hides(self, world: World, name: Name, path: FieldPath) -> bool:
        return path[0] in self.write_only


def _each(value: Any, change: Any) -> Any:
    return [change(each) for each in value] if isinstance(value, list | tuple) else change(value)


def shown_name(world: World, section: str, id_: Any) -> Any:
    """The name for an id; the id itself where its object is gone."""
    name = world.name_of(section, id_) if isinstance(id_, str) else None
    return id_ if name is None else "/".join(name)


def id_named(world: World, section: str, text: Any) -> Any:
    """The id for a name. Raises NotInFile."""
    if not isinstance(text, str):
        return text
    parts: Name = tuple(text.split("/", 1)) if section == "connections" else (text,)
    found = world.id_of(section, parts)
    if found is not None:
        return found
    known = ["/".join(each.name) for each in world.stored(section)]
    known += ["/".join(name) for of, name in world.ids if of == section]
    raise NotInFile(f"{section} has no {text}{nearest(text, known)}")


class Proxies(IdCollection):
    name = "proxies"
    path, listed = "/api/proxy-pools", "proxyPools"


class Nodes(IdCollection):
    name = "nodes"
    path, listed, identity = "/api/provider-nodes", "nodes", "prefix"


class Connections(IdCollection):
    """Accounts at providers. What belongs to an account's own proxy is beside its other fields."""

    name, levels = "connections", 2
    path, listed = "/api/providers", "connections"
    references = (Reference(POOL, "proxyPool", "proxies"),)
    write_only = ("apiKey", "sessionToken")
    skipped = {
        "testStatus": "what the last test found",
        "lastError": "what went wrong last",
        "lastErrorAt": "when that was",
        "provider": "the name above the account's",
        "displayName": "another word for the name",
        "createOnly": "how to create, not what",
    }
    lifted = ("connectionProxyEnabled", "connectionProxyUrl", "connectionNoProxy", POOL)
    """Members of the account's data that its routes take beside it."""
    copied = ("prefix", "apiType", "baseUrl", "nodeName")
    """Members that the accounts of a node copy from it."""
    auto_ping = "autoPing"

    @property
    def routes(self) -> tuple[Route, ...]:  # type: ignore[override]
        one = f"{self.path}/{{id}}"
        return (*super().routes, ("PATCH", one), ("PATCH", f"{one}/auto-ping"))

    def is_owned(self, row: Mapping[str, Any]) -> bool:
        # The gateway makes and changes these itself, from its process variables.
        return row.get("source") != "environment"

    def name_of(self, world: World, row: Mapping[str, Any]) -> Name:
        name = row["name"] or row["email"] or row["id"]
        return (world.provider_name(row["provider"]), name)

    def fields(self, world: World, name: Name) -> Collection[str]:
        return [*super().fields(world, name), self.auto_ping]

    def to_file(self, world: World, row: Mapping[str, Any]) -> Fields:
        data = dict(row[DATA])
        lifted = {member: data.pop(member, None) for member in self.lifted}
        if world.name_of("nodes", row["provider"]) is not None:
            data = {member: value for member, value in data.items() if member not in self.copied}
        fields = super().to_file(world, {**row, **lifted, DATA: data})
        return {**fields, self.auto_ping: row.get(self.auto_ping)}

    def check_new(self, world: World, name: Name, fields: Fields) -> None:
        known = world.provider_names()
        if name[0] not in known and ("nodes", name[:1]) not in world.ids:
            raise NotInFile(f"there is no provider {name[0]}{nearest(name[0], known)}")

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Fields:
        kept = {member: value for member, value in fields.items() if member != self.auto_ping}
        body = super().body(world, name, kept, new=new)
        return {"provider": world.provider_id(name[0]), **body} if new else body

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        answer = super().create(world, name, fields)
        self._set_auto_ping(world, answer["connection"]["id"], fields)
        return answer

    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        if set(fields) != {self.auto_ping}:
            super().update(world, stored, fields)
        self._set_auto_ping(world, stored.id, fields)

    def _set_auto_ping(self, world: World, id_: str, fields: Fields) -> None:
        if fields.get(self.auto_ping) is not None:
            path = f"{self.path}/{segment(id_)}/auto-ping"
            world.call("PATCH", path, {"enabled": fields[self.auto_ping]})

    def hides(self, world: World, name: Name, path: FieldPath) -> bool:
        return super().hides(world, name, path) or (path[0] == DATA and any(map(is_secret, path)))

    def owes_secrets(self, stored: Stored, fields: Fields, changed: Sequence[FieldPath]) -> bool:
        # The gateway clears an account's key when its calls would go elsewhere.
        is_without = stored.row["authType"] == "none" and bool(fields.get("apiKey"))
        is_cleared = stored.row.get("testStatus") == CLEARED
        return is_without or is_cleared or any(path[0] == DATA for path in changed)

    def secrets(self, world: World, stored: Stored) -> Iterable[FieldPath]:
        if stored.row["authType"] in ("apikey", "cookie"):
            yield ("apiKey",)
        schema = world.vendors.get(stored.name[0], {}).get("accountSchema", {})
        needed = {name for each in schema.get("anyOf", ()) for name in each["required"]}
        for member, described in schema.get("properties", {}).items():
            if described.get("writeOnly") and member in needed:
                yield (DATA, member)


class ConnectionGroups(IdCollection):
    name = "connectionGroups"
    path, listed = "/api/connection-groups", "groups"
    references = (Reference("connectionIds", "connections", "connections"),)

    @property
    def routes(self) -> tuple[Route, ...]:  # type: ignore[override]
        members = f"{self.path}/{{id}}/members"
        return (*super().routes, ("POST", members), ("DELETE", members))


class Combos(IdCollection):
    name = "combos"
    path, listed = "/api/combos", "combos"
    references = (Reference("allowedConnectionIds", "allowedConnections", "connections"),)

    def to_file(self, world: World, row: Mapping[str, Any]) -> Fields:
        fields = super().to_file(world, row)
        if fields.get("members") is not None:
            fields["members"] = [
                _renamed(
                    fact,
                    "connectionId",
                    "connection",
                    lambda id_: shown_name(world, "connections", id_),
                )
                for fact in fields["members"]
            ]
        return fields

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Fields:
        body = super().body(world, name, fields, new=new)
        if isinstance(body.get("members"), list):
            body["members"] = [
                _renamed(
                    fact,
                    "connection",
                    "connectionId",
                    lambda text: id_named(world, "connections", text),
                )
                for fact in body["members"]
            ]
        return body


def _renamed(fact: Any, before: str, after: str, change: Any) -> Any:
    if not isinstance(fact, dict) or before not in fact:
        return fact
    return {
        after if name == before else name: change(value) if name == before else value
        for name, value in fact.items()
    }


class KeyGroups(IdCollection):
    name = "keyGroups"
    path, listed = "/api/key-groups", "groups"
    skipped = {"keyIds": "each key says which groups it is in"}


class Keys(IdCollection):
    """Gateway keys. The gateway makes their text; a file never has it."""

    name = "keys"
    path, listed = "/api/keys", "keys"
    references = (Reference("providerConnectionIds", "connections", "connections"),)
    shown = (
        *("isActive", "inferenceOnly", "expiresAt", "allowedCombos", "policy"),
        *("dailyLimitTokens", "providerConnectionIds", "groups"),
    )
    """Members that an answer has too; the others are members of the policy, written beside it."""

    @property
    def routes(self) -> tuple[Route, ...]:  # type: ignore[override]
        return (*super().routes, ("PATCH", f"{self.path}/{{id}}"))

    def members(self, world: World) -> tuple[str, ...]:
        return self.shown

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Fields:
        body = super().body(world, name, fields, new=new)
        return {**body, "machineId": "any"} if new else body
