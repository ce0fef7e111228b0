"""Jobs that make a video.

API reference: https://docs.orcarouter.ai/api-reference/video/submit-a-video-task
The documentation names the members of a submission; the states of a job and where its video is
are those that public clients of this vendor read.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import UpstreamError, Usage
from gateway_providers.services import JsonService, Question, present

STATES = {
    **dict.fromkeys(("NOT_START", "SUBMITTED", "QUEUED"), "pending"),
    "IN_PROGRESS": "processing",
    "SUCCESS": "done",
    "FAILURE": "failed",
}


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    question.lose_all_but("prompt", "image", "duration", "size", "metadata", "aspect_ratio")
    metadata = dict(members.get("metadata") or {})
    if "aspect_ratio" in members:
        metadata.setdefault("aspect_ratio", members["aspect_ratio"])
    image = members.get("image")
    return present(
        model=question.target.model.id,
        prompt=members.get("prompt"),
        image=image.get("url") if isinstance(image, Mapping) else image,
        duration=members.get("duration"),
        size=members.get("size"),
        metadata=metadata or None,
    )


def read_submission(question: Question, answer: Any) -> Mapping[str, Any]:
    job = job_of(answer)
    return {"request_id": job.get("task_id") or job["id"], "status": state_of(job)}


def read_status(question: Question, answer: Any) -> Mapping[str, Any]:
    job = job_of(answer)
    state, url = state_of(job), job.get("result_url")
    return present(
        request_id=question.call.path["request_id"],
        status=state,
        progress=job.get("progress"),
        video={"url": url} if url and state == "done" else None,
        error={"message": job["fail_reason"]} if job.get("fail_reason") else None,
    )


def job_of(answer: Any) -> Mapping[str, Any]:
    """The job in an answer, which may be wrapped. Raises UpstreamError."""
    job = answer.get("data") or answer
    if not isinstance(job, Mapping) or not (job.get("task_id") or job.get("id")):
        raise UpstreamError(answer.get("message") or "The upstream's answer cannot be read")
    return job


def state_of(job: Mapping[str, Any]) -> str:
    return STATES.get(str(job.get("status") or "").upper(), "pending")


SUBMISSION = JsonService(
    path="/video/generations",
    write=write,
    read=read_submission,
    usage=lambda question, answer: Usage(units={"videos": 1.0}),
)
STATUS = JsonService(
    path=lambda question: f"/video/generations/{quote(question.call.path['request_id'], safe='')}",
    method="GET",
    write=lambda question: {},
    read=read_status,
    # What a job used was counted when it was submitted.
    usage=lambda question, answer: Usage(),
)
