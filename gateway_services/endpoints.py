"""Every endpoint of work other than chat (4.4 to 4.7)."""

import struct

from msgspec import Raw

from gateway_core import Endpoint, FormPart, Kind, WireFormat

from .answers import of_pictures, of_speech
from .intake import (
    read_decision,
    read_edit,
    read_fetch,
    read_model,
    read_provider,
    read_search,
    read_speech,
    read_upload,
    requires,
)
from .nodes import OFFERS
from .settings import Settings
from .web import FetchAnswer, SearchAnswer

MIB = 1024 * 1024
UPLOAD = 200 * MIB
"""Largest form; its files are on disk."""
DECISION_ANSWER = 8 * MIB
SILENCE = b"RIFF%bWAVEfmt %bdata%b" % (
    (36 + 1600).to_bytes(4, "little"),
    # The size of this chunk, PCM, one channel, samples and bytes a second, block, bits.
    struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16),
    (1600).to_bytes(4, "little") + bytes(1600),
)
"""A tenth of a second at 8 kHz."""
NO_COMBOS = "Combos are not supported for video generation"
VIDEO_ACTIONS = ("generations", "edits", "extensions")
TOO_LATE = 408
"""The status of a video request whose time is up (4.4)."""
PAGE_TIME = 15.0
"""Seconds for a page."""

TEXT = (
    Endpoint(
        path="/v1/embeddings",
        kind=Kind.EMBEDDING,
        title="embeddings",
        read=requires("input"),
        sample={"input": "hi"},
        route="embedding",
        # Vectors of two models cannot be compared, so no other model stands in for one.
        fallback="accounts",
    ),
    Endpoint(
        path="/v1/rerank",
        kind=Kind.RERANK,
        title="rerank",
        read=requires("query", "documents"),
        sample={"query": "hi", "documents": ["hi", "bye"]},
        route="rerank",
    ),
    Endpoint(
        path="/v1/moderations",
        kind=Kind.MODERATION,
        title="moderations",
        read=requires("input"),
        sample={"input": "hi"},
        route="moderation",
    ),
    Endpoint(
        path="/v1/systemone",
        kind=Kind.DECISION,
        title="System One",
        read=read_decision,
        sample={"state": "hi", "questions": {"greeting": {"question": "Is this a greeting?"}}},
        answer_limit=DECISION_ANSWER,
        forbids_disabled=True,
    ),
    Endpoint(
        path="/v1/ocr",
        kind=Kind.DOCUMENT_PARSING,
        title="document parsing",
        read=requires("document"),
        route="document-parsing",
    ),
)
IMAGES = (
    Endpoint(
        path="/v1/images/generations",
        kind=Kind.IMAGE,
        title="image generation",
        read=requires("prompt", streams=True),
        sample={"prompt": "A red dot", "n": 1},
        query=("response_format",),
        route="image",
        answer=of_pictures,
    ),
    Endpoint(
        path="/v1/images/edits",
        kind=Kind.IMAGE,
        action="edit",
        title="image edits",
        read=read_edit,
        query=("response_format",),
        body="json or form",
        form_limit=UPLOAD,
        answer=of_pictures,
    ),
)
AUDIO = (
    Endpoint(
        path="/v1/audio/speech",
        kind=Kind.SPEECH,
        title="speech",
        read=read_speech,
        sample={"input": "hi", "voice": "alloy"},
        query=("response_format",),
        route="tts",
        answer=of_speech,
    ),
    Endpoint(
        path="/v1/audio/voices",
        method="GET",
        kind=Kind.SPEECH,
        action="voices",
        title="list of voices",
        read=read_provider,
        query=("provider", "lang"),
        body="none",
        chosen_by="provider",
    ),
    Endpoint(
        path="/v1/audio/transcriptions",
        kind=Kind.TRANSCRIPTION,
        title="transcription",
        read=read_upload,
        sample=(FormPart(name="file", content=SILENCE, filename="hi.wav", media_type="audio/wav"),),
        body="form",
        form_limit=UPLOAD,
        route="stt",
        files=("file",),
    ),
    Endpoint(
        path="/v1/audio/translations",
        kind=Kind.TRANSCRIPTION,
        action="translation",
        title="audio translations",
        read=read_upload,
        body="form",
        form_limit=UPLOAD,
        route="stt",
        files=("file",),
    ),
    *(
        Endpoint(path=path, kind=Kind.MUSIC, title="music", read=requires("prompt"), route="music")
        for path in ("/v1/music/generations", "/v1/audio/music")
    ),
)


def video(settings: Settings) -> tuple[Endpoint, ...]:
    """Videos: at once, and as jobs, whose requests have a time of their own."""
    return (
        Endpoint(
            path="/v1/video/generations",
            kind=Kind.VIDEO,
            title="video generation",
            read=requires("prompt"),
            route="video",
            no_combos=NO_COMBOS,
        ),
        *(
            Endpoint(
                path=f"/v1/videos/{action}",
                kind=Kind.VIDEO,
                action=action,
                title=f"video {action}",
                read=read_model,
                body="json or form",
                form_limit=UPLOAD,
                route="video",
                # A job that was submitted twice is paid for twice.
                fallback="never",
                forward=("idempotency-key",),
                no_combos=NO_COMBOS,
                shows_account=True,
                timeout=settings.video_timeout_ms / 1000,
                timeout_status=TOO_LATE,
            )
            for action in VIDEO_ACTIONS
        ),
        Endpoint(
            path="/v1/videos/{request_id}",
            method="GET",
            kind=Kind.VIDEO,
            action="status",
            title="video jobs",
            read=read_model,
            body="none",
            chosen_by="account",
            fallback="never",
            shows_account=True,
            timeout=settings.video_timeout_ms / 1000,
            timeout_status=TOO_LATE,
            wrong_method=f"Unknown video action; possible are: {', '.join(VIDEO_ACTIONS)}",
        ),
    )


def web(settings: Settings) -> tuple[Endpoint, ...]:
    """Search and pages."""
    time = settings.fetch_timeout_ms
    return (
        Endpoint(
            path="/v1/search",
            kind=Kind.SEARCH,
            title="web search",
            read=read_search,
            sample={"query": "hi", "max_results": 1},
            route="webSearch",
            timeout=10.0,
            answer=SearchAnswer,
        ),
        Endpoint(
            path="/v1/web/fetch",
            kind=Kind.FETCH,
            title="web fetch",
            read=read_fetch,
            sample={"url": "https://example.com/"},
            route="webFetch",
            cooldown="webfetch:{provider}",
            defaults={"format": Raw(f'"{settings.fetch_format}"'.encode())},
            timeout=PAGE_TIME if time is None else time / 1000,
            is_timeout_general=time is not None,
            answer=FetchAnswer,
        ),
    )


def services(settings: Settings) -> WireFormat:
    """The format of all of them, which has no sides."""
    return WireFormat(
        id="services",
        dialect="services",
        endpoints=(*TEXT, *IMAGES, *AUDIO, *video(settings), *web(settings)),
        offers=OFFERS,
    )
