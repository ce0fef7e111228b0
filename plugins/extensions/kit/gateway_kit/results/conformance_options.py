"""What a plugin's cases need to know that its hooks do not say."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from gateway_kit.providers import Account

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


BUNDLED = {
    "gateway_format_openai_responses": ConformanceOptions(other_work=("openai-responses-compact",)),
    "gateway_provider_azure_openai": ConformanceOptions(
        accounts={
            "azure-openai": Account(data={"azureEndpoint": "https://resource.openai.azure.com"})
        }
    ),
    "gateway_provider_cloudflare_ai": ConformanceOptions(
        accounts={"cloudflare-ai": Account(data={"accountId": "0123456789abcdef"})}
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
        return msgspec.convert(value, ConformanceOptions)
    except msgspec.ValidationError as error:
        raise BadConformanceOptions(f"its {NAME} is not what the kit reads: {error}") from None
