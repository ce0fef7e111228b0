"""Pictures, made and changed: both are asked for in JSON, and few members are taken.

API reference: https://docs.x.ai/docs/guides/image-generations
"""

import time
from collections.abc import Mapping
from typing import Any

from gateway_core import BadRequest, Kind, Service, UpstreamError, Usage
from gateway_providers.services import JsonService, Question, files_of, read_count

MADE = ("prompt", "n", "response_format", "aspect_ratio", "resolution")
CHANGED = (*MADE, "quality", "storage_options")
MOST_IMAGES = 5
MOST_MADE = 10


def write_picture(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*MADE)
    return kept(question, MADE)


def write_edit(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*CHANGED, "image", "images")
    pictures = pictures_of(question)
    if not 1 <= len(pictures) <= MOST_IMAGES:
        raise BadRequest(f"An edit needs 1 to {MOST_IMAGES} images", param="image")
    named = {"image": pictures[0]} if len(pictures) == 1 else {"images": pictures}
    return {**kept(question, CHANGED), **named}


def kept(question: Question, names: tuple[str, ...]) -> dict[str, Any]:
    members = {name: question.members[name] for name in names if name in question.members}
    # In a form it is a word.
    if "n" in members:
        members["n"] = read_count(question, MOST_MADE)
    return {"model": question.target.model.id, **members}


def pictures_of(question: Question) -> list[Mapping[str, Any]]:
    """``{url}`` or ``{file_id}`` of each picture; the files of a form become data URLs."""
    files = [{"url": f"data:{kind};base64,{data}"} for kind, data in files_of(question)]
    images = question.members.get("images") or question.members.get("image")
    listed = images if isinstance(images, list) else [images]
    named = [{"url": each} if isinstance(each, str) else each for each in listed if each]
    if not all(isinstance(each, Mapping) for each in named):
        raise BadRequest("An image is an object with url or file_id", param="image")
    return [*files, *named]


def picture_usage(question: Question, answer: Any) -> Usage:
    return Usage(units={"images": float(len(answer["data"]))})


def read_pictures(question: Question, answer: Any) -> Mapping[str, Any]:
    if not answer["data"]:
        raise UpstreamError("The upstream made no picture")
    return {"created": int(time.time()), **answer}


SERVICES = (
    Service(
        Kind.IMAGE,
        JsonService(
            path="/images/generations",
            write=write_picture,
            read=read_pictures,
            usage=picture_usage,
        ),
    ),
    Service(
        Kind.IMAGE,
        JsonService(
            path="/images/edits", write=write_edit, read=read_pictures, usage=picture_usage
        ),
        "edit",
    ),
)
