"""The gateway as this command sees it: calls, what is stored, and names instead of ids."""

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import replace

Fields = dict[str, Any]
Name = tuple[str, ...]
"""What an object is called in a file, from the outside in: ``("openai", "work")``."""
Send = Callable[[str, str, bytes | None], tuple[int, bytes]]
"""Make one call: method, path with query, body. Returns status and body."""

_SCHEMA = "#/components/schemas/"


class CallRefused(Exception):
    """The gateway refused a call; the message is its own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Stored(Struct, frozen=True, kw_only=True):
    """An object that the gateway has, in the form of a file."""

    name: Name
    id: str
    """What its routes call it."""
    fields: Fields
    row: Mapping[str, Any] = {}
    """What the gateway says of it."""


class Reader(Protocol):
    """What reads the objects of a section."""

    def read(self, world: "World") -> Iterable[Stored]: ...


class World:
    """One gateway during one command. What was read is kept until ``forget``."""

    def __init__(self, send: Send, sections: Mapping[str, Reader]) -> None:
        self._send = send
        self._sections = sections
        self._stored: dict[str, tuple[Stored, ...]] = {}
        self.ids: dict[tuple[str, Name], str] = {}
        """Of objects that were made, or will be, by section and name."""
        self.only: dict[str, frozenset[str]] = {}
        """The names that matter, of sections where each object takes a call to read."""

    def call(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Make a call and return the answer's JSON. Raises CallRefused."""
        target = f"{path}?{urlencode(query)}" if query else path
        sent = None if body is None else json.dumps(body).encode()
        status, answer = self._send(method, target, sent)
        try:
            read = json.loads(answer)
        except ValueError:
            raise CallRefused(status, f"{method} {path} answered {status}, without JSON") from None
        if status >= 400:
            raise CallRefused(status, _message(read) or f"{method} {path} answered {status}")
        return read

    def stored(self, section: str) -> tuple[Stored, ...]:
        """The objects of a section. Raises CallRefused."""
        if section not in self._stored:
            self._stored[section] = unambiguous(self._sections[section].read(self))
        return self._stored[section]

    def forget(self) -> None:
        """Read everything anew from here on."""
        self._stored.clear()
        for derived in ("vendors", "plugins"):
            self.__dict__.pop(derived, None)

    def id_of(self, section: str, name: Name) -> str | None:
        """The id of an object that is stored, was made or will be made."""
        for each in self.stored(section):
            if each.name == name:
                return each.id
        return self.ids.get((section, name))

    def name_of(self, section: str, id_: str) -> Name | None:
        return next((each.name for each in self.stored(section) if each.id == id_), None)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The gateway's own OpenAPI document."""
        read: Mapping[str, Any] = self.call("GET", "/api/openapi.json")
        return read

    def body_schema(self, method: str, path: str) -> Mapping[str, Any]:
        """The schema of a route's body."""
        operation = self.document["paths"][path][method.lower()]
        (content,) = operation["requestBody"]["content"].values()
        schema: Mapping[str, Any] = content["schema"]
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].removeprefix(_SCHEMA)]
        return schema

    def body_members(self, method: str, path: str) -> tuple[str, ...]:
        return tuple(self.body_schema(method, path).get("properties", {}))

    @cached_property
    def vendors(self) -> Mapping[str, Mapping[str, Any]]:
        """Every vendor, by id."""
        return {row["id"]: row for row in self.call("GET", "/api/vendors")["vendors"]}

    @cached_property
    def plugins(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self.call("GET", "/api/plugins")["plugins"])

    @cached_property
    def models(self) -> frozenset[Name]:
        """Every model that the gateway knows: provider, model, kind."""
        rows = self.call("GET", "/api/models")["models"]
        return frozenset((row["provider"], row["model"], row["kind"]) for row in rows)

    def provider_name(self, provider: str) -> str:
        """What a file calls a provider: a node by its prefix, a vendor by its id."""
        node = self.name_of("nodes", provider)
        if node is not None:
            return node[0]
        if provider in self.vendors:
            return provider
        spelled = (
            id_
            for id_, row in self.vendors.items()
            if provider in (row["alias"], *row.get("aliases", ()))
        )
        return next(spelled, provider)

    def provider_id(self, name: str) -> str:
        return self.id_of("nodes", (name,)) or name

    def provider_names(self) -> list[str]:
        return [*self.vendors, *(each.name[0] for each in self.stored("nodes"))]


def unambiguous(found: Iterable[Stored]) -> tuple[Stored, ...]:
    """Add their ids to the names of objects that share one."""
    objects = tuple(found)
    names = [each.name for each in objects]
    return tuple(
        replace(each, name=(*each.name[:-1], f"{each.name[-1]} ({each.id})"))
        if names.count(each.name) > 1
        else each
        for each in objects
    )


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at a known word that was probably meant; empty where there is none."""
    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def segment(text: str) -> str:
    """Text as one segment of a path."""
    return quote(text, safe="")


def _message(answer: Any) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else ""
