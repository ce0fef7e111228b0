"""What is under test: a vendor, its account, and the ways in which a call can reach it."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gateway_core import Kind, Model, ProviderSpec, Target, WireFormat
from gateway_core.plugins.registry import Registry
from gateway_core.upstream.endpoints import spoken
from gateway_kit.abilities import STREAM, contents
from gateway_kit.mock_vendor import CONTENTS, DIALECTS, Content, Dialect, whole_only
from gateway_kit.mock_vendor.format_dialect import dialect_from_format

from .service_samples import ServiceSample

SECRET = "sk-kit-0123456789abcdef"
CLIENTS = ("openai", "claude", "gemini", "ollama", "openai-responses")


class Account(Struct, frozen=True, kw_only=True):
    """The account that calls are made with; ``secret`` has the form of the vendor's keys."""

    secret: str | None = SECRET
    data: Mapping[str, Any] = {}
    """``providerSpecificData``, for a vendor whose accounts need more than a key."""


class Route(Struct, frozen=True, kw_only=True):
    """A client's format, a model, and the format of the request to the vendor."""

    client: str
    model: Model
    dialect: Dialect
    wire: WireFormat

    @property
    def passes_through(self) -> bool:
        return self.client == self.wire.id

    def __str__(self) -> str:
        return f"{self.client}-to-{self.wire.id}"


class ProviderUnderTest(Struct, frozen=True, kw_only=True):
    """One vendor of a plugin."""

    module: str
    plugin: object
    spec: ProviderSpec
    registry: Registry
    account: Account = Account()  # frozen
    thorough: bool = True
    """Every cut, and the faults that take time, or a choice of them."""
    every_client: bool = True
    """Every client format, or one that is passed through and one that is translated."""
    answers_itself: bool = False
    dialects: Mapping[str, Dialect] = {}
    """Dialects of the mock vendor for the plugin's own formats."""
    lacks: frozenset[str] = frozenset()
    """What the vendor has nothing of, by the names of ``ABILITIES``."""
    samples: Mapping[str, ServiceSample | None] = {}
    """Requests and answers of services that differ from most vendors'; ``None`` for a service
    that is not exercised."""

    def content(self, name: str) -> Content:
        """What the vendor may say of this name; text for what it has nothing of."""
        return contents(self.lacks).get(name, CONTENTS["text"])

    def models(self) -> list[Model]:
        """One chat model for each wire format that the vendor's models use."""
        chat = [model for model in self.spec.models if model.kind == Kind.LLM]
        if not chat and self.spec.passthrough_models:
            chat = [Model("model-1")]
        return list({model.format: model for model in reversed(chat)}.values())[::-1]

    def routes(self) -> list[Route]:
        """Each way in, the ones that are passed through first."""
        routes = sorted(self._routes(), key=lambda route: not route.passes_through)
        if self.every_client:
            return routes
        kinds = {(route.wire.id, route.passes_through): route for route in reversed(routes)}
        return [*kinds.values()][::-1]

    def main(self) -> Route | None:
        return next(iter(self.routes()), None)

    def unspoken(self) -> list[str]:
        """The wire formats of its chat models in which the mock vendor cannot answer."""
        wires = {wire.id: wire for _, _, wire in self._ways()}
        return [id for id, wire in wires.items() if self._dialect(wire) is None]

    def _routes(self) -> Iterator[Route]:
        for client, model, wire in self._ways():
            dialect = self._dialect(wire)
            if dialect is not None:
                yield Route(client=client, model=model, dialect=dialect, wire=wire)

    def _ways(self) -> Iterator[tuple[str, Model, WireFormat]]:
        formats = self.registry.formats
        for model in self.models():
            for client in CLIENTS:
                if client in formats:
                    yield client, model, spoken(formats[client], Target(self.spec, model), formats)

    def _dialect(self, wire: WireFormat) -> Dialect | None:
        dialect = {**DIALECTS, **self.dialects}.get(wire.id) or dialect_from_format(wire)
        return whole_only(dialect) if dialect is not None and STREAM in self.lacks else dialect
