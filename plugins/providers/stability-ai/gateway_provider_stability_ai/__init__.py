"""Stability AI: Stable Image and Stable Diffusion.

API reference: https://platform.stability.ai/docs/api-reference
Prices: https://platform.stability.ai/pricing (a credit is one cent)

Stable Image Core and Ultra have an endpoint each; the Stable Diffusion models share one. Each
gives one picture, as base64.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    Form,
    JsonService,
    Question,
    count_made,
    field,
    lose_address,
    lose_pictures_but,
    nearest,
    present,
    read_count,
    read_size,
    show_bytes,
)

GENERATE = "/v2beta/stable-image/generate/"
OWN_ENDPOINT = ("core", "ultra")
"""Models that are not among those of the shared endpoint."""
RATIOS = ("1:1", "16:9", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21")
OWN = ("negative_prompt", "seed", "style_preset", "output_format", "cfg_scale")
FILTERED = "CONTENT_FILTERED"


def endpoint(question: Question) -> str:
    id = question.target.model.id
    return id if id in OWN_ENDPOINT else "sd3"


def write(question: Question) -> Form:
    members = question.members
    lose_pictures_but(question, "aspect_ratio", *OWN)
    lose_address(question)
    read_count(question)
    size, id = read_size(question), question.target.model.id
    sent = present(
        prompt=members["prompt"],
        model=id if endpoint(question) == "sd3" and id != "sd3" else None,
        aspect_ratio=members.get("aspect_ratio") or (size and nearest(size, RATIOS)),
        **{name: members[name] for name in OWN if name in members},
    )
    return Form(tuple(field(name, str(value)) for name, value in sent.items()))


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    if answer.get("finish_reason") == FILTERED:
        raise UpstreamError("The upstream's filter withheld the picture")
    return show_bytes(answer["image"])


def painter(id: str, price: float) -> Model:
    return Model(id, kind=Kind.IMAGE, price=Price(units={"images": price}))


STABILITY = ProviderSpec(
    id="stability-ai",
    name="Stability AI",
    keys_url="https://platform.stability.ai/account/keys",
    aliases=("stability",),
    base_url="https://api.stability.ai",
    auth=Auth(scheme="bearer"),
    environment=("STABILITY_API_KEY",),
    models=(
        painter("ultra", 0.08),
        painter("core", 0.03),
        painter("sd3.5-large", 0.065),
        painter("sd3.5-large-turbo", 0.04),
        painter("sd3.5-medium", 0.035),
        painter("sd3.5-flash", 0.025),
        painter("sd3", 0.065),
    ),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path=lambda question: GENERATE + endpoint(question),
                write=write,
                read=read,
                headers={"accept": "application/json"},
                usage=lambda question, answer: count_made(question),
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [STABILITY]
