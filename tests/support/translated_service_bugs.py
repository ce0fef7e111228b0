"""A vendor whose services all have words of their own, as text, and variants with one bug each."""

import json
from pathlib import Path

SOUND = '''"""Atelier: a vendor with words of its own, that exists only in tests.

API reference: https://docs.atelier.example/api
"""

from urllib.parse import quote

from gateway_core import (
    AccountField, Auth, BadRequest, Kind, Model, Price, ProviderSpec, Service, UpstreamError,
    Usage, hookimpl,
)
from gateway_providers.services import (
    Again, BytesService, Cancel, Form, JsonService, count_characters, count_made, dimensions_of,
    field, lose_address, lose_pictures_but, page_format, present, read_count, read_recording,
    read_search, read_size, read_speech, rows_of, show_bytes, texts_of, words_of, write_vectors,
)

BASE = "https://api.atelier.example/v1"


def write_embedding(question):
    question.lose_all_but("input", "dimensions", "encoding_format")
    return present(
        texts=texts_of(question),
        engine=question.target.model.id,
        length=dimensions_of(question),
    )


def read_embedding(question, answer):
    rows = sorted(answer["vectors"], key=lambda row: row["index"])
    return write_vectors(question, [row["values"] for row in rows], answer["tokens"])


def embedding_usage(question, answer):
    return Usage(input_tokens=answer["tokens"])


def write_rerank(question):
    question.lose_all_but("query", "documents", "top_n")
    return present(
        about=question.members["query"],
        texts=question.members["documents"],
        engine=question.target.model.id,
    )


def read_rerank(question, answer):
    pairs = sorted(enumerate(answer["scores"]), key=lambda pair: -pair[1])
    most = question.members.get("top_n") or len(pairs)
    rows = [{"index": place, "relevance_score": score} for place, score in pairs]
    return {"results": rows[:most]}


def rerank_usage(question, answer):
    return Usage(units={"documents": float(len(question.members["documents"]))})


def write_moderation(question):
    question.lose_all_but("input")
    wanted = question.members["input"]
    return {
        "texts": wanted if isinstance(wanted, list) else [wanted],
        "engine": question.target.model.id,
    }


def read_moderation(question, answer):
    return {"id": "m-1", "model": question.target.model.id, "results": answer["results"]}


def write_image(question):
    lose_pictures_but(question, "seed", "negative_prompt")
    lose_address(question)
    size = read_size(question)
    return present(
        engine=question.target.model.id,
        text=question.members["prompt"],
        count=read_count(question, 4),
        width=size and size.width,
        height=size and size.height,
        seed=question.members.get("seed"),
        without=question.members.get("negative_prompt"),
    )


def read_image(question, answer):
    return show_bytes(*[picture["data"] for picture in answer["pictures"]])


def image_usage(question, answer):
    return count_made(question, len(answer["pictures"]))


def write_speech(question):
    speech = read_speech(
        question, voice="ada", formats=("mp3", "wav"), carries=("speed", "language")
    )
    return present(
        text=speech.text,
        engine=speech.model,
        speaker=speech.voice,
        tempo=speech.speed,
        tongue=speech.language,
        container=speech.format,
    )


def write_recording(question):
    part = read_recording(question, "language", "prompt")
    more = [
        field(theirs, str(question.members[ours]))
        for ours, theirs in (("language", "tongue"), ("prompt", "hint"))
        if ours in question.members
    ]
    return Form([field("engine", question.target.model.id), *more, part])


def read_transcript(question, answer):
    return {"text": answer["transcript"]}


def recording_usage(question, answer):
    return Usage(units={"seconds": float(answer["duration"])})


def write_search(question):
    search = read_search(
        question, usual=5, most=50, carries=("country", "language", "offset", "domain_filter")
    )
    return present(
        q=search.with_sites,
        count=search.limit,
        region=search.country,
        lang=search.language,
        skip=search.offset,
        topic="news" if search.is_news else "web",
    )


def read_hits(question, answer):
    rows = rows_of(
        answer["hits"], title="title", url="link", snippet="description", score="score",
        published_at="date",
    )
    return {"results": rows}


def write_fetch(question):
    wanted = page_format(question, "markdown", "html")
    return {"address": question.members["url"], "as": wanted}


def read_page(question, answer):
    page = answer["page"]
    return {"text": page["text"], "title": page["title"], "language": page["language"]}


def page_usage(question, answer):
    return Usage(units={"pages": 1.0})


def write_music(question):
    question.lose_all_but("prompt", "lyrics")
    return present(
        text=question.members["prompt"],
        words=question.members.get("lyrics"),
        engine=question.target.model.id,
    )


def read_music(question, answer):
    return {"object": "music.generation", "data": [{"audio_url": answer["song"]}]}


def write_job(question):
    question.lose_all_but("prompt")
    return {"text": question.members["prompt"], "engine": question.target.model.id}


def read_job(question, answer):
    if answer["state"] == "finished":
        return {"id": answer["id"], "status": "done", "video": {"url": answer["url"]}}
    if answer["state"] == "failed":
        raise UpstreamError(answer.get("reason") or "The job failed")
    if answer["state"] not in ("queued", "running"):
        raise UpstreamError(f"The job is {answer['state']}")
    id = quote(answer["id"], safe="")
    return Again(path=f"/jobs/{id}", cancel=Cancel(path=f"/jobs/{id}"))


def job_usage(question, answer):
    return Usage(units={"videos": 1.0})


def own_headers(question):
    return {"x-team": str(question.credential.data.get("team"))}


JOB = {}


def model(id, kind, unit=None):
    return Model(id, kind=kind, price=Price(units={unit: 0.01}) if unit else None)


SERVICES = (
    Service(
        Kind.EMBEDDING,
        JsonService(path="/embed", write=write_embedding, read=read_embedding,
                    usage=embedding_usage, batch_limit=96),
    ),
    Service(
        Kind.RERANK,
        JsonService(path="/rank", write=write_rerank, read=read_rerank, usage=rerank_usage),
    ),
    Service(
        Kind.MODERATION,
        JsonService(path="/judge", write=write_moderation, read=read_moderation),
    ),
    Service(
        Kind.IMAGE,
        JsonService(path="/paint", write=write_image, read=read_image, usage=image_usage,
                    headers=own_headers),
    ),
    Service(
        Kind.SPEECH,
        BytesService(path="/speak", write=write_speech, usage=count_characters),
    ),
    Service(
        Kind.TRANSCRIPTION,
        JsonService(path="/hear", write=write_recording, read=read_transcript,
                    usage=recording_usage),
    ),
    Service(
        Kind.SEARCH, JsonService(path="/find", write=write_search, read=read_hits, method="GET")
    ),
    Service(
        Kind.FETCH,
        JsonService(path="/page", write=write_fetch, read=read_page, usage=page_usage),
    ),
    Service(Kind.MUSIC, JsonService(path="/sing", write=write_music, read=read_music)),
    Service(
        Kind.VIDEO,
        JsonService(path="/jobs", write=write_job, read=read_job, usage=job_usage, interval=1.0,
                    deadline=60.0),
    ),
)


ATELIER = ProviderSpec(
    id="atelier-NAME",
    name="Atelier",
    base_url=BASE,
    auth=Auth(scheme="bearer"),
    environment=("ATELIER_VARIABLE_KEY",),
    account_fields=(AccountField(name="team", title="Team", about="Who pays for pictures."),),
    headers={"x-edition": "2026-01"},
    models=(
        model("embed-1", Kind.EMBEDDING),
        model("rank-1", Kind.RERANK, "documents"),
        model("judge-1", Kind.MODERATION),
        model("paint-1", Kind.IMAGE, "images"),
        model("speak-1", Kind.SPEECH, "characters"),
        model("hear-1", Kind.TRANSCRIPTION, "seconds"),
        model("search", Kind.SEARCH, "queries"),
        model("fetch", Kind.FETCH, "pages"),
        model("sing-1", Kind.MUSIC),
        model("film-1", Kind.VIDEO, "videos"),
    ),
    services=SERVICES,
)


@hookimpl
def register_providers():
    return [ATELIER]


CONFORMANCE = {
    "accounts": {
        "atelier-NAME": {"secret": "sk-atelier-0123456789", "data": {"team": "blue"}},
    }
}
'''

