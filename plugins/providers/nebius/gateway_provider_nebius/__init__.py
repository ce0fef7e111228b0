"""Nebius Token Factory: open-weight models in European data centres.

API reference: https://docs.tokenfactory.nebius.com/api-reference/introduction
Pictures: https://docs.tokenfactory.nebius.com/api-reference/inference/generate

It was called AI Studio; accounts of that time may have its address as ``baseUrl``.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Model, ProviderSpec, Service, Usage, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import (
    JsonService,
    Question,
    count_made,
    lose_pictures_but,
    present,
    read_count,
    read_size,
    read_usage,
    show_pictures,
)

OWN = (
    *("response_extension", "num_inference_steps", "seed", "guidance_scale", "negative_prompt"),
    *("loras", "width", "height"),
)
"""Members of pictures that only this vendor has."""


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    lose_pictures_but(question, "output_format", *OWN)
    read_count(question)
    size = read_size(question)
    return present(
        model=question.target.model.id,
        prompt=members["prompt"],
        response_format=members.get("response_format"),
        **{
            "width": size and size.width,
            "height": size and size.height,
            "response_extension": members.get("output_format"),
            **{name: members[name] for name in OWN if name in members},
        },
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    return show_pictures(
        {name: value for name, value in picture.items() if value} for picture in answer["data"]
    )


def usage(question: Question, answer: Any) -> Usage | None:
    return read_usage(answer, count_made(question, len(answer["data"])).units)


NEBIUS = openai_compatible(
    ProviderSpec(
        id="nebius",
        name="Nebius",
        keys_url="https://tokenfactory.nebius.com",
        base_url="https://api.tokenfactory.nebius.com/v1",
        base_urls=("https://api.studio.nebius.ai/v1",),
        environment=("NEBIUS_API_KEY",),
        passthrough_models=True,
        models=(
            Model("meta-llama/Llama-3.3-70B-Instruct", context=131_072),
            Model("Qwen/Qwen3-Embedding-8B", kind=Kind.EMBEDDING),
            Model("black-forest-labs/flux-schnell", kind=Kind.IMAGE),
            Model("black-forest-labs/flux-dev", kind=Kind.IMAGE),
        ),
        services=(
            Service(
                Kind.IMAGE,
                JsonService(
                    path="/images/generations",
                    write=write,
                    read=read,
                    usage=usage,
                ),
            ),
        ),
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NEBIUS]
