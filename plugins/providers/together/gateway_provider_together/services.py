"""Pictures, whose size is two numbers, and videos, which are jobs.

API reference: https://docs.together.ai/reference/post-images-generations and
https://docs.together.ai/reference/create-videos
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Kind, Service, Usage
from gateway_providers.services import (
    JsonService,
    Question,
    count_made,
    present,
    read_size,
    show_pictures,
)

JOBS = "https://api.together.ai/v2"
STATES = {"queued": "pending", "in_progress": "processing", "completed": "done"}
"""The vendor's words for a job's state that are not ours."""


def write_picture(question: Question) -> Mapping[str, Any]:
    members = dict(question.members)
    size = read_size(question)
    members.pop("size", None)
    if size:
        members["width"], members["height"] = size
    if members.get("response_format") == "b64_json":
        members["response_format"] = "base64"
    return {**members, "model": question.target.model.id}


def read_picture(question: Question, answer: Any) -> Mapping[str, Any]:
    return show_pictures(
        present(url=row.get("url"), b64_json=row.get("b64_json")) for row in answer["data"]
    )


def picture_usage(question: Question, answer: Any) -> Usage:
    return count_made(question, len(answer["data"]))


def write_job(question: Question) -> Mapping[str, Any]:
    return {**question.members, "model": question.target.model.id}


def read_job(question: Question, answer: Any) -> Mapping[str, Any]:
    """The job in the words that every vendor's job has here."""
    outputs = answer.get("outputs") or {}
    video = present(url=outputs.get("video_url"), duration=answer.get("seconds"))
    state = answer["status"]
    return {
        "request_id": answer["id"],
        "status": STATES.get(state, state),
        **present(
            model=answer.get("model"),
            video=video if "url" in video else None,
            error=answer.get("error"),
            usage=present(cost=outputs.get("cost")) or None,
        ),
    }


SERVICES = (
    Service(
        Kind.IMAGE,
        JsonService(
            path="/images/generations",
            write=write_picture,
            read=read_picture,
            usage=picture_usage,
        ),
    ),
    Service(
        Kind.VIDEO,
        JsonService(
            path="/videos",
            base_url=JOBS,
            write=write_job,
            read=read_job,
            usage=lambda question, answer: Usage(units={"videos": 1.0}),
        ),
        "generations",
    ),
    Service(
        Kind.VIDEO,
        JsonService(
            path=lambda question: f"/videos/{quote(question.call.path['request_id'], safe='')}",
            base_url=JOBS,
            method="GET",
            write=lambda question: {},
            read=read_job,
            # What a job used was counted when it was submitted.
            usage=lambda question, answer: Usage(),
        ),
        "status",
    ),
)