_HIT = {
    "title": "Köln",
    "link": "https://example.com/1",
    "description": "A city",
    "score": 0.5,
    "date": "2026-01-02",
}
_VERDICT = {"flagged": True, "categories": {"violence": True}, "category_scores": {"violence": 0.5}}
FILM = "https://films.atelier.example/1.mp4"
SAMPLES = {
    "embedding": {
        "reply": {"vectors": [{"index": 0, "values": [0.25, -0.5]}], "tokens": 12},
        "usage": {"input_tokens": 12},
    },
    "rerank": {"reply": {"scores": [0.125, 0.875]}},
    "moderation": {"reply": {"results": [_VERDICT]}},
    "image": {"reply": {"pictures": [{"data": "aGVsbG8="}]}, "usage": None},
    "tts": {"reply": "//NExAABaGVsbG8A/w==", "reply_type": "audio/mpeg"},
    "stt": {"reply": {"transcript": "Grüße, 世界", "duration": 3.5}},
    "search": {"reply": {"hits": [_HIT]}, "shown": ["https://example.com/1"]},
    "fetch": {
        "reply": {"page": {"text": "Grüße", "title": "Köln", "language": "de"}},
        "shown": ["Grüße"],
    },
    "music": {"reply": {"song": "https://songs.atelier.example/1.mp3"}, "shown": ["1.mp3"]},
    "video": {
        "request": {"prompt": "A hello"},
        "before": [{"id": "1f", "state": "queued"}, {"id": "1f", "state": "running"}],
        "reply": {"id": "1f", "state": "finished", "url": FILM},
        "usage": None,
        "shown": [FILM],
    },
}

