"""SiliconFlow: open-weight models.

API reference: https://docs.siliconflow.com/en/api-reference
Pictures: https://docs.siliconflow.com/en/api-reference/images/images-generations
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import (
    Again,
    JsonService,
    Question,
    count_shown,
    lose_pictures_but,
    present,
    read_count,
    show_address,
    show_bytes,
    show_pictures,
)

OWN = ("negative_prompt", "seed", "num_inference_steps", "guidance_scale", "image", "cfg")
"""Members of pictures that are sent as they are."""
MOST = 4


def models(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    lose_pictures_but(question, *OWN)
    count = read_count(question, MOST)
    size = members.get("size")
    return present(
        model=question.target.model.id,
        prompt=members["prompt"],
        image_size=None if size == "auto" else size,
        batch_size=count if count > 1 else None,
        **{name: members[name] for name in OWN if name in members},
    )


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if isinstance(answer, bytes):
        return show_bytes(answer)
    pictures = answer["images"]
    if len(pictures) == 1:
        return show_address(question, pictures[0]["url"])
    return show_pictures({"url": picture["url"]} for picture in pictures)


SILICONFLOW = openai_compatible(
    ProviderSpec(
        id="siliconflow",
        name="SiliconFlow",
        keys_url="https://cloud.siliconflow.com/account/ak",
        base_url="https://api.siliconflow.com/v1",
        environment=("SILICONFLOW_API_KEY",),
        passthrough_models=True,
        models=(
            *models(Kind.LLM, "deepseek-ai/DeepSeek-V4-Pro", "deepseek-ai/DeepSeek-V4-Flash"),
            *models(Kind.LLM, "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.2-Exp"),
            *models(Kind.LLM, "deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3.1-Terminus"),
            *models(Kind.LLM, "deepseek-ai/DeepSeek-R1"),
            *models(Kind.LLM, "Qwen/Qwen3.5-397B-A17B", "Qwen/Qwen3.5-122B-A10B"),
            *models(Kind.LLM, "Qwen/Qwen3.6-27B", "Qwen/Qwen3.6-35B-A3B"),
            *models(Kind.LLM, "zai-org/GLM-5.1", "zai-org/GLM-5", "zai-org/GLM-5V-Turbo"),
            *models(Kind.LLM, "moonshotai/Kimi-K2.6", "moonshotai/Kimi-K2.5"),
            *models(Kind.LLM, "openai/gpt-oss-120b", "MiniMaxAI/MiniMax-M2.5"),
            *models(Kind.LLM, "inclusionAI/Ling-flash-2.0", "google/gemma-4-31B-it"),
            *models(Kind.EMBEDDING, "Qwen/Qwen3-Embedding-8B", "BAAI/bge-m3"),
            *models(Kind.RERANK, "Qwen/Qwen3-Reranker-8B", "BAAI/bge-reranker-v2-m3"),
            *models(Kind.IMAGE, "Qwen/Qwen-Image", "Kwai-Kolors/Kolors"),
            *models(Kind.SPEECH, "FunAudioLLM/CosyVoice2-0.5B"),
            *models(Kind.TRANSCRIPTION, "FunAudioLLM/SenseVoiceSmall"),
        ),
        services=(
            Service(
                Kind.IMAGE,
                JsonService(path="/images/generations", write=write, read=read, usage=count_shown),
            ),
        ),
    ),
    services=("embedding", "rerank", "tts", "stt"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SILICONFLOW]
