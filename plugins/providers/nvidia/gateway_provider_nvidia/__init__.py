"""NVIDIA NIM: open-weight models on the vendor's own catalog of machines.

API reference: https://docs.api.nvidia.com/nim/reference/llm-apis

Behind every model stands a server of its own, and most refuse members they do
not know. How thinking is switched on differs from model to model, so a wish
for it is not passed on to them.

Transcription: https://docs.nvidia.com/nim/riva/asr/latest/getting-started.html
Speech is sent in the words of the gateway's contract: what is documented of the hosted voices is
gRPC alone.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import BytesService, Question, count_characters, read_speech

from .embeddings import EMBEDDING


def chat(*ids: str, vision: bool | None = None) -> Iterator[Model]:
    for id in ids:
        yield Model(id, vision=vision)


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, voice="default", formats=("wav",))
    return {"input": {"text": speech.text}, "voice": speech.voice, "model": speech.model}


SPEECH = BytesService(
    path="/audio/speech", write=write_speech, media_type="audio/wav", usage=count_characters
)
NVIDIA = openai_compatible(
    ProviderSpec(
        id="nvidia",
        name="NVIDIA NIM",
        keys_url="https://build.nvidia.com/settings/api-keys",
        base_url="https://integrate.api.nvidia.com/v1",
        environment=("NVIDIA_API_KEY",),
        calls_per_minute=40,
        passthrough_models=True,
        models=(
            *chat("nvidia/nemotron-3-ultra-550b-a55b", "nvidia/nemotron-3-nano-30b-a3b"),
            *chat("nvidia/llama-3.3-nemotron-super-49b-v1.5", "nvidia/nvidia-nemotron-nano-9b-v2"),
            *chat("meta/llama-3.1-8b-instruct"),
            *chat("meta/llama-3.2-11b-vision-instruct", vision=True),
            *chat("meta/llama-3.2-90b-vision-instruct", vision=True),
            *chat("meta/llama-4-maverick-17b-128e-instruct", vision=True),
            *chat("deepseek-ai/deepseek-v4-pro", "deepseek-ai/deepseek-v4-flash"),
            *chat("minimaxai/minimax-m3", "minimaxai/minimax-m2.7", "moonshotai/kimi-k2.6"),
            *chat("mistralai/mistral-large-3-675b-instruct-2512"),
            *chat("mistralai/mistral-medium-3.5-128b", "mistralai/mistral-small-4-119b-2603"),
            *chat("qwen/qwen3.5-122b-a10b", "qwen/qwen3-next-80b-a3b-instruct"),
            *chat("stepfun-ai/step-3.7-flash", "z-ai/glm-5.2"),
            Model("nvidia/nv-embedqa-e5-v5", kind=Kind.EMBEDDING),
            Model("nvidia/parakeet-ctc-1.1b-asr", kind=Kind.TRANSCRIPTION),
            Model("fastpitch", kind=Kind.SPEECH),
            Model("tacotron2", kind=Kind.SPEECH),
        ),
        drop=("client_metadata", "metadata", "prompt_cache_key", "service_tier", "store"),
        options={"max_tokens": True, "reasoning": "none"},
        services=(Service(Kind.SPEECH, SPEECH), Service(Kind.EMBEDDING, EMBEDDING)),
    ),
    services=("stt",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NVIDIA]
