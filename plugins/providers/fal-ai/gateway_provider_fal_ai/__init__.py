"""fal: pictures by the models of many.

API reference: https://docs.fal.ai/model-apis/model-endpoints/synchronous-requests
A model: https://fal.ai/models/fal-ai/flux/dev/api

A model's id is its path, owner and all: ``fal-ai/flux/dev``.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    count_shown,
    path_of,
    present,
    read_count,
    read_size,
    show_bytes,
    show_pictures,
    wants_bytes,
)

MOST = 4
OTHERS = ("n", "size", "response_format", "stream", "quality", "style", "user")
"""Members of the completions vendor that have another name here, or none."""


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    for name in ("quality", "style", "user"):
        if name in members:
            question.losses.add(name)
    size, count = read_size(question), read_count(question, MOST)
    return {
        # Every model has members of its own, so all others go there as they are.
        **{name: value for name, value in members.items() if name not in OTHERS},
        **present(
            image_size=size and {"width": size.width, "height": size.height},
            num_images=count if count > 1 else None,
            # Pictures come in the answer, as data URLs.
            sync_mode=True if wants_bytes(question) else None,
        ),
    }


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    urls = [picture["url"] for picture in answer["images"]]
    if wants_bytes(question):
        return show_bytes(*urls)
    return show_pictures({"url": url} for url in urls)


def painter(id: str) -> Model:
    return Model(id, kind=Kind.IMAGE)


FAL = ProviderSpec(
    id="fal-ai",
    name="fal",
    keys_url="https://fal.ai/dashboard/keys",
    aliases=("fal",),
    base_url="https://fal.run",
    auth=Auth(header="authorization", prefix="Key"),
    environment=("FAL_KEY",),
    passthrough_models=True,
    models=(
        painter("fal-ai/flux/schnell"),
        painter("fal-ai/flux/dev"),
        painter("fal-ai/flux-pro/v1.1"),
        painter("fal-ai/flux-pro/v1.1-ultra"),
        painter("fal-ai/recraft/v3/text-to-image"),
        painter("fal-ai/nano-banana"),
    ),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path=lambda question: "/" + path_of(question.target.model),
                write=write,
                read=read,
                usage=count_shown,
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FAL]
