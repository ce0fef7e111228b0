"""The default models of media endpoints, by kind (A.6, C.5)."""

from collections.abc import Mapping
from typing import get_args

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.settings import MediaRoute, check_changes
from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.kinds import read_kind
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.service_plan import media_models
from gateway_core.routing.snapshot import ConfigSnapshot

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json
from ..settings.document import ROUTE, check_media_routes
from .bodies import RouteBody
from .views import Candidate, Route, RouteAnswer, RouteList, Served

PATH = "/api/media-providers/routes"
LABELS: Mapping[str, str] = {
    "tts": "Speech",
    "stt": "Transcription",
    "webSearch": "Web search",
    "webFetch": "Web fetch",
    "embedding": "Embeddings",
    "image": "Images",
    "video": "Video",
    "music": "Music",
}
ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "tts": ("/v1/audio/speech",),
    "stt": ("/v1/audio/transcriptions", "/v1/audio/translations"),
    "webSearch": ("/v1/search",),
    "webFetch": ("/v1/web/fetch",),
    "embedding": ("/v1/embeddings",),
    "image": ("/v1/images/generations", "/v1/images/edits"),
    "video": ("/v1/video/generations", "/v1/videos/generations"),
    "music": ("/v1/music/generations", "/v1/audio/music"),
}
FIRST_ONLY = frozenset({"/v1/embeddings", "/v1/videos/generations"})
"""Endpoints that never fall back to a second model."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, list_all, "list media routes", answer=RouteList),
        endpoint(
            admin,
            "PUT",
            PATH,
            save,
            "save the media route",
            body=RouteBody,
            answer=RouteAnswer,
            example={"kind": "tts", "models": []},
        ),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    media = tuple(route_of(admin.snapshot, kind) for kind in get_args(MediaRoute))
    return json_answer(RouteList(routes=media))


async def save(admin: AdminContext, request: Request) -> Response:
    """Set one kind's models; the other kinds stay. An empty list means automatic."""
    body = await read_json(request, RouteBody)
    kind = next((each for each in LABELS if read_kind(each) == read_kind(body.kind)), None)
    if kind is None:
        raise BadRequest("Unknown media kind")
    changes = check_media_routes({kind: body.models if body.models is not None else []})
    check_changes({ROUTE: changes})
    async with admin.writing():
        stored = (await admin.stores.settings.read()).media_routes
        await admin.audit_change(
            request, "settings.change", None, {ROUTE: stored}, {ROUTE: changes}
        )
        await admin.stores.settings.patch({ROUTE: {**stored, **changes}})
    return json_answer(RouteAnswer(route=route_of(admin.snapshot, kind)))


def route_of(snapshot: ConfigSnapshot, kind: str) -> Route:
    """Return one kind's route as calls use it."""
    available = candidates(snapshot, kind)
    saved = next(
        (names for each, names in snapshot.settings.media_routes.items() if each == kind), ()
    )
    effective = tuple(each.id for each in available)
    if saved:
        names = {_split_name(snapshot, name) for name in effective}
        effective = tuple(name for name in saved if _split_name(snapshot, name) in names)
    return Route(
        id=kind,
        label=LABELS[kind],
        saved=saved,
        candidates=available,
        effective=effective,
        endpoints=tuple(
            Served(path=path, effective=effective[:1] if path in FIRST_ONLY else effective)
            for path in ENDPOINTS[kind]
        ),
    )


def candidates(snapshot: ConfigSnapshot, kind: str) -> tuple[Candidate, ...]:
    """Return the models of a kind at connected providers."""
    return tuple(
        Candidate(
            id=f"{target.provider.alias or target.provider.id}/{target.model.id}",
            name=target.model.name or target.model.id,
            provider=target.provider.id,
        )
        for target in media_models(snapshot, read_kind(kind))
    )


def _split_name(snapshot: ConfigSnapshot, name: str) -> tuple[str, str]:
    prefix, _, model = name.partition("/")
    return snapshot.registry.names.get(prefix, prefix), model
