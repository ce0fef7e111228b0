"""Health, readiness, and what is said about paths nobody serves (1, 4.11)."""

from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from ..identity.access import Access
from ..pipeline.context import Collaborators
from .operations import Guarded, guarded
from .readiness import Readiness, ReadinessReport
from .requests import request_id_of
from .responses import NO_STORE, flat_error, json_answer


class HealthReport(Struct, frozen=True, rename="camel"):
    ok: bool = True
    not_shared: str | UnsetType = UNSET
    """Why this gateway counts limits for itself, where several are to count together."""


def routes(core: Collaborators) -> list[Guarded]:
    async def health(request: Request) -> Response:
        shared = core.snapshot.registry.shared_state
        return json_answer(HealthReport(not_shared=(shared and shared.trouble) or UNSET))

    async def ready(request: Request) -> Response:
        report = await readiness.report()
        return json_answer(report, 200 if report.ready else 503)

    readiness = Readiness(core)
    both, public = ("GET", "HEAD"), Access.PUBLIC
    return [
        guarded("/api/health", health, public, "tell that it listens", both, answer=HealthReport),
        guarded(
            *("/api/ready", ready, public, "tell whether new requests are to be sent here", both),
            answer=ReadinessReport,
        ),
    ]


async def unknown(request: Request) -> Response:
    """The answer for a path without a route."""
    path, request_id = request.scope["path"], request_id_of(request)
    if path.startswith("/v1"):
        error = {
            "type": "not_found",
            "code": "unknown_route",
            "path": path,
            "request_id": request_id,
        }
        return json_answer({"error": error}, 404, {**NO_STORE, "x-request-id": request_id})
    return flat_error("Not found", 404, request_id)
