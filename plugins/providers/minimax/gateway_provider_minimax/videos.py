"""Videos: jobs of two APIs, of which the older one hands a finished video over as a file.

API reference: https://platform.minimax.io/docs/api-reference/video-generation-v2-create,
https://platform.minimax.io/docs/api-reference/video-generation-t2v and
https://platform.minimax.io/docs/api-reference/file-management-retrieve
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from gateway_core import BadRequest, Kind, Service, UpstreamError, Usage
from gateway_providers.services import Again, JsonService, Question, present

from .answers import checked

RESOLUTIONS = {"MiniMax-H3": ("768P", "2K"), "MiniMax-H3-Max": ("480P", "768P")}
"""What the models of the newer API make."""
SHORTEST = {"MiniMax-H3": 4, "MiniMax-H3-Max": 5}
LONGEST = 15
LONGEST_PROMPT = 7000
RATIOS = ("adaptive", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16")
OLDER = "hailuo-"
"""Marks the request ids of the older API, whose jobs are asked for elsewhere."""
STATES = {
    "queued": "pending",
    "running": "processing",
    "succeeded": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "expired": "failed",
    # Of the older API.
    "Preparing": "pending",
    "Queueing": "pending",
    "Processing": "processing",
    "Success": "done",
    "Fail": "failed",
}
NEWER_MEMBERS = ("prompt", "resolution", "duration", "ratio", "aspect_ratio", "callback_url")
OLDER_MEMBERS = (
    *("prompt", "resolution", "duration", "callback_url"),
    *("first_frame_image", "last_frame_image", "prompt_optimizer", "fast_pretreatment"),
)


def is_newer(question: Question) -> bool:
    return question.target.model.id in RESOLUTIONS


def create_path(question: Question) -> str:
    return f"/v{2 if is_newer(question) else 1}/video_generation"


def write_job(question: Question) -> Mapping[str, Any]:
    prompt = question.members.get("prompt")
    if not isinstance(prompt, str) or not prompt or len(prompt) > LONGEST_PROMPT:
        words = f"The prompt has to be a text of at most {LONGEST_PROMPT} characters"
        raise BadRequest(words, param="prompt")
    return write_newer(question, prompt) if is_newer(question) else write_older(question)


def write_newer(question: Question, prompt: str) -> Mapping[str, Any]:
    question.lose_all_but(*NEWER_MEMBERS)
    model, members = question.target.model.id, question.members
    ratio = members.get("ratio") or members.get("aspect_ratio")
    require(members.get("resolution"), RESOLUTIONS[model], "resolution")
    require(ratio, RATIOS, "ratio")
    duration = members.get("duration")
    if duration is not None and duration not in range(SHORTEST[model], LONGEST + 1):
        words = f"The duration has to be {SHORTEST[model]} to {LONGEST} seconds"
        raise BadRequest(words, param="duration")
    return {
        "model": model,
        "content": [{"type": "text", "text": prompt}],
        **present(
            resolution=members.get("resolution"),
            duration=duration,
            ratio=ratio,
            callback_url=members.get("callback_url"),
        ),
    }


def write_older(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*OLDER_MEMBERS)
    members = {n: question.members[n] for n in OLDER_MEMBERS if n in question.members}
    return {"model": question.target.model.id, **members}


def require(value: Any, possible: tuple[str, ...], name: str) -> None:
    """Raises BadRequest for a word that the model does not know."""
    if value is not None and value not in possible:
        raise BadRequest(f"The {name} has to be one of {', '.join(possible)}", param=name)


def read_created(question: Question, answer: Any) -> Mapping[str, Any]:
    id = checked(answer).get("task_id") or answer.get("id")
    if not id:
        raise UpstreamError("The upstream named no job")
    return {"request_id": id if is_newer(question) else f"{OLDER}{id}"}


def status_path(question: Question) -> str:
    id = question.call.path["request_id"]
    if id.startswith(OLDER):
        query = urlencode({"task_id": id.removeprefix(OLDER)})
        return f"/v1/query/video_generation?{query}"
    return f"/v2/query/video_generation/{quote(id, safe='')}"


def read_status(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    id = question.call.path["request_id"]
    checked(answer)
    if "file" in answer:
        # The second look of the older API: where the finished video is.
        return {
            "request_id": id,
            "status": "done",
            "video": {"url": answer["file"]["download_url"]},
        }
    state = STATES.get(answer["status"], answer["status"])
    if answer.get("file_id") and state == "done":
        path = f"/v1/files/retrieve?{urlencode({'file_id': answer['file_id']})}"
        return Again(path=path, is_job=False)
    return {
        "request_id": id,
        "status": state,
        **present(
            video=video_of(answer) or None, error=answer.get("error"), usage=answer.get("usage")
        ),
    }


def video_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The finished video of the newer API."""
    content = answer.get("content") or {}
    url = content.get("url") or content.get("video_url")
    if not url:
        return {}
    return present(
        url=url,
        duration=answer.get("duration"),
        resolution=answer.get("resolution"),
        aspect_ratio=answer.get("ratio"),
    )


def one_job(question: Question, answer: Any) -> Usage:
    return Usage(units={"videos": 1.0})


def videos(host: str) -> tuple[Service, ...]:
    """Only making a video is offered: the vendor neither edits nor extends one."""
    create = JsonService(
        path=create_path, base_url=host, write=write_job, read=read_created, usage=one_job
    )
    status = JsonService(
        path=status_path,
        base_url=host,
        method="GET",
        write=lambda question: {},
        read=read_status,
        # What a job used was counted when it was submitted.
        usage=lambda question, answer: Usage(),
    )
    return Service(Kind.VIDEO, create, "generations"), Service(Kind.VIDEO, status, "status")
