"""What Together offers: https://docs.together.ai/docs/serverless-models"""

from collections.abc import Iterator

from gateway_core import Kind, Model, Price


def chat(context: int | None, *ids: str, vision: bool | None = None) -> Iterator[Model]:
    for id in ids:
        yield Model(id, context=context, vision=vision)


def other(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


CHAT = (
    *chat(1_048_576, "deepseek-ai/DeepSeek-V4-Pro-0813", "deepseek-ai/DeepSeek-V4-Flash-0731"),
    *chat(1_048_575, "zai-org/GLM-5.3", "zai-org/GLM-5.3-Flash", "zai-org/GLM-5.2"),
    *chat(1_000_000, "deepseek-ai/DeepSeek-V4.1-Flash", "Qwen/Qwen3.8-Flash"),
    *chat(1_000_000, "Qwen/Qwen3.7-Plus", "Qwen/Qwen3.6-Plus"),
    *chat(524_288, "thinkingmachines/Inkling"),
    *chat(262_144, "Prism-ML/Ternary-Bonsai-27B"),
    *chat(131_072, "openai/gpt-oss-120b", "meta-models/Muse-Glimmer-30B"),
    Model("meta-llama/Llama-3.3-70B-Instruct-Turbo", context=131_072, tools=True, reasoning=False),
    *chat(32_768, "together/Tev1-4B-experimental"),
    *chat(None, "Qwen/Qwen3.8-2.4T-A95B", "Qwen/Qwen3.7-Max", "Qwen/Qwen3-235B-A22B"),
    *chat(None, "deepseek-ai/DeepSeek-R1", "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"),
    *chat(1_048_576, "moonshotai/Kimi-K3", vision=True),
    *chat(524_288, "MiniMaxAI/MiniMax-M3", vision=True),
    *chat(262_144, "Qwen/Qwen3.5-9B", vision=True),
)

IMAGES = (
    "google/flash-image-2.5",
    "google/gemini-3-pro-image",
    "black-forest-labs/FLUX.1.1-pro",
    "black-forest-labs/FLUX.1-kontext-pro",
    "black-forest-labs/FLUX.1-kontext-max",
    "black-forest-labs/FLUX.2-pro",
    "black-forest-labs/FLUX.2-dev",
    "black-forest-labs/FLUX.2-flex",
    "black-forest-labs/FLUX.2-max",
    "ByteDance-Seed/Seedream-3.0",
    "ByteDance-Seed/Seedream-4.0",
    "ByteDance/Seedream-5.0-lite",
    "Qwen/Qwen-Image",
    "Qwen/Qwen-Image-2.0",
    "Qwen/Qwen-Image-2.0-Pro",
    "RunDiffusion/Juggernaut-pro-flux",
    "Rundiffusion/Juggernaut-Lightning-Flux",
    "ideogram/ideogram-3.0",
    "ideogram/ideogram-4.0",
    "stabilityai/stable-diffusion-xl-base-1.0",
    "google/flash-image-3.1",
    "google/flash-image-3.1-lite",
    "openai/gpt-image-1.5",
    "openai/gpt-image-2",
    "Wan-AI/Wan2.6-image",
    "prunaai/p-image-ideogram",
)

FILMS = (
    "minimax/video-01-director",
    "minimax/hailuo-02",
    "MiniMaxAI/MiniMax-H3",
    "ByteDance/Seedance-1.0-lite",
    "ByteDance/Seedance-1.0-pro",
    "ByteDance/Seedance-2.0",
    "ByteDance/Seedance-2.5",
    "pixverse/pixverse-v5",
    "pixverse/pixverse-v5.6",
    "pixverse/pixverse-v6",
    "vidu/vidu-q1",
    "vidu/vidu-q3",
    "vidu/vidu-q3-turbo",
    "Wan-AI/wan2.7-t2v",
    "Wan-AI/wan2.7-i2v",
    "Wan-AI/wan2.7-r2v",
    "alibaba/happyhorse-1.0-t2v",
    "alibaba/happyhorse-1.0-i2v",
    "alibaba/happyhorse-1.0-r2v",
    "alibaba/happyhorse-1.1-t2v",
    "alibaba/happyhorse-1.1-i2v",
    "alibaba/happyhorse-1.1-r2v",
    "google/veo-3.1",
    "google/veo-3.1-lite",
    "black-forest-labs/FLUX-3",
)

MODELS = (
    *CHAT,
    *other(Kind.IMAGE, *IMAGES),
    *other(Kind.VIDEO, *FILMS),
    Model("intfloat/multilingual-e5-large-instruct", kind=Kind.EMBEDDING, price=Price(input=0.02)),
    *other(Kind.RERANK, "mixedbread-ai/Mxbai-Rerank-Large-V2"),
    *other(Kind.SPEECH, "canopylabs/orpheus-3b-0.1-ft", "hexgrad/Kokoro-82M"),
    *other(Kind.SPEECH, "cartesia/sonic-3", "cartesia/sonic-2", "cartesia/sonic"),
    *other(Kind.TRANSCRIPTION, "openai/whisper-large-v3", "nvidia/parakeet-tdt-0.6b-v3"),
    *other(Kind.TRANSCRIPTION, "nvidia/nemotron-3-asr-streaming-0.6b"),
    *other(Kind.TRANSCRIPTION, "nvidia/nemotron-3.5-asr-streaming-0.6b"),
)
