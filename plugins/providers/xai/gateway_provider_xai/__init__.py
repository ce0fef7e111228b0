"""xAI: the Grok models.

API reference: https://docs.x.ai/docs/api-reference
Thinking: https://docs.x.ai/docs/guides/reasoning
"""

from collections.abc import Iterator

from gateway_core import Kind, Model, Price, ProviderSpec, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import chat_search_model, responses_search

from .images import SERVICES
from .native import NATIVE, STT, TTS
from .sockets import SOCKETS

NOT_WHILE_THINKING = ("presence_penalty", "frequency_penalty", "stop")


def grok(context: int, *ids: str, unsupported: tuple[str, ...] = ()) -> Iterator[Model]:
    """Models that always think."""
    for id in ids:
        yield Model(
            id,
            context=context,
            tools=True,
            reasoning=True,
            unsupported=(*NOT_WHILE_THINKING, *unsupported),
        )


XAI = openai_compatible(
    ProviderSpec(
        id="xai",
        name="xAI",
        keys_url="https://console.x.ai",
        base_url="https://api.x.ai/v1",
        responses_url="https://api.x.ai/v1/responses",
        environment=("XAI_API_KEY",),
        timeout_ms=600_000,
        models=(
            *grok(500_000, "grok-4.7", "grok-4.6", "grok-4.5"),
            *grok(1_000_000, "grok-4.3"),
            *grok(256_000, "grok-4", "grok-code-fast-1", unsupported=("reasoning_effort",)),
            *grok(2_000_000, "grok-4-fast-reasoning", unsupported=("reasoning_effort",)),
            Model("grok-3", context=131_072, tools=True, reasoning=False, vision=False),
            Model(
                "grok-4.20-multi-agent-0309",
                context=1_000_000,
                reasoning=True,
                format="openai-responses",
            ),
            # https://docs.x.ai/docs/models
            Model("grok-2-image-1212", kind=Kind.IMAGE, price=Price(units={"images": 0.07})),
            Model("grok-imagine-image", kind=Kind.IMAGE, price=Price(units={"images": 0.02})),
            Model("grok-imagine-video", kind=Kind.VIDEO),
            # Its voice API has no models by name: https://docs.x.ai/docs/guides/voice
            Model(TTS, kind=Kind.SPEECH),
            Model(STT, kind=Kind.TRANSCRIPTION),
            Model("grok-voice-think-fast-1.0", kind=Kind.REALTIME),
            Model("grok-voice-latest", kind=Kind.REALTIME),
            # Web search is $5 for a thousand calls, beside the model's tokens.
            chat_search_model(0.005, input=0.2, output=0.5),
        ),
        services=(*SERVICES, responses_search("grok-4-fast-reasoning")),
        sockets=SOCKETS,
        native=NATIVE,
    ),
    services=("video/generations", "video/edits", "video/extensions", "video/status"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [XAI]
