"""Black Forest Labs: the FLUX models.

API reference: https://docs.bfl.ai/quick_start/generating_images
Prices: https://bfl.ai/pricing (of one megapixel, where they depend on the size)

A picture is a job: the answer to its submission names the address where it is asked for, which
may be on one of the vendor's regional hosts.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    Again,
    JsonService,
    Question,
    count_made,
    lose_pictures_but,
    path_of,
    present,
    read_count,
    read_size,
    show_address,
    show_bytes,
    words_of,
)

OWN = (
    *("seed", "safety_tolerance", "prompt_upsampling", "steps", "guidance", "raw"),
    *("image_prompt", "image_prompt_strength", "input_image", "aspect_ratio"),
)
READY = "Ready"
FAILED = ("Error", "Request Moderated", "Content Moderated", "Task not found")


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    lose_pictures_but(question, "output_format", *OWN)
    read_count(question)
    size = read_size(question)
    # https://docs.bfl.ai/kontext/kontext_text_to_image: these take the shape and not the size.
    is_shape = any(word in question.target.model.id for word in ("ultra", "kontext"))
    return {
        **present(
            prompt=members["prompt"],
            output_format=members.get("output_format"),
            aspect_ratio=size.ratio if size and is_shape else None,
            width=size.width if size and not is_shape else None,
            height=size.height if size and not is_shape else None,
        ),
        **{name: members[name] for name in OWN if name in members},
    }


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if isinstance(answer, bytes):
        return show_bytes(answer)
    if "polling_url" in answer:
        return Again(path=answer["polling_url"])
    if answer["status"] == READY:
        return show_address(question, answer["result"]["sample"])
    if answer["status"] in FAILED:
        reason = words_of(answer.get("details")) or answer["status"]
        raise UpstreamError(f"The upstream made no picture: {reason}")
    return Again()


def painter(id: str, price: float) -> Model:
    return Model(id, kind=Kind.IMAGE, price=Price(units={"images": price}))


BLACK_FOREST_LABS = ProviderSpec(
    id="black-forest-labs",
    name="Black Forest Labs",
    keys_url="https://dashboard.bfl.ai",
    aliases=("bfl",),
    base_url="https://api.bfl.ai/v1",
    hosts=("api.*.bfl.ai",),
    auth=Auth(header="x-key", scheme="raw"),
    environment=("BFL_API_KEY",),
    passthrough_models=True,
    models=(
        painter("flux-2-max", 0.07),
        painter("flux-2-pro", 0.03),
        painter("flux-2-flex", 0.05),
        painter("flux-2-klein-9b", 0.015),
        painter("flux-2-klein-4b", 0.014),
        painter("flux-kontext-max", 0.08),
        painter("flux-kontext-pro", 0.04),
        painter("flux-pro-1.1-ultra", 0.06),
        painter("flux-pro-1.1", 0.04),
        painter("flux-dev", 0.025),
    ),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path=lambda question: "/" + path_of(question.target.model),
                write=write,
                read=read,
                usage=lambda question, answer: count_made(question),
                interval=0.5,
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BLACK_FOREST_LABS]
