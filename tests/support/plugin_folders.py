"""The plugin folders of this repository, and the plugins in them."""

import importlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from gateway_administration.plugins import manifest as manifests
from gateway_core import Call, Credential, Exchange, Kind, Model, ProviderSpec, Target
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_core.plugins import load
from gateway_core.plugins.registry import Registry, build

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "data" / "providers"
SECRET = "key-0123456789"

ACCOUNTS = {
    "azure-openai": {"azureEndpoint": "https://resource.openai.azure.com"},
    "cloudflare-ai": {"accountId": "0123456789abcdef"},
    "databricks": {"baseUrl": "https://dbc-1.cloud.databricks.com/serving-endpoints"},
    "playht": {"userId": "user-1"},
    "snowflake": {"accountId": "myorg-myaccount"},
    "vertex": {"project": "project-1"},
}
"""Vendor data without which an account cannot be used."""

QUESTIONS: dict[str, dict[str, Any]] = {
    "claude": {"max_tokens": 64, "messages": [{"role": "user", "content": "Say hello"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Say hello"}]}]},
    "ollama": {"messages": [{"role": "user", "content": "Say hello"}]},
    "openai": {"messages": [{"role": "user", "content": "Say hello"}]},
    "openai-responses": {"input": "Say hello"},
}
"""The same request in each client format."""


@dataclass(frozen=True)
class Folder:
    """One plugin's folder."""

    kind: str
    """``provider`` or ``format``."""
    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def key(self) -> str:
        """The plugin's name as an entry point."""
        return self.id if self.kind == "provider" else f"format-{self.id}"

    @property
    def module_name(self) -> str:
        return f"gateway_{self.kind}_{self.id.replace('-', '_')}"

    def __str__(self) -> str:
        return self.key

    def project(self) -> dict[str, Any]:
        return tomllib.loads((self.path / "pyproject.toml").read_text())

    def module(self) -> ModuleType:
        return importlib.import_module(self.module_name)


def folders(kind: str) -> list[Folder]:
    found = (ROOT / "plugins" / f"{kind}s").glob("*/pyproject.toml")
    return sorted((Folder(kind, each.parent) for each in found), key=str)


@cache
def registry_of(folder: Folder) -> Registry:
    """The registry with this plugin and all formats."""
    present = {each.key: each.module() for each in [*folders("format"), folder]}
    return build(load(entry_points=False, extra=present))


def specs_of(folder: Folder) -> list[ProviderSpec]:
    """The providers of this plugin that the gateway accepted."""
    registry = registry_of(folder)
    return [
        spec
        for id, spec in registry.providers.items()
        if registry.provider_plugins[id] == folder.key
    ]


def models_of(spec: ProviderSpec) -> list[Model]:
    """A chat model for each wire format of the vendor's models."""
    models = [model for model in spec.models if model.kind == Kind.LLM] or [Model("model-1")]
    return list({model.format: model for model in reversed(models)}.values())[::-1]


def ask(
    folder: Folder,
    spec: ProviderSpec,
    model: Model,
    client: str,
    *,
    stream: bool = False,
    base_url: str | None = None,
) -> Exchange:
    """The request to this vendor for a client's request."""
    body = msgspec.json.encode(
        {"model": f"{spec.id}/{model.id}", "stream": stream, **QUESTIONS[client]}
    )
    call = Call(
        kind=Kind.LLM,
        format=client,
        model=f"{spec.id}/{model.id}",
        stream=stream,
        body=body,
        members=members_of(body),
    )
    data = {} if base_url is None else {"baseUrl": base_url}
    account = Credential(
        connection_id="account-1", secret=SECRET, data={**ACCOUNTS.get(spec.id, {}), **data}
    )
    return Translation(call, registry_of(folder).formats).open(Target(spec, model), account)


def reported(folder: Folder, spec: ProviderSpec) -> dict[str, Any]:
    """The public behaviour: the manifest's entry, and the address of each call."""
    [entry] = msgspec.json.decode(manifests.document([spec]))["providers"]
    return {"manifest": entry, "calls": dict(_calls(folder, spec))}


def _calls(folder: Folder, spec: ProviderSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    for model in models_of(spec):
        for client in sorted(QUESTIONS):
            received = ask(folder, spec, model, client)
            streamed = ask(folder, spec, model, client, stream=True).request.url
            yield (
                f"{client} asks {model.id}",
                {
                    "format": received.upstream_format,
                    "url": received.request.url,
                    **({} if streamed == received.request.url else {"streamed": streamed}),
                    "headers": dict(sorted(received.request.headers.items())),
                },
            )
