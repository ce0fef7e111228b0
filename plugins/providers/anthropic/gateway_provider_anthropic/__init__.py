"""Anthropic: the Claude models over the messages format.

API reference: https://platform.claude.com/docs/en/api/overview
Models: https://platform.claude.com/docs/en/about-claude/models/overview

``ANTHROPIC_BASE_URL`` is deliberately not read, because where it is set it
often points at a gateway.
"""

from collections.abc import Iterator

from gateway_core import Model, ProviderSpec, hookimpl

from .native import NATIVE


def claude(context: int | None, max_output: int | None, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(
            id, context=context, max_output=max_output, tools=True, reasoning=True, vision=True
        )


ANTHROPIC = ProviderSpec(
    id="anthropic",
    name="Anthropic",
    keys_url="https://platform.claude.com/settings/keys",
    format="claude",
    base_url="https://api.anthropic.com/v1",
    models_url="https://api.anthropic.com/v1/models",
    beginnings=("claude-",),
    environment=("ANTHROPIC_API_KEY",),
    # As long as the vendor's own client waits: a whole answer begins when it is complete.
    timeout_ms=600_000,
    native=NATIVE,
    models=(
        *claude(1_000_000, 128_000, "claude-fable-5-1", "claude-fable-5"),
        *claude(1_000_000, 128_000, "claude-opus-5-5", "claude-opus-5", "claude-opus-4-8"),
        *claude(1_000_000, 128_000, "claude-opus-4-7", "claude-opus-4-6"),
        *claude(200_000, 64_000, "claude-opus-4-5", "claude-opus-4-5-20251101"),
        *claude(1_000_000, 128_000, "claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6"),
        *claude(200_000, 64_000, "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        *claude(200_000, 64_000, "claude-haiku-4-5", "claude-haiku-4-5-20251001"),
        *claude(1_000_000, 128_000, "claude-haiku-5-5"),
        *claude(None, None, "claude-mythos-5-1", "claude-mythos-5", "claude-mythos-preview"),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ANTHROPIC]
