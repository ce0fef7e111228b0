"""Alder: vectors, rankings, speech, pictures and pages, each in words of the vendor's own.

API reference: https://docs.alder.example/v2

A picture is a job: it is submitted, looked at until it is done, and its address is public.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import (
    Auth,
    BadRequest,
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
    BytesService,
    Cancel,
    JsonService,
    Question,
    count_characters,
    count_made,
    lose_pictures_but,
    present,
    read_count,
    read_size,
    read_speech,
    show_address,
    texts_of,
)

GATEWAY_PROTOCOL = 1
AUDIO = {"mp3": "mp3-44", "wav": "wav-24"}
STYLES = ("photo", "sketch")


def model_of(question: Question) -> str:
    return question.target.model.id


def write_texts(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "dimensions", "user")
    texts = texts_of(question)
    return present(
        engine=model_of(question),
        texts=texts,
        width=question.members.get("dimensions"),
        caller=question.members.get("user"),
    )


def read_vectors(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = sorted(answer["rows"], key=lambda row: row["position"])
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": number, "embedding": row["values"]}
            for number, row in enumerate(rows)
        ],
        "model": model_of(question),
        "usage": {
            "prompt_tokens": answer["spent"]["tokens"],
            "total_tokens": answer["spent"]["tokens"],
        },
    }


def count_tokens(question: Question, answer: Any) -> Usage | None:
    spent = answer.get("spent") or {}
    return Usage(input_tokens=spent["tokens"]) if "tokens" in spent else None


def write_ranking(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("query", "documents", "top_n", "return_documents")
    members = question.members
    return present(
        engine=model_of(question),
        question=members["query"],
        candidates=[
            each["text"] if isinstance(each, Mapping) else each for each in members["documents"]
        ],
        best=members.get("top_n"),
    )


def read_ranking(question: Question, answer: Any) -> Mapping[str, Any]:
    documents = question.members["documents"]
    wants_text = question.members.get("return_documents") is True
    results = []
    for row in sorted(answer["ranks"], key=lambda row: -row["score"]):
        result = {"index": row["position"], "relevance_score": row["score"]}
        if wants_text:
            document = documents[row["position"]]
            result["document"] = document if isinstance(document, Mapping) else {"text": document}
        results.append(result)
    return {"id": answer["id"], "model": model_of(question), "results": results}


def count_searches(question: Question, answer: Any) -> Usage | None:
    return Usage(units={"queries": float(answer["spent"]["searches"])})


def write_speech(question: Question) -> Mapping[str, Any]:
    speech = read_speech(question, voice="rill", formats=AUDIO, carries=("speed",))
    return present(
        engine=speech.model,
        say=speech.text,
        speaker=speech.voice,
        audio=AUDIO[speech.format],
        tempo=speech.speed,
    )


def write_picture(question: Question) -> Mapping[str, Any]:
    members = question.members
    lose_pictures_but(question, "style")
    style = members.get("style")
    if style is not None and style not in STYLES:
        raise BadRequest("style must be photo or sketch", param="style")
    size = read_size(question)
    return present(
        engine=model_of(question),
        scene=members["prompt"],
        pictures=read_count(question),
        style=style,
        width=size.width if size else None,
        height=size.height if size else None,
    )


def read_picture(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    state = answer["state"]
    if state in ("queued", "painting"):
        job = answer["job"]
        job = quote(job, safe="")
        return Again(path=f"/jobs/{job}", cancel=Cancel(path=f"/jobs/{job}"))
    if state == "done":
        return show_address(question, answer["picture"]["address"])
    raise UpstreamError(f"The upstream made no picture: {answer.get('reason') or state}")


def write_page(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("url")
    return {"address": question.members["url"], "as": "markdown"}


def read_page(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": answer["page"]["markdown"], "title": answer["page"].get("title")}


ALDER = ProviderSpec(
    id="alder",
    name="Alder",
    base_url="https://api.alder.example/v2",
    hosts=("pictures.alder.example",),
    auth=Auth(header="x-alder-key", scheme="raw"),
    environment=("ALDER_API_KEY",),
    keys_url="https://alder.example/account",
    models=(
        Model("alder-vectors", kind=Kind.EMBEDDING, context=8_192, price=Price(input=0.05)),
        Model("alder-rank", kind=Kind.RERANK, price=Price(units={"queries": 0.001})),
        Model("alder-voice", kind=Kind.SPEECH, price=Price(units={"characters": 0.00002})),
        Model("alder-brush", kind=Kind.IMAGE, price=Price(units={"images": 0.04})),
        Model("alder-reader", kind=Kind.FETCH),
    ),
    services=(
        Service(
            Kind.EMBEDDING,
            JsonService(
                path="/vectors",
                write=write_texts,
                read=read_vectors,
                usage=count_tokens,
                batch_limit=64,
            ),
        ),
        Service(
            Kind.RERANK,
            JsonService(
                path="/ranks", write=write_ranking, read=read_ranking, usage=count_searches
            ),
        ),
        Service(
            Kind.SPEECH,
            BytesService(
                path="/speak",
                write=write_speech,
                usage=count_characters,
                headers={"accept": "audio/mpeg"},
            ),
        ),
        Service(
            Kind.IMAGE,
            JsonService(
                path="/pictures",
                write=write_picture,
                read=read_picture,
                usage=lambda question, answer: count_made(question),
                interval=0.5,
                deadline=120.0,
            ),
            timeout=150.0,
        ),
        Service(Kind.FETCH, JsonService(path="/pages", write=write_page, read=read_page)),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ALDER]
