"""The first request to try with a plugin."""

from collections.abc import Iterable

from msgspec.structs import replace

from gateway_core import (
    Conversation,
    Kind,
    Losses,
    ProviderSpec,
    Target,
    Text,
    Turn,
    WireFormat,
)
from gateway_core.plugins.registry import Registry
from gateway_kit.installed_formats import DEFAULT_FORMAT

from .vendors import chat_models

HELLO = Conversation(turns=(Turn("user", (Text(text="Hello"),)),))


def model_names(providers: Iterable[ProviderSpec]) -> list[str]:
    """The chat models as clients call them."""
    return [f"{spec.id}/{model.id}" for spec in providers for model in chat_models(spec)]


def first_request(
    base: str, plugin: str, registry: Registry, providers: list[ProviderSpec]
) -> str | None:
    """In the plugin's own format where it has one; ``None`` without a model to ask."""
    target = next((Target(spec, model) for spec in providers for model in chat_models(spec)), None)
    wire, path = find_endpoint(plugin, registry)
    if target is None or wire is None or path is None or wire.vendor is None:
        return None
    # Written as for a vendor, but with the name that clients use.
    model = replace(target.model, id=f"{target.provider.id}/{target.model.id}")
    body = wire.vendor.write_request(HELLO, Target(target.provider, model), Losses())
    quoted_body = body.decode().replace("'", "'\\''")
    return f"  curl {base}{path} -H 'content-type: application/json' \\\n    -d '{quoted_body}'"


def find_endpoint(plugin: str, registry: Registry) -> tuple[WireFormat | None, str | None]:
    """The format to ask in, if there is one, and where; no path where a client cannot ask for a
    chat."""
    formats = (registry.formats[id] for id, by in registry.format_plugins.items() if by == plugin)
    candidates = [(wire, path) for wire in formats if wire.vendor and (path := _path(wire))]
    default = registry.formats.get(DEFAULT_FORMAT)
    return candidates[0] if candidates else (default, _path(default) if default else None)


def _path(wire: WireFormat) -> str | None:
    """The path of a chat endpoint whose model is named in the body."""
    chats = (each for each in wire.endpoints if each.kind == Kind.LLM and each.counting is None)
    return next((each.path for each in chats if "{" not in each.path), None)
