"""Groq: open-weight models on fast hardware of its own.

API reference: https://console.groq.com/docs/api-reference
What it rejects: https://console.groq.com/docs/openai

Its responses endpoint is in beta and refuses members that clients of that
format send as a matter of course, so those clients are translated.
"""

from collections.abc import Iterator

from gateway_core import Kind, Model, Price, ProviderSpec, hookimpl
from gateway_providers import openai_compatible


def thinking(*ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(
            id, context=131_072, max_output=65_536, tools=True, reasoning=True, vision=False
        )


def talking(max_output: int, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(
            id, context=131_072, max_output=max_output, tools=True, reasoning=False, vision=False
        )


def hearing(id: str, dollars_an_hour: float) -> Model:
    """A model that writes speech down: https://groq.com/pricing"""
    price = Price(units={"seconds": dollars_an_hour / 3600})
    return Model(id, kind=Kind.TRANSCRIPTION, price=price)


GROQ = openai_compatible(
    ProviderSpec(
        id="groq",
        name="Groq",
        keys_url="https://console.groq.com/keys",
        base_url="https://api.groq.com/openai/v1",
        environment=("GROQ_API_KEY",),
        passthrough_models=True,
        models=(
            *thinking("openai/gpt-oss-120b", "openai/gpt-oss-20b"),
            Model("openai/gpt-oss-safeguard-20b", context=131_072, max_output=65_536),
            *talking(131_072, "llama-3.1-8b-instant"),
            *talking(32_768, "llama-3.3-70b-versatile"),
            Model("minimaxai/minimax-m2.7", context=196_608, max_output=131_072),
            Model("qwen/qwen3.8-27b", context=131_072, max_output=16_384),
            Model("qwen/qwen3.6-27b"),
            Model("groq/compound"),
            Model("groq/compound-mini"),
            Model("allam-2-7b"),
            hearing("whisper-large-v3", 0.111),
            hearing("whisper-large-v3-turbo", 0.04),
            hearing("distil-whisper-large-v3-en", 0.02),
            Model("canopylabs/orpheus-v1-english", kind=Kind.SPEECH),
            Model("canopylabs/orpheus-arabic-saudi", kind=Kind.SPEECH),
        ),
        drop=("logprobs", "top_logprobs", "logit_bias"),
    ),
    services=("tts", "stt", "stt/translation"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GROQ]
