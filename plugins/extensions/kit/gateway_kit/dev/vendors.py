"""The mock vendor behind the plugin: what it answers in, and one that is made up where none is."""

from collections.abc import Mapping

from gateway_core import Kind, Model, ProviderSpec, Target, WireFormat, hookimpl
from gateway_core.plugins.registry import Registry
from gateway_core.upstream.endpoints import spoken
from gateway_kit.abilities import STREAM, contents
from gateway_kit.installed_formats import DEFAULT_FORMAT
from gateway_kit.mock_vendor import (
    CONTENTS,
    DIALECTS,
    Dialect,
    DialectScript,
    MockResponse,
    MockVendor,
    ReceivedRequest,
    whole_only,
)
from gateway_kit.mock_vendor.format_dialect import dialect_from_format
from gateway_kit.providers.conformance_options import BadConformanceOptions

from .messages import ChildOptions

STAND_IN = "mock"
"""The vendor beside a plugin that brings none."""
STAND_IN_PLUGIN = "_mock"
"""The plugin that brings it; no file is a plugin whose name begins like this."""
MODEL = Model("model-1", tools=True)


class StandInProvider:
    """A plugin with one provider in a given format."""

    def __init__(self, wire: str) -> None:
        self._wire = wire

    @hookimpl
    def register_providers(self) -> list[ProviderSpec]:
        url = "https://api.mock.example/v1"
        spec = ProviderSpec(
            id=STAND_IN, name="Mock", format=self._wire, base_url=url, models=(MODEL,)
        )
        return [spec]


def stand_ins(plugin: str, registry: Registry, wire: str | None) -> Mapping[str, object]:
    """What is loaded beside a plugin so that there is something to call."""
    if any(owner == plugin for owner in registry.provider_plugins.values()):
        return {}
    formats = [id for id, owner in registry.format_plugins.items() if owner == plugin]
    spoken = [id for id in formats if registry.formats[id].vendor is not None]
    wire_format = wire if wire in registry.formats else None
    return {STAND_IN_PLUGIN: StandInProvider(wire_format or next(iter(spoken), DEFAULT_FORMAT))}


def build_vendor(
    options: ChildOptions,
    registry: Registry,
    providers: list[ProviderSpec],
    dialects: Mapping[str, Dialect],
    lacks: frozenset[str] = frozenset(),
) -> MockVendor:
    """A mock vendor in the providers' format, if they all use the same one.

    ``dialects`` are the plugin's own, by wire format, and ``lacks`` what its CONFORMANCE says.
    Raises BadConformanceOptions for an answer that the vendor has nothing of.
    """
    if options.says not in contents(lacks):
        raise BadConformanceOptions(
            f"its CONFORMANCE says that the vendor lacks what --says {options.says} needs"
        )
    dialect: Dialect | None = None
    if options.wire is not None:
        dialect = DIALECTS.get(options.wire) or _dialect(registry.formats[options.wire], dialects)
    dialect = dialect or _only(registry, providers, dialects)
    if dialect is not None and STREAM in lacks:
        dialect = whole_only(dialect)
    answering = DialectScript(dialect=dialect, content=CONTENTS[options.says], fault=options.fault)
    return _ForgetfulVendor(answering)


class _ForgetfulVendor(MockVendor):
    """Keeps no request, because it may serve for days."""

    def __init__(self, answering: DialectScript) -> None:
        super().__init__(self._answer)
        self._answering = answering

    def _answer(self, request: ReceivedRequest) -> MockResponse:
        self.received.clear()
        return self._answering(request)


def _only(
    registry: Registry, providers: list[ProviderSpec], dialects: Mapping[str, Dialect]
) -> Dialect | None:
    """``None`` leaves it to each request's path."""
    formats = registry.formats
    clients = [wire for wire in formats.values() if wire.client is not None]
    targets = [Target(spec, model) for spec in providers for model in chat_models(spec)]
    wires = {spoken(client, target, formats).id for client in clients for target in targets}
    return _dialect(formats[wires.pop()], dialects) if len(wires) == 1 else None


def _dialect(wire: WireFormat, dialects: Mapping[str, Dialect]) -> Dialect | None:
    return {**DIALECTS, **dialects}.get(wire.id) or dialect_from_format(wire)


def chat_models(spec: ProviderSpec) -> list[Model]:
    """A provider without a list accepts any model name."""
    chat = [model for model in spec.models if model.kind == Kind.LLM]
    return chat or ([MODEL] if spec.passthrough_models else [])
