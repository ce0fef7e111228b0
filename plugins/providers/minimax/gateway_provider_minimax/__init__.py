"""MiniMax: its own models, over messages first, as the vendor recommends.

API reference: https://platform.minimax.io/docs/api-reference/text-anthropic-api
Chat completions: https://platform.minimax.io/docs/api-reference/text-openai-api

On the messages wire thinking comes apart from the answer; the other two are for
clients that speak them. The Chinese platform is a provider of its own, because
its keys are.

Prices of speech: https://platform.minimax.io/docs/guides/pricing-paygo
"""

from collections.abc import Iterator

from msgspec.structs import replace

from gateway_core import Kind, Model, Price, ProviderSpec, hookimpl
from gateway_providers.services import chat_search_model

from .audio import audio_services
from .native import NATIVE
from .services import services
from .sockets import sockets


def chat(context: int, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, context=context, tools=True, reasoning=True)


def other(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


def speech(*ids: str) -> Iterator[Model]:
    for id in ids:
        dollars = 100 if id.endswith("-hd") else 60
        price = Price(units={"characters": dollars / 1_000_000})
        yield Model(id, kind=Kind.SPEECH, price=price)


MINIMAX = ProviderSpec(
    id="minimax",
    name="MiniMax",
    keys_url="https://platform.minimax.io/user-center/basic-information/interface-key",
    format="claude",
    base_url="https://api.minimax.io/anthropic/v1",
    other_formats={"openai": "https://api.minimax.io/v1"},
    responses_url="https://api.minimax.io/v1/responses",
    models_url="https://api.minimax.io/v1/models",
    environment=("MINIMAX_API_KEY",),
    models=(
        *chat(1_000_000, "MiniMax-M3", "MiniMax-M3.1-Flash-Preview"),
        *chat(204_800, "MiniMax-M2.7", "MiniMax-M2.7-highspeed"),
        *chat(204_800, "MiniMax-M2.5", "MiniMax-M2.5-highspeed"),
        *chat(204_800, "MiniMax-M2.1", "MiniMax-M2.1-highspeed", "MiniMax-M2"),
        # https://platform.minimax.io/docs/guides/pricing
        Model("image-01", kind=Kind.IMAGE, price=Price(units={"images": 0.0035})),
        chat_search_model(0.005, input=0.3, output=1.2),
        *other(Kind.VIDEO, "MiniMax-H3", "MiniMax-H3-Max", "MiniMax-Hailuo-2.3"),
        *other(Kind.VIDEO, "MiniMax-Hailuo-2.3-Fast", "MiniMax-Hailuo-02"),
        *speech("speech-2.8-hd", "speech-2.8-turbo", "speech-2.6-hd"),
        *speech("speech-2.6-turbo", "speech-02-hd", "speech-02-turbo"),
        *other(Kind.TRANSCRIPTION, "asr-1.0"),
        *other(Kind.MUSIC, "music-3.0", "music-2.6", "music-cover"),
    ),
    services=(*services("https://api.minimax.io"), *audio_services("https://api.minimax.io/v1")),
    sockets=sockets("minimax", "wss://api.minimax.io"),
    native=NATIVE,
    options={"reasoning": "none"},
)

CHINA = replace(
    MINIMAX,
    id="minimax-cn",
    name="MiniMax (China)",
    keys_url="https://platform.minimaxi.com/user-center/basic-information/interface-key",
    base_url="https://api.minimaxi.com/anthropic/v1",
    other_formats={"openai": "https://api.minimaxi.com/v1"},
    responses_url=None,
    models_url="https://api.minimaxi.com/v1/models",
    services=(
        *services("https://api.minimaxi.com"),
        *audio_services("https://api.minimaxi.com/v1"),
    ),
    sockets=sockets("minimax-cn", "wss://api.minimax.cn"),
    native_url="https://api.minimax.cn",
    environment=(),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MINIMAX, CHINA]
