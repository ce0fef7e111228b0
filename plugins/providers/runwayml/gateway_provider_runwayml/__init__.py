"""Runway: pictures as jobs.

API reference: https://docs.dev.runwayml.com/api/
Prices: https://docs.dev.runwayml.com/guides/pricing/ (a credit is one cent)
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    Again,
    Cancel,
    JsonService,
    Question,
    Size,
    count_made,
    lose_pictures_but,
    nearest,
    present,
    read_count,
    read_size,
    show_address,
    show_bytes,
)

VERSION = "2024-11-06"
SQUARE = Size(1024, 1024)
SIZES = {
    "gen4_image": (
        *("1920:1080", "1080:1920", "1024:1024", "1360:768", "1080:1080", "1168:880"),
        *("1440:1080", "1080:1440", "1808:768", "2112:912", "1280:720", "720:1280"),
        *("720:720", "960:720", "720:960", "1680:720"),
    )
}
SIZES["gen4_image_turbo"] = SIZES["gen4_image"]
OWN = ("seed", "referenceImages", "contentModeration")


def write(question: Question) -> Mapping[str, Any]:
    members, id = question.members, question.target.model.id
    lose_pictures_but(question, "ratio", *OWN)
    read_count(question)
    size = read_size(question) or SQUARE
    ratio = nearest(size, SIZES[id]) if id in SIZES else f"{size.width}:{size.height}"
    return present(
        model=id,
        promptText=members["prompt"],
        ratio=members.get("ratio") or ratio,
        **{name: members[name] for name in OWN if name in members},
    )


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if isinstance(answer, bytes):
        return show_bytes(answer)
    match answer.get("status"):
        case None:  # The answer to the submission.
            task = f"/tasks/{quote(answer['id'], safe='')}"
            return Again(path=task, cancel=Cancel(path=task))
        case "SUCCEEDED":
            return show_address(question, answer["output"][0])
        case "FAILED" | "CANCELLED" as status:
            words = answer.get("failure") or answer.get("failureCode") or status
            raise UpstreamError(f"The upstream made no picture: {words}")
    return Again()


def painter(id: str, price: float | None = None) -> Model:
    return Model(
        id, kind=Kind.IMAGE, price=None if price is None else Price(units={"images": price})
    )


RUNWAY = ProviderSpec(
    id="runwayml",
    name="Runway",
    keys_url="https://dev.runwayml.com",
    aliases=("runway",),
    base_url="https://api.dev.runwayml.com/v1",
    auth=Auth(scheme="bearer"),
    headers={"x-runway-version": VERSION},
    environment=("RUNWAYML_API_SECRET",),
    passthrough_models=True,
    models=(
        painter("gen4_image", 0.08),
        painter("gen4_image_turbo", 0.02),
        painter("gemini_2.5_flash", 0.05),
    ),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path="/text_to_image",
                write=write,
                read=read,
                usage=lambda question, answer: count_made(question),
                # https://docs.dev.runwayml.com/guides/using-the-api/: no more often than that.
                interval=5.0,
            ),
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [RUNWAY]
