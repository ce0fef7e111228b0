"""Stable Diffusion web UI: pictures on the operator's own machine.

API reference: https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API

``SDWEBUI_URL`` or the account's ``baseUrl`` names another server, which has to be started with
``--api``. A model's id is the name of a checkpoint.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    count_shown,
    lose_address,
    lose_pictures_but,
    present,
    read_count,
    read_size,
    show_bytes,
)

MOST = 8
OWN = ("negative_prompt", "seed", "steps", "cfg_scale", "sampler_name", "scheduler")


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    lose_pictures_but(question, *OWN)
    lose_address(question)
    size = read_size(question)
    return present(
        prompt=members["prompt"],
        batch_size=read_count(question, MOST),
        width=size and size.width,
        height=size and size.height,
        # For this request alone; a checkpoint that the server does not have is ignored there.
        override_settings={"sd_model_checkpoint": question.target.model.id},
        **{name: members[name] for name in OWN if name in members},
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    return show_bytes(*answer["images"])


SDWEBUI = ProviderSpec(
    id="sdwebui",
    name="Stable Diffusion web UI",
    base_url="http://localhost:7860",
    auth=Auth(type="none"),
    environment_data={"SDWEBUI_URL": "baseUrl"},
    passthrough_models=True,
    models=(
        Model("stable-diffusion-v1-5", kind=Kind.IMAGE),
        Model("sdxl-base-1.0", kind=Kind.IMAGE),
    ),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(path="/sdapi/v1/txt2img", write=write, read=read, usage=count_shown),
        ),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SDWEBUI]
