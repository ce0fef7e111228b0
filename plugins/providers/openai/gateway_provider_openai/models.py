"""What OpenAI offers: https://platform.openai.com/docs/models"""

from collections.abc import Iterator

from gateway_core import Kind, Model, Price
from gateway_providers.services import chat_search_model

LARGE = 1_050_000
USUAL = 400_000
OLDER = 200_000


def thinking(context: int | None, max_output: int | None, *ids: str) -> Iterator[Model]:
    """Reasoning models, which are asked over the responses format."""
    for id in ids:
        yield Model(
            id,
            context=context,
            max_output=max_output,
            tools=True,
            reasoning=True,
            vision=not id.startswith("o3-mini"),
            format="openai-responses",
        )


def talking(context: int, max_output: int, *ids: str) -> Iterator[Model]:
    """Models that answer at once."""
    for id in ids:
        yield Model(
            id, context=context, max_output=max_output, tools=True, reasoning=False, vision=True
        )


def by_unit(kind: Kind, id: str, unit: str, dollars: float) -> Model:
    """A model that is paid for by what it makes: https://platform.openai.com/docs/pricing"""
    return Model(id, kind=kind, price=Price(units={unit: dollars}))


def other(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


GPT = (
    *thinking(LARGE, 128_000, "gpt-6-astra", "gpt-6.1-sol", "gpt-6-sol", "gpt-6-luna"),
    *thinking(LARGE, 128_000, "gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"),
    *thinking(None, None, "gpt-5.6-cyber", "gpt-daybreak-blue-latest", "gpt-daybreak-red-latest"),
    *thinking(LARGE, 128_000, "gpt-5.5", "gpt-5.5-2026-04-23"),
    *thinking(LARGE, 128_000, "gpt-5.5-pro", "gpt-5.5-pro-2026-04-23"),
    *thinking(LARGE, 128_000, "gpt-5.4", "gpt-5.4-2026-03-05"),
    *thinking(LARGE, 128_000, "gpt-5.4-pro", "gpt-5.4-pro-2026-03-05"),
    *thinking(USUAL, 128_000, "gpt-5.4-mini", "gpt-5.4-mini-2026-03-17"),
    *thinking(USUAL, 128_000, "gpt-5.4-nano", "gpt-5.4-nano-2026-03-17"),
    *thinking(USUAL, 128_000, "gpt-5.3-codex"),
    *thinking(USUAL, 128_000, "gpt-5.2", "gpt-5.2-2025-12-11"),
    *thinking(USUAL, 128_000, "gpt-5.2-pro", "gpt-5.2-pro-2025-12-11"),
    *thinking(USUAL, 128_000, "gpt-5.1", "gpt-5.1-2025-11-13"),
    *thinking(USUAL, 128_000, "gpt-5", "gpt-5-2025-08-07"),
    *thinking(USUAL, 272_000, "gpt-5-pro", "gpt-5-pro-2025-10-06"),
    *thinking(USUAL, 128_000, "gpt-5-mini", "gpt-5-mini-2025-08-07"),
    *thinking(USUAL, 128_000, "gpt-5-nano", "gpt-5-nano-2025-08-07"),
)
O_SERIES = (
    *thinking(OLDER, 100_000, "o4-mini", "o4-mini-2025-04-16"),
    *thinking(OLDER, 100_000, "o3", "o3-pro", "o3-mini", "o3-mini-2025-01-31"),
    *thinking(OLDER, 100_000, "o1", "o1-2024-12-17", "o1-pro", "o1-pro-2025-03-19"),
)
CHAT = (
    *talking(1_047_576, 32_768, "gpt-4.1", "gpt-4.1-2025-04-14"),
    *talking(1_047_576, 32_768, "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"),
    *talking(1_047_576, 32_768, "gpt-4.1-nano", "gpt-4.1-nano-2025-04-14"),
    *talking(128_000, 16_384, "gpt-4o", "gpt-4o-2024-11-20", "gpt-4o-2024-08-06"),
    *talking(128_000, 4_096, "gpt-4o-2024-05-13"),
    *talking(128_000, 16_384, "gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
    *talking(128_000, 4_096, "gpt-4-turbo", "gpt-4-turbo-2024-04-09"),
)
AUDIO = (
    "gpt-audio-1.5",
    "gpt-audio",
    "gpt-audio-2025-08-28",
    "gpt-audio-mini",
    "gpt-audio-mini-2025-12-15",
)
"""They hear and speak over chat completions, so each is a chat model as well."""

MODELS = (
    *GPT,
    *O_SERIES,
    *CHAT,
    *(Model(id, context=128_000, max_output=16_384, tools=True, vision=False) for id in AUDIO),
    *other(Kind.AUDIO, *AUDIO),
    *other(Kind.EMBEDDING, "text-embedding-3-large", "text-embedding-3-small"),
    *other(Kind.EMBEDDING, "text-embedding-ada-002"),
    by_unit(Kind.SPEECH, "tts-1", "characters", 15e-6),
    by_unit(Kind.SPEECH, "tts-1-hd", "characters", 30e-6),
    *other(Kind.SPEECH, "gpt-4o-mini-tts"),
    by_unit(Kind.TRANSCRIPTION, "whisper-1", "seconds", 0.006 / 60),
    *other(Kind.TRANSCRIPTION, "gpt-transcribe", "gpt-4o-transcribe"),
    *other(Kind.TRANSCRIPTION, "gpt-4o-mini-transcribe", "gpt-4o-transcribe-diarize"),
    *other(Kind.IMAGE, "gpt-image-2.5-sunburst", "gpt-image-2.5-sunburst-2026-09-08"),
    *other(Kind.IMAGE, "gpt-image-2.5-flare", "gpt-image-2.5-flare-2026-09-08"),
    *other(Kind.IMAGE, "gpt-image-2", "gpt-image-2-2026-04-21"),
    *other(Kind.IMAGE, "gpt-image-1.5", "gpt-image-1.5-2025-12-16"),
    *other(Kind.IMAGE, "gpt-image-1-mini", "gpt-image-1", "chatgpt-image-latest"),
    *other(Kind.REALTIME, "gpt-realtime-2.1", "gpt-realtime-2.1-mini", "gpt-realtime-2"),
    *other(Kind.REALTIME, "gpt-realtime-1.5", "gpt-realtime", "gpt-realtime-mini"),
    *other(Kind.REALTIME_TRANSLATION, "gpt-realtime-translate"),
    *other(Kind.REALTIME_TRANSCRIPTION, "gpt-live-transcribe", "gpt-realtime-whisper"),
    *other(Kind.LIVE, "gpt-live-1"),
    # Web search is $10 for a thousand calls, beside the tokens of gpt-4o-mini.
    chat_search_model(0.01, input=0.15, output=0.6),
    *other(Kind.MODERATION, "omni-moderation-latest", "omni-moderation-2024-09-26"),
)
