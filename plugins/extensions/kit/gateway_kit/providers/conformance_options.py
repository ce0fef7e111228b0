"""What a plugin's cases need to know that its hooks do not say."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from gateway_administration.plugins.tiers import Tier
from gateway_kit.abilities import unknown
from gateway_kit.mock_vendor import Dialect

from .subject import Account

NAME = "CONFORMANCE"
"""The plugin's own name for it: a plain dictionary with these members."""


class BadConformanceOptions(ValueError):
    """A plugin's CONFORMANCE is invalid. The message says why."""


class ConformanceOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one plugin."""

    accounts: Mapping[str, Account] = {}
    """By provider, where a key of any form will not do."""
    answers_itself: tuple[str, ...] = ()
    """Providers that call no vendor."""
    other_work: tuple[str, ...] = ()
    """Wire formats for work that is no conversation, to which few laws apply."""
    public: tuple[str, ...] | None = None
    """Paths that are meant for everybody; ``None`` does not say."""
    trusted: bool = False
    """It is an extension that an operator has to trust with the whole gateway."""
    dialects: Mapping[str, str] = {}
    """By wire format, how the mock vendor answers in one that no client speaks: the place of a
    ``Dialect``, as ``module:NAME``."""
    requests: Mapping[str, str] = {}
    """By wire format, what its clients send: the place of the bodies, as ``module:NAME``, each by
    the name of what it asks for. For a format without a vendor side, whose requests the kit
    cannot write."""
    lacks: tuple[str, ...] = ()
    """What the plugin's formats and vendors have nothing of, by the names of ``ABILITIES``: cases
    that need it are left out, and others see that it is really lacking."""
    settings: Mapping[str, Any] = {}
    """Values of the plugin's settings with which an extension does its work."""
    expected: Mapping[str, str] = {}
    """By case, why it fails and is to fail for now. A pattern may stand for a name."""


BUNDLED = {
    "gateway_extension_object_store": ConformanceOptions(
        settings={
            "bucket": "kit",
            "endpoint": "http://127.0.0.1:9",
            "waitSeconds": 1,
            "accessKeyId": "kit",
            "secretAccessKey": "kit-secret-4711-0123456789abcdef",
        },
        expected={
            "*: file contents: exercised": "no store is there; its own tests bring one",
            "*: file contents: keeps contents": "no store is there; its own tests bring one",
        },
    ),
    "gateway_extension_telemetry": ConformanceOptions(settings={"metrics": True}),
    "gateway_extension_valkey": ConformanceOptions(
        settings={"url": "valkey://127.0.0.1:9"},
        expected={"*: shared state: exercised": "no server is there; its own tests bring one"},
    ),
    "gateway_format_openai": ConformanceOptions(
        requests={"openai-completions": "gateway_kit.formats.completions_requests:BODIES"}
    ),
    "gateway_format_openai_responses": ConformanceOptions(other_work=("openai-responses-compact",)),
    "gateway_provider_azure_openai": ConformanceOptions(
        accounts={
            "azure-openai": Account(data={"azureEndpoint": "https://resource.openai.azure.com"})
        }
    ),
    "gateway_provider_cloudflare_ai": ConformanceOptions(
        accounts={"cloudflare-ai": Account(data={"accountId": "0123456789abcdef"})}
    ),
    "gateway_provider_dify": ConformanceOptions(
        dialects={"dify": "gateway_kit.mock_vendor.dify:DIFY"},
        # An application answers one text, and always whole; it has settings of its own.
        lacks=(
            *("stream", "images", "sound", "documents", "tools", "parallel tools"),
            *("forced tools", "thinking", "structured output", "user", "cache key"),
            *("service tier", "temperature", "top_p", "top_k", "min_p", "seed"),
            *("stop", "presence_penalty", "frequency_penalty", "candidates", "logprobs"),
        ),
    ),
    "gateway_provider_echo": ConformanceOptions(answers_itself=("echo",)),
    "gateway_provider_vertex": ConformanceOptions(
        accounts={
            "vertex": Account(secret="AIza-kit-0123456789abcdef", data={"project": "project-1"})
        }
    ),
}
"""Of the plugins that come with the gateway, by module."""


def read_conformance_options(module: str, plugin: object) -> ConformanceOptions:
    """Raises BadConformanceOptions."""
    value = getattr(plugin, NAME, None)
    if value is None:
        return BUNDLED.get(module, ConformanceOptions())
    try:
        options = msgspec.convert(value, ConformanceOptions)
    except msgspec.ValidationError as error:
        raise BadConformanceOptions(f"its {NAME} is not what the kit reads: {error}") from None
    wrong = "; ".join(unknown(options.lacks))
    if wrong:
        raise BadConformanceOptions(f"its {NAME} is not what the kit reads: {wrong}")
    return options


def expected_reason(options: ConformanceOptions, case: str, tier: Tier) -> str | None:
    """Why the author expects this case to fail; ``None`` for one that has to pass.

    What bronze needs has to pass: without it nothing can be said of a plugin.
    """
    if tier is Tier.BRONZE:
        return None
    patterns = (pattern for pattern in options.expected if fnmatchcase(case, pattern))
    return next((options.expected[pattern] for pattern in patterns), None)


def load_dialects(options: ConformanceOptions, plugin: object) -> dict[str, Dialect]:
    """Raises BadConformanceOptions for a place where there is no dialect."""
    dialects = {}
    for wire, place in options.dialects.items():
        dialect = load_place(place, plugin)
        if not isinstance(dialect, Dialect):
            raise BadConformanceOptions(f"{place} is no Dialect")
        dialects[wire] = dialect
    return dialects


def load_place(place: str, plugin: object) -> Any:
    """What is called ``NAME`` in ``module``. Raises BadConformanceOptions."""
    module, _, name = place.partition(":")
    try:
        with _beside(plugin):
            return getattr(importlib.import_module(module), name)
    except Exception as error:  # the author's module may raise anything
        raise BadConformanceOptions(f"{place} of its {NAME} cannot be had: {error}") from error


@contextmanager
def _beside(plugin: object) -> Iterator[None]:
    """Let modules be found that stand beside a plugin's file or package."""
    file = Path(getattr(plugin, "__file__", None) or "__init__.py")
    folder = str((file.parent.parent if file.name == "__init__.py" else file.parent).resolve())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
