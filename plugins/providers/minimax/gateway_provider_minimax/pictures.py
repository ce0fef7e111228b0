"""Pictures. API reference: https://platform.minimax.io/docs/api-reference/image-generation-t2i"""

from collections.abc import Mapping
from typing import Any

from gateway_core import BadRequest, Kind, Service, Usage
from gateway_providers.services import (
    JsonService,
    Question,
    ratio_of,
    read_count,
    show_pictures,
)

from .answers import checked

MOST_MADE = 9
RATIOS = ("1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "21:9")
CARRIED = ("prompt", "n", "size", "aspect_ratio", "response_format")
OWN = ("seed", "prompt_optimizer", "aigc_watermark", "subject_reference")


def write(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*CARRIED, *OWN)
    body: dict[str, Any] = {
        "model": question.target.model.id,
        "prompt": question.members["prompt"],
        "response_format": (
            "base64" if question.members.get("response_format") == "b64_json" else "url"
        ),
    }
    ratio = ratio_of(question)
    if ratio is not None and ratio not in RATIOS:
        raise BadRequest(f"The size has to be one of {', '.join(RATIOS)}", param="size")
    if ratio is not None:
        body["aspect_ratio"] = ratio
    if "n" in question.members:
        body["n"] = read_count(question, MOST_MADE)
    body.update({name: question.members[name] for name in OWN if name in question.members})
    return body


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    data = checked(answer)["data"]
    made = [{"url": url} for url in data.get("image_urls") or ()]
    made += [{"b64_json": image} for image in data.get("image_base64") or ()]
    return show_pictures(made)


def count(question: Question, answer: Any) -> Usage:
    data = answer["data"]
    made = len(data.get("image_urls") or ()) + len(data.get("image_base64") or ())
    return Usage(units={"images": float(made)})


def pictures(host: str) -> Service:
    return Service(
        Kind.IMAGE,
        JsonService(
            path="/image_generation", base_url=f"{host}/v1", write=write, read=read, usage=count
        ),
    )