SORTED = 'sorted(enumerate(answer["scores"]), key=lambda pair: -pair[1])'
CANCEL = ', cancel=Cancel(path=f"/jobs/{id}")'
STATES = """    if answer["state"] not in ("queued", "running"):
        raise UpstreamError(f"The job is {answer['state']}")
"""
FAILED = """    if answer["state"] == "failed":
        raise UpstreamError(answer.get("reason") or "The job failed")
"""
ELSE_DONE = """    if answer["state"] not in ("queued", "running"):
        return {"status": "done"}
"""
BUGS: dict[str, tuple[str, str]] = {
    "dimensions_lost": ("        length=dimensions_of(question),\n", ""),
    "dimensions_fixed": ("length=dimensions_of(question)", "length=256"),
    "tokens_not_counted": ('Usage(input_tokens=answer["tokens"])', "None"),
    "tokens_in_units": ('Usage(input_tokens=answer["tokens"])', 'Usage(units={"tokens": 12.0})'),
    "first_text_only": ("texts=texts_of(question)", "texts=texts_of(question)[:1]"),
    "texts_sorted": ("texts=texts_of(question)", "texts=sorted(texts_of(question), reverse=True)"),
    "texts_cut": ("texts=texts_of(question)", "texts=[text[:500] for text in texts_of(question)]"),
    "vectors_in_vendors_order": (
        'sorted(answer["vectors"], key=lambda row: row["index"])',
        'answer["vectors"]',
    ),
    "first_vector_only": (
        'rows = sorted(answer["vectors"], key=lambda row: row["index"])',
        'rows = answer["vectors"][:1]',
    ),
    "vectors_rounded": ('row["values"] for', '[round(n) for n in row["values"]] for'),
    "base64_forgotten": (
        'return write_vectors(question, [row["values"] for row in rows], answer["tokens"])',
        'return {"object": "list", "model": "m", "data": [{"object": "embedding", "index": i, '
        '"embedding": row["values"]} for i, row in enumerate(rows)]}',
    ),
    "losses_of_vectors": (
        'question.lose_all_but("input", "dimensions", "encoding_format")\n',
        "pass\n",
    ),
    "ranks_unsorted": (SORTED, 'list(enumerate(answer["scores"]))'),
    "ranks_from_one": (SORTED, SORTED.replace('answer["scores"]', 'answer["scores"], 1')),
    "ranks_for_places": ('"index": place', '"index": pairs.index((place, score))'),
    "worst_first": (SORTED, SORTED.replace("-pair", "pair")),
    "top_n_ignored": ("rows[:most]", "rows"),
    "documents_lost": (
        'texts=question.members["documents"]',
        'texts=question.members["documents"][:2]',
    ),
    "query_lost": ('about=question.members["query"],', 'about="query",'),
    "documents_not_counted": ('{"documents": float', '{"searches": float'),
    "one_document_counted": ('float(len(question.members["documents"]))', "1.0"),
    "one_text_judged": (
        "wanted if isinstance(wanted, list) else [wanted]",
        "[wanted[0] if isinstance(wanted, list) else wanted]",
    ),
    "one_verdict": ('"results": answer["results"]}', '"results": answer["results"][:1]}'),
    "verdicts_reversed": (
        '"results": answer["results"]}',
        '"results": answer["results"][::-1] or []}',
    ),
    "sides_swapped": ("width=size and size.width", "width=size and size.height"),
    "square_only": ("height=size and size.height", "height=size and size.width"),
    "count_lost": ("        count=read_count(question, 4),\n", ""),
    "count_of_one": ("count=read_count(question, 4)", "count=read_count(question, 4) and 1"),
    "seed_lost": ('seed=question.members.get("seed")', "seed=None"),
    "seed_as_one": (
        'seed=question.members.get("seed")',
        'seed=int(bool(question.members.get("seed")))',
    ),
    "without_lost": ('without=question.members.get("negative_prompt")', "without=None"),
    "address_not_named": ("    lose_address(question)\n", ""),
    "one_picture": (
        'for picture in answer["pictures"]])',
        'for picture in answer["pictures"][:1]])',
    ),
    "same_picture": ('[picture["data"] for', '[answer["pictures"][0]["data"] for'),
    "one_picture_counted": (
        'count_made(question, len(answer["pictures"]))',
        "count_made(question)",
    ),
    "pictures_not_counted": ('count_made(question, len(answer["pictures"]))', "None"),
    "pictures_by_another_word": (
        'count_made(question, len(answer["pictures"]))',
        'Usage(units={"pictures": float(len(answer["pictures"]))})',
    ),
    "team_lost": ('str(question.credential.data.get("team"))', '"blue"'),
    "voice_lost": ("speaker=speech.voice", 'speaker="ada"'),
    "tempo_lost": ("tempo=speech.speed,", "tempo=None,"),
    "tongue_lost": ("tongue=speech.language,", "tongue=None,"),
    "container_fixed": ("container=speech.format", 'container="mp3"'),
    "speech_cut": ("text=speech.text", "text=speech.text[:1000]"),
    "characters_not_counted": ("usage=count_characters", "usage=lambda question, answer: None"),
    "bytes_counted": (
        "usage=count_characters",
        'usage=lambda question, answer: Usage(units={"characters": '
        'float(len(question.members["input"].encode()))})',
    ),
    "wrong_sound_type": (
        "write=write_speech, usage",
        'write=write_speech, media_type="audio/wav", usage',
    ),
    "recording_renamed": (
        "*more, part]",
        '*more, __import__("msgspec").structs.replace(part, filename="upload", name="file")]',
    ),
    "recording_cut": (
        "*more, part]",
        '*more, __import__("msgspec").structs.replace(part, content=bytes(part.content)[:64])]',
    ),
    "recording_as_text": (
        "*more, part]",
        '*more, field("file", (part.content if isinstance(part.content, bytes) else b"")'
        '.decode("utf-8", "replace"))]',
    ),
    "hint_lost": (', ("prompt", "hint"))', ",)"),
    "language_of_recording_lost": ('(("language", "tongue"), ', "("),
    "minutes_counted": (
        '{"seconds": float(answer["duration"])}',
        '{"seconds": answer["duration"] / 60}',
    ),
    "seconds_not_counted": ('{"seconds": float(answer["duration"])}', '{"minutes": 1.0}'),
    "region_lost": ("        region=search.country,\n", ""),
    "news_lost": ('topic="news" if search.is_news else "web"', 'topic="web"'),
    "sites_lost": ("q=search.with_sites", "q=search.query"),
    "skip_lost": ("        skip=search.offset,\n", ""),
    "limit_fixed": ("count=search.limit", "count=5"),
    "span_not_named": ('carries=("country"', 'carries=("time_range", "country"'),
    "query_unquoted": (
        'JsonService(path="/find", write=write_search, read=read_hits, method="GET")',
        'JsonService(path=lambda q: "/find?q=" + q.members["query"], write=lambda q: {}, '
        'read=read_hits, method="GET")',
    ),
    "one_hit": ('answer["hits"], title', 'answer["hits"][:1], title'),
    "hits_reversed": ('answer["hits"], title', 'answer["hits"][::-1], title'),
    "description_lost": (' snippet="description",', ""),
    "score_lost": (' score="score",', ""),
    "date_lost": ('        published_at="date",\n', ""),
    "as_lost": ('"as": wanted', '"as": "markdown"'),
    "title_of_page_lost": ('"title": page["title"], ', ""),
    "tongue_of_page_lost": (', "language": page["language"]}', "}"),
    "pages_not_counted": ('Usage(units={"pages": 1.0})', 'Usage(units={"queries": 1.0})'),
    "losses_of_page": (
        'page_format(question, "markdown", "html")',
        'question.members.get("format") or "markdown"',
    ),
    "lyrics_lost": ('words=question.members.get("lyrics")', "words=None"),
    "losses_of_music": ('question.lose_all_but("prompt", "lyrics")', "pass"),
    "prompt_logged": (
        '    question.lose_all_but("prompt", "lyrics")\n',
        '    question.lose_all_but("prompt", "lyrics")\n'
        '    __import__("logging").getLogger("atelier").info(question.members["prompt"])\n',
    ),
    "key_printed": ("    id = quote(", "    print(question.credential.secret)\n    id = quote("),
    "job_unquoted": ('quote(answer["id"], safe="")', 'answer["id"]'),
    "job_fixed": ('quote(answer["id"], safe="")', '"1f"'),
    "job_remembered": ('quote(answer["id"], safe="")', 'JOB.setdefault("id", answer["id"])'),
    "submitted_again": (
        'Again(path=f"/jobs/{id}"',
        'Again(path="/jobs", members=write_job(question)',
    ),
    "no_pause": ("interval=1.0", "interval=0.0"),
    "gives_up": ('("queued", "running")', '("queued",)'),
    "failure_unseen": (FAILED + STATES, ""),
    "reason_lost": ('answer.get("reason") or "The job failed"', '"The job failed"'),
    "failed_is_done": (
        'if answer["state"] == "finished"',
        'if answer["state"] not in ("queued", "running")',
    ),
    "unknown_is_done": (
        FAILED + STATES,
        FAILED + ELSE_DONE,
    ),
    "stops_another": (CANCEL, ', cancel=Cancel(path="/jobs/last")'),
    "stops_elsewhere": (CANCEL, ', cancel=Cancel(path=f"https://x.example/jobs/{id}")'),
    "stops_by_looking": (CANCEL, ', cancel=Cancel(path=f"/jobs/{id}", method="GET")'),
    "films_not_counted": ('Usage(units={"videos": 1.0})', "None"),
    "result_asked_again": (
        '        return {"id": answer["id"], "status"',
        '        if "seen" not in question.losses.names:\n'
        '            question.losses.add("seen")\n'
        "            return Again(path=f\"/jobs/{answer['id']}\")\n"
        '        return {"id": answer["id"], "status"',
    ),
}
"""Each bug as a replacement in the correct plugin."""


def module_of(name: str) -> str:
    return f"gateway_provider_atelier_{name}"


def write(folder: Path) -> None:
    """Write every plugin as a package of its own, with its samples."""
    for name, (old, new) in {"sound": ("", ""), **BUGS}.items():
        assert old in SOUND, (name, old)
        text = SOUND.replace(old, new, 1) if old else SOUND
        text = text.replace("atelier-NAME", f"atelier-{name.replace('_', '-')}")
        package = folder / module_of(name)
        package.mkdir()
        (package / "__init__.py").write_text(text.replace("VARIABLE", name.upper()))
        (package / "service_samples.json").write_text(json.dumps(SAMPLES))
