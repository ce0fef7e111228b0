"""The MCP servers that the gateway stands before: what is stored of each, and what may be.

A row is sealed whole: addresses, arguments, variables and headers may all hold secrets.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway_core.contracts.errors import BadRequest, Conflict, NotFound
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.stores.secret_members import is_secret

SCOPE = "mcpInstances"
PURPOSE = "mcp"
MOST = 100
MOST_TEXTS = 100
LONGEST = 4096
SHORTEST_SECRET = 6
"""Characters; what is shorter would be found in every other word."""
Kind = Literal["http", "sse", "npx", "python", "docker", "command"]
TransportName = Literal["http", "sse", "stdio"]
PROGRAMS: Mapping[str, str] = {"npx": "npx", "python": "python3", "docker": "docker"}
"""What an instance of a kind starts that names no command."""
_SLUG = re.compile(r"[a-z0-9-]{2,40}")
_HEADER = re.compile(r"(?i)authorization|api-key|x-(?!forwarded-)[a-z0-9-]{1,60}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Instance(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One MCP server."""

    slug: str
    """Its id, and what stands before the names of its tools."""
    kind: Kind
    transport: TransportName
    title: str = ""
    enabled: bool = True
    url: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    created_at: str = ""
    updated_at: str = ""

    @property
    def is_program(self) -> bool:
        return self.transport == "stdio"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no answer may repeat, the longest first."""
        named = (*self.headers.items(), *self.env.items())
        values = [v for n, v in named if is_secret(n) or n.lower() in ("authorization", "api-key")]
        words = (value.rpartition(" ")[2] for value in values)
        query = (value for _, value in parse_qsl(urlsplit(self.url).query))
        found = {each for each in (*values, *words, *query) if len(each) >= SHORTEST_SECRET}
        return tuple(sorted(found, key=len, reverse=True))


class InstanceBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A new instance."""

    slug: str
    kind: Kind
    transport: TransportName | None = None
    title: str = ""
    enabled: bool = True
    url: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    headers: dict[str, str] = {}


class InstanceChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Members that stay away keep their values."""

    title: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    url: str | UnsetType = UNSET
    command: str | UnsetType = UNSET
    args: tuple[str, ...] | UnsetType = UNSET
    env: dict[str, str] | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET


class InstanceRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """An instance as it is shown: without headers, variables and what an address may hold."""

    id: str
    slug: str
    kind: Kind
    transport: TransportName
    title: str
    enabled: bool
    url: str | None
    command: str | None
    args: tuple[str, ...]
    header_names: tuple[str, ...]
    env_names: tuple[str, ...]
    status: Literal["closed", "open", "failed"]
    """Of its connection in this process."""
    error: str | None
    """Why it failed last."""
    created_at: str
    updated_at: str


def new_instance(body: InstanceBody, now: str) -> Instance:
    """Raises BadRequest."""
    usual: TransportName = (
        "http" if body.kind == "http" else "sse" if body.kind == "sse" else "stdio"
    )
    instance = Instance(
        slug=body.slug,
        kind=body.kind,
        transport=body.transport or usual,
        title=body.title,
        enabled=body.enabled,
        url=body.url.strip(),
        command=body.command.strip() or PROGRAMS.get(body.kind, ""),
        args=body.args,
        env=body.env,
        headers=body.headers,
        created_at=now,
        updated_at=now,
    )
    return checked(instance)


def changed(before: Instance, change: InstanceChange, now: str) -> Instance:
    """Raises BadRequest."""
    members = {
        name: value
        for name in change.__struct_fields__
        if (value := getattr(change, name)) is not UNSET
    }
    after = checked(replace(before, **members, updated_at=now))
    # A stored header is for the server that it was stored for.
    is_elsewhere = _origin(after.url) != _origin(before.url)
    if is_elsewhere and before.headers and change.headers is UNSET:
        raise BadRequest("Another server's address needs headers of its own: send headers too")
    return after


def checked(instance: Instance) -> Instance:
    """Raises BadRequest."""
    if not _SLUG.fullmatch(instance.slug):
        raise BadRequest("slug has 2 to 40 lower-case letters, digits and hyphens")
    if instance.is_program is not (instance.kind not in ("http", "sse")):
        raise BadRequest(f"kind {instance.kind} does not go with transport {instance.transport}")
    if instance.is_program:
        if not instance.command:
            raise BadRequest("command is missing")
        if instance.url or instance.headers:
            raise BadRequest("A program has no url and no headers")
    else:
        if instance.command or instance.args or instance.env:
            raise BadRequest("A server with an address has no command, args and env")
        if not instance.url.lower().startswith(("http://", "https://")):
            raise BadRequest("url must begin with https:// or http://")
        if "@" in urlsplit(instance.url).netloc:
            raise BadRequest("url must have no user and password: send them in headers")
    texts = (*instance.args, *instance.env.values(), *instance.headers.values())
    if max(len(instance.args), len(instance.env), len(instance.headers)) > MOST_TEXTS:
        raise BadRequest(f"args, env and headers have at most {MOST_TEXTS} members")
    if any(len(text) > LONGEST for text in (instance.url, instance.command, *texts)):
        raise BadRequest(f"A text may have at most {LONGEST} characters")
    if any("\0" in text for text in texts) or _CONTROL.search(instance.command + instance.url):
        raise BadRequest("A text has characters that it may not have")
    if any(_CONTROL.search(text) or not text.isascii() for text in instance.headers.values()):
        raise BadRequest("A header has characters that it may not have")
    if name := next((n for n in instance.headers if not _HEADER.fullmatch(n)), None):
        raise BadRequest(f"{name[:80]} cannot be set: authorization, api-key and x-… can")
    if name := next((n for n in instance.env if not _VARIABLE.fullmatch(n)), None):
        raise BadRequest(f"{name[:80]} is no name of a variable")
    if len(instance.title) > 200:
        raise BadRequest("title is too long")
    return instance


def shown_url(url: str) -> str | None:
    """An address without its query, which may be a secret."""
    if not url:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "…" if parts.query else "", ""))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()


class InstanceStore:
    """Read anew with each use, so every process on the database sees each change at once."""

    def __init__(self, core: Collaborators) -> None:
        self._kv = core.stores.kv
        self._seal = core.stores.vault.seal_for(PURPOSE)

    async def all(self) -> dict[str, Instance]:
        """By slug."""
        rows = await self._kv.all(SCOPE)
        return {slug: self._open(slug, row) for slug, row in rows.items()}

    async def find(self, slug: str) -> Instance:
        """Raises NotFound."""
        row = await self._kv.get(SCOPE, slug)
        if row is None:
            raise NotFound("There is no such instance")
        return self._open(slug, row)

    async def add(self, instance: Instance) -> None:
        """Raises Conflict."""
        if len(await self._kv.all(SCOPE)) >= MOST:
            raise Conflict(f"There are {MOST} instances already")

        def put(before: Any) -> Any:
            if before is not None:
                raise Conflict("The slug is taken")
            return self._close(instance)

        await self._kv.amend(SCOPE, instance.slug, put)

    async def change(self, slug: str, decide: Callable[[Instance], Instance]) -> Instance:
        """Raises NotFound, and what ``decide`` raises."""
        after: list[Instance] = []

        def put(before: Any) -> Any:
            if before is None:
                raise NotFound("There is no such instance")
            after.append(decide(self._open(slug, before)))
            return self._close(after[-1])

        await self._kv.amend(SCOPE, slug, put)
        return after[-1]

    async def remove(self, slug: str) -> bool:
        return await self._kv.delete(SCOPE, slug)

    def _close(self, instance: Instance) -> dict[str, str]:
        text = msgspec.json.encode(instance).decode()
        row = instance.slug
        return {"sealed": self._seal.close(text, table="kv", column=SCOPE, row=row)}

    def _open(self, slug: str, row: Mapping[str, str]) -> Instance:
        text = self._seal.open(row["sealed"], table="kv", column=SCOPE, row=slug)
        return msgspec.json.decode(text, type=Instance)
