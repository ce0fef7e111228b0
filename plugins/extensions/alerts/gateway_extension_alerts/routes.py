"""The routes of the alerts: what lasts and what was sent, and a test."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway_core import Access, Guarded

from .watcher import State, Watcher

PATH = "/api/alerts"


def routes(watcher: Watcher) -> list[Guarded]:
    async def show(request: Request) -> Response:
        return JSONResponse(view(await watcher.state()))

    async def test(request: Request) -> Response:
        results = await watcher.test()
        return JSONResponse({"results": {name: error or "ok" for name, error in results.items()}})

    return [
        Guarded(Route(PATH, show, methods=["GET"]), Access.MANAGEMENT),
        Guarded(Route(f"{PATH}/test", test, methods=["POST"]), Access.MANAGEMENT),
    ]


def view(state: State) -> dict[str, Any]:
    """What is kept, the latest first, with times as UTC ISO text."""
    alerts = [
        {**msgspec.to_builtins(each.alert), "since": iso(each.since), "seen": iso(each.seen)}
        for each in sorted(state.active.values(), key=lambda each: -each.since)
    ]
    waiting = [
        {
            "to": each.to,
            "event": each.event.event,
            "title": each.event.alert.title,
            "attempts": each.attempts,
            "due": iso(each.due),
        }
        for each in state.waiting
    ]
    log = [{**msgspec.to_builtins(each), "at": iso(each.at)} for each in reversed(state.log)]
    return {"alerts": alerts, "waiting": waiting, "log": log}


def iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
