"""The prompt compressor Headroom: whether one answers, what it says it saved, starting and stopping
it (4.13, P.7).

It is a program of its own, which clients may call in front of the gateway; the gateway itself sends
no prompt to it. See https://headroom-docs.vercel.app/docs/proxy.
"""

import asyncio
import ipaddress
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import Conflict, TransportError, UpstreamError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.upstream.redaction import redact
from gateway_core.upstream.transport import MalformedUrl, read_all
from gateway_core.upstream.transport.urls import Url, parse

from ..admin_context import AdminContext
from ..destinations import origin
from ..endpoint import endpoint

LIMIT = 3.0
"""Seconds for an answer."""
ANSWER_BYTES = 256 * 1024
START_LIMIT = 10.0
"""Seconds that a start waits for the first answer. Loading its models may take longer."""
LOOK = 0.2
"""Seconds between two questions to a process that is starting."""
NOT_INSTALLED = (
    "Headroom is not installed: there is no program headroom in DATA_DIR/headroom/bin or on PATH. "
    "Make an environment for it with python -m venv, and install headroom-ai[proxy] there."
)
NOT_USED = "The gateway sends no prompt to it; these are the calls of its own clients"


class HeadroomStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    enabled: bool
    """The setting, which has no effect yet."""
    installed: bool
    """There is a program to start."""
    url: str
    """Scheme, host and port of the setting."""
    running: bool
    """Something answers there."""
    status: int | None = None
    """Of its answer."""
    health: dict[str, Any] | None = None
    """What it says of itself."""
    error: str | None = None
    managed_pid: int | None = None
    """Of the process that the gateway has started."""
    circuit: str = "closed"
    """Always that: no call of the gateway's goes through it."""


class HeadroomStats(Struct, frozen=True, kw_only=True, rename="camel"):
    available: bool = False
    """It has said what it saved."""
    requests: int = 0
    tokens_saved: int = 0
    message: str = NOT_USED


class HeadroomChange(Struct, frozen=True, kw_only=True, rename="camel"):
    success: bool
    running: bool
    """It answers."""
    managed_pid: int | None = None
    message: str


class Requests(Struct):
    total: int = 0


class Tokens(Struct):
    saved: int = 0


class Savings(Struct):
    """What is read of Headroom's ``/stats``."""

    requests: Requests
    tokens: Tokens


def routes(admin: AdminContext) -> list[Guarded]:
    path, shown = "/api/headroom", partial(endpoint, admin, "GET")
    # Starting a program is for who sits at this machine (5.2).
    change = partial(endpoint, admin, "POST", access=Access.LOCAL, answer=HeadroomChange)
    about = "read the compressor's state", "read what the compressor saved"
    return [
        shown(f"{path}/status", show_status, about[0], answer=HeadroomStatus),
        shown(f"{path}/stats", show_stats, about[1], answer=HeadroomStats),
        change(f"{path}/start", start, "start the compressor"),
        change(f"{path}/stop", stop, "stop the compressor"),
    ]


async def show_status(admin: AdminContext, request: Request) -> Response:
    settings, compressor = admin.snapshot.settings, admin.compressor
    status, body, error = await _ask(admin, "health")
    running = compressor.running()
    return json_answer(
        HeadroomStatus(
            enabled=settings.headroom_enabled,
            installed=_program(admin) is not None,
            url=origin(settings.headroom_url),
            running=status is not None,
            status=status,
            health=_object(body),
            error=error,
            managed_pid=None if running is None else running.pid,
        )
    )


async def show_stats(admin: AdminContext, request: Request) -> Response:
    status, body, error = await _ask(admin, "stats")
    if error is not None:
        return json_answer(HeadroomStats(message=f"Headroom does not answer: {error}"))
    try:
        savings = msgspec.json.decode(body, type=Savings)
    except msgspec.DecodeError:
        message = f"What answers with status {status} does not say what it saved"
        return json_answer(HeadroomStats(message=message))
    saved, asked = savings.tokens.saved, savings.requests.total
    return json_answer(HeadroomStats(available=True, requests=asked, tokens_saved=saved))


async def start(admin: AdminContext, request: Request) -> Response:
    """Start the compressor where ``headroomUrl`` says, and wait a little for its first answer."""
    compressor, url = admin.compressor, _own_url(admin.snapshot.settings.headroom_url)
    running = compressor.running()
    if running is not None:
        return json_answer(await _changed(admin, running.pid, "It runs already"))
    program = _program(admin)
    if program is None:
        raise Conflict(NOT_INSTALLED)
    if (await _ask(admin, "health"))[0] is not None:
        raise Conflict(f"Something answers at {url.origin} that the gateway has not started")
    await admin.audit(request, "headroom.start", url.origin)
    command = (program, "proxy", "--host", url.host, "--port", str(url.port))
    process = await compressor.start(command, admin.core.environment.variables)
    ended = asyncio.ensure_future(process.wait())
    loop = asyncio.get_running_loop()
    until = loop.time() + START_LIMIT
    while not ended.done() and loop.time() < until:
        if (await _ask(admin, "health"))[0] is not None:
            break
        await asyncio.wait({ended}, timeout=LOOK)
    if ended.done():
        said = await compressor.spoken()
        message = f"Headroom has ended with status {ended.result()}"
        raise UpstreamError(redact(f"{message}: {said}" if said else message))
    ended.cancel()
    return json_answer(await _changed(admin, process.pid, "It was started"))


async def stop(admin: AdminContext, request: Request) -> Response:
    """End the process that the gateway has started; another one is nobody's to end here."""
    await admin.audit(request, "headroom.stop")
    is_ended = await admin.compressor.stop()
    message = "It was stopped" if is_ended else "The gateway runs no compressor"
    status, _, _ = await _ask(admin, "health")
    return json_answer(HeadroomChange(success=True, running=status is not None, message=message))


async def _changed(admin: AdminContext, pid: int, message: str) -> HeadroomChange:
    status, _, error = await _ask(admin, "health")
    if error is not None:
        message = f"{message}, and does not answer yet: {error}"
    running = status is not None
    return HeadroomChange(success=True, running=running, managed_pid=pid, message=message)


def _program(admin: AdminContext) -> str | None:
    return admin.compressor.program(admin.core.environment.variables.get("PATH"))


def _own_url(text: str) -> Url:
    """Where a compressor can be started. Raises Conflict for another machine."""
    try:
        url = parse(text)
        is_here = url.host == "localhost" or ipaddress.ip_address(url.host).is_loopback
    except (MalformedUrl, ValueError):
        is_here = False
    if not is_here or url.scheme != "http":
        raise Conflict("headroomUrl is no http address of this machine; start Headroom there")
    return url


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


async def _ask(admin: AdminContext, path: str) -> tuple[int | None, bytes, str | None]:
    """The status and the body of an answer of the compressor's, or why there is none."""
    url = f"{admin.snapshot.settings.headroom_url.rstrip('/')}/{path}"
    try:
        async with asyncio.timeout(LIMIT):
            asked = UpstreamRequest(method="GET", url=url, headers={"accept": "*/*"})
            answer = await admin.core.network.transport().send(asked)
            try:
                return answer.status, await read_all(answer, ANSWER_BYTES), None
            finally:
                await answer.aclose()
    except TimeoutError:
        return None, b"", f"No answer in {LIMIT:g} s"
    except TransportError as error:
        return None, b"", redact(error.message)
