"""The graph of nodes that makes a picture of a text.

https://docs.comfy.org/tutorials/basic/text-to-image describes these nodes.
"""

from collections.abc import Mapping
from secrets import randbelow
from typing import Any, NamedTuple

from gateway_providers.services import (
    Question,
    Size,
    lose_address,
    lose_pictures_but,
    read_count,
    read_size,
)

SQUARE = Size(1024, 1024)


class Checkpoint(NamedTuple):
    """A file of a model, and how it is sampled."""

    file: str
    cfg: float = 7.0
    scheduler: str = "normal"


CHECKPOINTS = {
    # https://docs.comfy.org/tutorials/flux/flux-1-text-to-image: guidance is part of the model.
    "flux-dev": Checkpoint("flux1-dev-fp8.safetensors", cfg=1.0, scheduler="simple"),
    "sdxl": Checkpoint("sd_xl_base_1.0.safetensors"),
}
"""Models by a name of their own; any other is the name of a file."""


def write(question: Question) -> Mapping[str, Any]:
    lose_pictures_but(question, "negative_prompt", "seed", "steps", "cfg_scale")
    lose_address(question)
    read_count(question)
    return {"prompt": graph(question, read_size(question) or SQUARE)}


def graph(question: Question, size: Size) -> Mapping[str, Any]:
    """Nodes by their number; a link is a node's number and the place of its output."""
    members, id = question.members, question.target.model.id
    checkpoint = CHECKPOINTS.get(id) or Checkpoint(id)
    seed = members.get("seed")
    return {
        "1": node("CheckpointLoaderSimple", ckpt_name=checkpoint.file),
        "2": node("CLIPTextEncode", text=members["prompt"], clip=["1", 1]),
        "3": node("CLIPTextEncode", text=members.get("negative_prompt") or "", clip=["1", 1]),
        "4": node("EmptyLatentImage", width=size.width, height=size.height, batch_size=1),
        "5": node(
            "KSampler",
            # A graph that the server has run before gives no new picture.
            seed=randbelow(2**32) if seed is None else seed,
            steps=members.get("steps") or 20,
            cfg=members.get("cfg_scale") or checkpoint.cfg,
            sampler_name="euler",
            scheduler=checkpoint.scheduler,
            denoise=1.0,
            model=["1", 0],
            positive=["2", 0],
            negative=["3", 0],
            latent_image=["4", 0],
        ),
        "6": node("VAEDecode", samples=["5", 0], vae=["1", 2]),
        "7": node("SaveImage", filename_prefix=f"gateway/{id}", images=["6", 0]),
    }


def node(type: str, **inputs: Any) -> Mapping[str, Any]:
    return {"class_type": type, "inputs": inputs}
