"""NanoBanana API: Google's picture models, resold as jobs.

API reference: https://docs.nanobananaapi.ai
Submission: https://docs.nanobananaapi.ai/nanobanana-api/generate-or-edit-image
Pro model: https://docs.nanobananaapi.ai/nanobanana-api/generate-image-pro
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    Again,
    JsonService,
    Question,
    count_made,
    lose_pictures_but,
    nearest,
    present,
    read_count,
    read_size,
    show_address,
    show_bytes,
)

RATIOS = ("1:1", "9:16", "16:9", "3:4", "4:3", "3:2", "2:3", "5:4", "4:5", "21:9")
PRO = "nanobanana-pro"
NOBODY = "https://callback.invalid/"
"""The vendor insists on an address to report to; under this name there is none (RFC 6761, section
6.4). The job is polled."""


def path(question: Question) -> str:
    return "/generate-pro" if question.target.model.id == PRO else "/generate"


def write(question: Question) -> Mapping[str, Any]:
    members = question.members
    is_pro = question.target.model.id == PRO
    lose_pictures_but(question, "imageUrls", "resolution" if is_pro else "watermark")
    size = read_size(question)
    ratio = size and nearest(size, RATIOS)
    shared = present(
        prompt=members["prompt"], imageUrls=members.get("imageUrls"), callBackUrl=NOBODY
    )
    read_count(question)
    if is_pro:
        return {**shared, **present(resolution=members.get("resolution"), aspectRatio=ratio)}
    return {
        **shared,
        # The vendor spells it like this.
        "type": "IMAGETOIAMGE" if members.get("imageUrls") else "TEXTTOIAMGE",
        **present(numImages=1, image_size=ratio, watermark=members.get("watermark")),
    }


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if isinstance(answer, bytes):
        return show_bytes(answer)
    if answer["code"] != 200:  # It refuses with 200, and says otherwise in the body.
        raise UpstreamError(answer.get("msg") or "The upstream refused", status=answer["code"])
    job = answer["data"]
    match job.get("successFlag"):
        case None:  # The answer to the submission.
            return Again(path=f"/record-info?taskId={quote(job['taskId'], safe='')}")
        case 0:
            return Again()
        case 1:
            return show_address(question, job["response"]["resultImageUrl"])
    words = job.get("errorMessage") or "the job failed"
    raise UpstreamError(f"The upstream made no picture: {words}")


NANOBANANA = ProviderSpec(
    id="nanobanana",
    name="NanoBanana API",
    keys_url="https://nanobananaapi.ai/api-key",
    aliases=("nb",),
    base_url="https://api.nanobananaapi.ai/api/v1/nanobanana",
    auth=Auth(scheme="bearer"),
    environment=("NANOBANANA_API_KEY",),
    models=(Model("nanobanana-flash", kind=Kind.IMAGE), Model(PRO, kind=Kind.IMAGE)),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path=path,
                write=write,
                read=read,
                usage=lambda question, answer: count_made(question),
                interval=3.0,
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NANOBANANA]
