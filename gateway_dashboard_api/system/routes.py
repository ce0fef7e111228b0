"""The gateway as a program: whether it runs, its version, stopping it, its API (A.10, P.7)."""

import hmac
import logging
import re
import signal
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from msgspec import Struct
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gateway_core.config.environment import Environment, Mode
from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import JSON, Guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import NO_STORE, flat_error, json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, strip

DISTRIBUTION = "model-gateway"
YEAR = 365 * 24 * 3600
LOCALE_COOKIE = "locale"
NOT_HERE = "This gateway is not stopped over the network; stop its process"
NO_UPDATE = "This gateway does not update itself: install the new version and start it again"
BEARER = {"authorization": "Bearer and the text of SHUTDOWN_SECRET"}
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
log = logging.getLogger(__name__)


class Version(Struct, frozen=True, kw_only=True, rename="camel"):
    """``latestVersion`` is the current one as long as no other is known of."""

    current_version: str
    latest_version: str
    has_update: bool


class LocaleBody(Struct, frozen=True, kw_only=True):
    locale: str = ""


class StopOutcome(Struct, frozen=True, kw_only=True):
    success: bool
    message: str


def routes(admin: AdminContext) -> list[Guarded]:
    public = partial(endpoint, admin, access=Access.PUBLIC)
    shut = partial(endpoint, admin, access=Access.PROTECTED)
    locale = partial(public, body=LocaleBody, answer=dict[str, Any], example={"locale": "en"})
    down, stop = "/api/shutdown", "stop the gateway"
    return [
        public("GET", "/api/livez", live, "tell that it lives", answer=dict[str, bool]),
        public("GET", "/api/init", initialized, "tell that it has begun", media="text/plain"),
        locale("POST", "/api/locale", set_locale, "set the locale"),
        public("GET", "/api/version", show_version, "read the version", answer=Version),
        shut("POST", "/api/version/update", update, "update", status=501),
        shut("POST", "/api/version/shutdown", stop_for_update, stop, answer=StopOutcome),
        shut("POST", down, shut_down, stop, answer=StopOutcome, headers=BEARER),
        endpoint(
            admin,
            "GET",
            OPENAPI,
            OpenApiDocument().show,
            "describe the API",
            answer=dict[str, Any],
        ),
    ]


async def live(admin: AdminContext, request: Request) -> Response:
    return json_answer({"ok": True})


async def initialized(admin: AdminContext, request: Request) -> Response:
    return PlainTextResponse("Initialized", headers=NO_STORE)


async def set_locale(admin: AdminContext, request: Request) -> Response:
    """Keep the language of the pages in a cookie."""
    locale = strip((await read_json(request, LocaleBody)).locale)
    if not _LOCALE.fullmatch(locale):
        raise BadRequest("Invalid locale")
    answer = json_answer({"success": True, "locale": locale})
    answer.set_cookie(LOCALE_COOKIE, locale, max_age=YEAR, path="/", samesite="lax")
    return answer


async def show_version(admin: AdminContext, request: Request) -> Response:
    current = current_version()
    return json_answer(Version(current_version=current, latest_version=current, has_update=False))


def current_version() -> str:
    """What is installed; ``0.0.0`` for a tree that is not installed at all."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0"


async def update(admin: AdminContext, request: Request) -> Response:
    return flat_error(NO_UPDATE, 501, request_id_of(request))


async def stop_for_update(admin: AdminContext, request: Request) -> Response:
    """Stop, so that a new version can be started in this one's place."""
    if is_managed(admin.core.environment):
        return _stop_outcome(NOT_HERE, 403)
    return await _stop(admin, request)


async def shut_down(admin: AdminContext, request: Request) -> Response:
    """Stop, for callers with the shutdown secret; never in production."""
    environment = admin.core.environment
    if is_managed(environment):
        return _stop_outcome(NOT_HERE, 403)
    if environment.shutdown_secret is None:
        return _stop_outcome("SHUTDOWN_SECRET is not set", 403)
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    expected = environment.shutdown_secret.encode()
    if scheme.lower() != "bearer" or not hmac.compare_digest(secret.strip().encode(), expected):
        return _stop_outcome("Unauthorized", 401)
    return await _stop(admin, request)


def is_managed(environment: Environment) -> bool:
    """Whether something else starts and stops this gateway."""
    if environment.mode is not None:
        return environment.mode in (Mode.PRODUCTION, Mode.CONTAINER)
    return environment.variables.get("NODE_ENV") == "production"


async def _stop(admin: AdminContext, request: Request) -> Response:
    if not handles_sigterm():
        return _stop_outcome(NOT_HERE, 403)
    await admin.audit(request, "process.stop")
    answer = _stop_outcome("Shutting down", 200)
    answer.background = BackgroundTask(_ask_to_stop)
    return answer


def handles_sigterm() -> bool:
    """Whether the process handles SIGTERM, as the gateway's own servers do.

    A program that merely has a gateway in it would be killed instead.
    """
    return signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN, None)


def _stop_outcome(message: str, status: int) -> Response:
    return json_answer(StopOutcome(success=status == 200, message=message), status)


async def _ask_to_stop() -> None:
    """What an operator at the terminal would do: running answers come to their end first."""
    log.info("a stop was requested over the network")
    signal.raise_signal(signal.SIGTERM)


OPENAPI = "/api/openapi.json"


class OpenApiDocument:
    """The document, built on the first request and kept, because routes do not change."""

    def __init__(self) -> None:
        self._text: bytes | None = None

    async def show(self, admin: AdminContext, request: Request) -> Response:
        if self._text is None:
            # Imported late, because few requests need it and its import is slow.
            from ..openapi.document import document

            operations = [operation for each in request.app.routes for operation in each.operations]
            formats = admin.snapshot.registry.formats.values()
            self._text = msgspec.json.encode(document(operations, formats, current_version()))
        return Response(self._text, headers=dict(NO_STORE), media_type=JSON)
