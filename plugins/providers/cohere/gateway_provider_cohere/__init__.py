"""Cohere, in its own chat format: tools, documents with citations, thinking, images.

API reference: https://docs.cohere.com/reference/chat

Provider options of the format: ``safety_mode`` (``CONTEXTUAL``, ``STRICT``,
``OFF``) and ``citation_mode`` (``FAST``, ``ACCURATE``, ``OFF``), sent with
every request when set. A document that a client sends as text becomes one that
the model can cite. Usage counts what the model read and wrote, which is more
than what is billed.
"""

from gateway_core import Kind, Model, Price, ProviderSpec, WireFormat, hookimpl

from .chat import CHAT
from .native import NATIVE
from .services import SERVICES

# https://cohere.com/pricing: $2 for a thousand searches of up to 100 documents
SEARCHES = Price(units={"queries": 0.002})

COHERE = ProviderSpec(
    id="cohere",
    name="Cohere",
    keys_url="https://dashboard.cohere.com/api-keys",
    alias="cohere",
    format=CHAT.id,
    base_url="https://api.cohere.com/v2",
    models_url="https://api.cohere.com/v1/models",
    environment=("COHERE_API_KEY", "CO_API_KEY"),
    models=(
        Model("command-a-plus-05-2026", tools=True, reasoning=True, vision=True),
        Model("command-a-03-2025", context=256_000, max_output=8_000, tools=True, reasoning=False),
        Model(
            "command-r7b-12-2024", context=128_000, max_output=4_000, tools=True, reasoning=False
        ),
        Model("command-a-translate-08-2025", context=8_000, max_output=8_000, reasoning=False),
        Model(
            "command-a-reasoning-08-2025",
            context=256_000,
            max_output=32_000,
            tools=True,
            reasoning=True,
        ),
        Model(
            "command-a-vision-07-2025",
            context=128_000,
            max_output=8_000,
            reasoning=False,
            vision=True,
        ),
        Model(
            "command-r-plus-08-2024", context=128_000, max_output=4_000, tools=True, reasoning=False
        ),
        Model("command-r-08-2024", context=128_000, max_output=4_000, tools=True, reasoning=False),
        Model("north-small-translate-1-0"),
        Model("north-mini-code-1-0"),
        Model("tiny-aya-global", reasoning=False),
        Model("tiny-aya-earth", reasoning=False),
        Model("tiny-aya-fire", reasoning=False),
        Model("tiny-aya-water", reasoning=False),
        Model("c4ai-aya-expanse-32b", context=128_000, max_output=4_000, reasoning=False),
        Model(
            "c4ai-aya-vision-32b", context=16_000, max_output=4_000, reasoning=False, vision=True
        ),
        Model("embed-v5.0-pro", kind=Kind.EMBEDDING),
        Model("embed-v5.0-fast", kind=Kind.EMBEDDING),
        Model("embed-v4.0", kind=Kind.EMBEDDING, context=128_000, price=Price(input=0.12)),
        Model("rerank-v4.0-pro", kind=Kind.RERANK, price=Price(units={"queries": 0.0025})),
        Model("rerank-v4.0-fast", kind=Kind.RERANK, price=SEARCHES),
        Model("rerank-v3.5", kind=Kind.RERANK, price=SEARCHES),
        Model("cohere-transcribe-03-2026", kind=Kind.TRANSCRIPTION),
        Model("cohere-transcribe-arabic-07-2026", kind=Kind.TRANSCRIPTION),
        Model("parse-v5.0", kind=Kind.DOCUMENT_PARSING),
    ),
    services=SERVICES,
    native=NATIVE,
    passthrough_models=True,
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CHAT]


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [COHERE]
