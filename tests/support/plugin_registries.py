"""Plugins in this process, and registries built from them."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_core import Endpoint, Intake, ProviderSpec, WireFormat, hookimpl
from gateway_core.plugins import Plugin, load
from gateway_core.plugins.registry import Registry, build


class Client:
    """A client side that does nothing."""

    def nothing(self, *given: object) -> Any: ...

    read_request = write_reply = stream_writer = write_error = nothing


class Vendor:
    """A vendor side that does nothing."""

    def nothing(self, *given: object) -> Any: ...

    write_request = read_reply = stream_reader = read_error = path = relay = nothing


def endpoint(path: str) -> Endpoint:
    return Endpoint(path=path, read=lambda path, headers, members: Intake("m", False))


PLAIN = WireFormat(id="plain", dialect="plain", client=Client(), vendor=Vendor())
OTHER = replace(PLAIN, id="other")
CLIENT_ONLY = WireFormat(id="client-only", dialect="plain", client=Client())


def spec(id: str = "acme", **fields: Any) -> ProviderSpec:
    return ProviderSpec(**{"id": id, "name": "Acme", "format": "plain", **fields})


def plugin(**answers: Any) -> ModuleType:
    """A plugin whose hooks return these values; a function is the hook itself."""
    module = ModuleType("in_process")
    for hook, answer in answers.items():
        function = answer if callable(answer) else _giving(answer)
        setattr(module, f"register_{hook}", hookimpl(function))
    return module


def _giving(answer: object) -> Callable[[], object]:
    return lambda: answer


def registry_of(plugins: dict[str, ModuleType], *, limit: float = 5) -> Registry:
    return build(load(extra=plugins, entry_points=False, limit=limit))


def build_registry(*specs: Any) -> Registry:
    """One plugin ``vendor`` beside the formats ``plain``, ``other`` and ``client-only``."""
    formats = plugin(formats=[PLAIN, OTHER, CLIENT_ONLY])
    return registry_of({"formats": formats, "vendor": plugin(providers=list(specs))})


def messages(registry: Registry, name: str = "vendor") -> list[str]:
    return [problem.message for problem in registry.problems if problem.plugin == name]


def record(registry: Registry, name: str) -> Plugin:
    return next(plugin for plugin in registry.plugins if plugin.name == name)


names = st.sampled_from(["a", "b", "c", "d", "e"])
specs = st.lists(
    st.builds(spec, names, alias=st.none() | names, aliases=st.lists(names, max_size=3).map(tuple)),
    max_size=8,
)
