"""AssemblyAI: transcription as a job that is uploaded, submitted and polled.

API reference: https://www.assemblyai.com/docs/api-reference/transcripts/submit
Prices: https://www.assemblyai.com/pricing
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import (
    Auth,
    Kind,
    Model,
    Price,
    ProviderSpec,
    Service,
    UpstreamError,
    Usage,
    hookimpl,
)
from gateway_providers.services import (
    Again,
    Content,
    JsonService,
    Question,
    count_seconds,
    read_recording,
)

DEADLINE = 120.0
"""Seconds until a job is given up."""


def listeners(dollars: float, *ids: str) -> Iterator[Model]:
    """Models at a price for an hour."""
    for id in ids:
        yield Model(id, kind=Kind.TRANSCRIPTION, price=Price(units={"seconds": dollars / 3600}))


def write(question: Question) -> Content:
    part = read_recording(question, "language", "prompt")
    return Content(part.content, "application/octet-stream")


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if "upload_url" in answer:
        job = submission(question, answer["upload_url"])
        return Again(path="/transcript", members=job, is_job=False)
    match answer["status"]:
        case "completed":
            return {"text": answer["text"] or ""}
        case "queued" | "processing":
            return Again(path=f"/transcript/{quote(answer['id'], safe='')}")
    raise UpstreamError(str(answer.get("error") or "The transcription failed"), status=502)


def submission(question: Question, url: str) -> Mapping[str, Any]:
    members: dict[str, Any] = {"audio_url": url, "speech_models": [question.target.model.id]}
    language, prompt = (question.members.get(name) for name in ("language", "prompt"))
    members |= {"language_code": language} if language else {"language_detection": True}
    return {**members, "prompt": prompt} if prompt else members


def duration(question: Question, answer: Any) -> Usage | None:
    return count_seconds(answer.get("audio_duration"))


TRANSCRIPTION = JsonService(
    path="/upload", write=write, read=read, usage=duration, deadline=DEADLINE
)
ASSEMBLYAI = ProviderSpec(
    id="assemblyai",
    name="AssemblyAI",
    keys_url="https://www.assemblyai.com/dashboard/api-keys",
    alias="aai",
    base_url="https://api.assemblyai.com/v2",
    auth=Auth(header="authorization", scheme="raw"),
    environment=("ASSEMBLYAI_API_KEY",),
    models=(*listeners(0.21, "universal-3-pro"), *listeners(0.15, "universal-2")),
    services=(Service(Kind.TRANSCRIPTION, TRANSCRIPTION),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ASSEMBLYAI]
