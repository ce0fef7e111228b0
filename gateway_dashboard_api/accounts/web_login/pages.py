"""The pages of an assisted login, on a host name that serves nothing else (5.3)."""

import asyncio
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway_core.contracts.errors import Forbidden, GatewayError, NotFound, PluginBroken
from gateway_core.contracts.exchange import Transport
from gateway_core.contracts.provider import Credential
from gateway_core.contracts.web_login import WebLogin, WebLoginAnswer, WebLoginRequest
from gateway_core.http.operations import Guarded
from gateway_core.identity.access import Access
from gateway_core.identity.credential_headers import without_credentials
from gateway_core.identity.credentials import cookie, is_same_origin
from gateway_core.identity.web_login import login_origin
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.request_body import read_body
from gateway_core.plugins.stopping import is_told_to_stop
from gateway_core.upstream.transport import AddressPolicy

from ...admin_context import AdminContext
from ...endpoint import endpoint
from ...requests import LIMIT
from .memory import read_memory
from .sign_ins import BOOTSTRAP, LIFETIME, PATH, SignIns, is_cookie_text

COOKIE = "web_login"
KEPT_BACK = frozenset(
    {"set-cookie", "content-length", "content-type", "transfer-encoding", "connection"}
)
"""Headers of a plugin's answer that are not passed on, besides those of CORS."""
GUARDS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    # Under "no-referrer" browsers send `Origin: null` with a form, which could be anybody's (Fetch
    # standard, "append a request `Origin` header").
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def page_routes(admin: AdminContext, sign_ins: SignIns) -> list[Guarded]:
    page = partial(show_page, sign_ins)
    first = PATH + "/{provider}"
    purpose = "show a page of the assisted login"
    isolated = Access.ISOLATED
    return [
        endpoint(
            *(admin, "GET", BOOTSTRAP, partial(enter, sign_ins), "begin the assisted login"),
            access=isolated,
            status=303,
            media="",
        ),
        *(
            endpoint(admin, method, path, page, purpose, access=isolated, media="text/html")
            for path in (first, first + "/{rest:path}")
            for method in ("GET", "POST")
        ),
    ]


async def enter(sign_ins: SignIns, admin: AdminContext, request: Request) -> Response:
    """Exchange a grant for a cookie that only this host receives."""
    entered = await sign_ins.enter(request.query_params.get("grant", ""))
    if entered is None:
        raise NotFound("Not found")
    text, sign_in = entered
    headers = {**GUARDS, "referrer-policy": "no-referrer"}
    answer = RedirectResponse(f"{PATH}/{sign_in.provider}/", 303, headers)
    answer.set_cookie(
        COOKIE,
        text,
        max_age=int(LIFETIME),
        path=PATH,
        secure=_origin(admin).startswith("https:"),
        httponly=True,
        samesite="lax",
    )
    return answer


async def show_page(sign_ins: SignIns, admin: AdminContext, request: Request) -> Response:
    """Let the provider's plugin answer, and keep the cookie it captures."""
    headers = headers_of(request.scope)
    provider = request.path_params["provider"]
    found = await sign_ins.by_cookie(cookie(headers, COOKIE), provider)
    spec = admin.spec(provider)
    if found is None or spec is None or spec.web_login is None:
        raise NotFound("Not found")
    if request.method == "POST" and not is_same_origin(headers, _origin(admin)):
        raise Forbidden("Requests from another origin are not accepted", code="foreign_origin")
    id, sign_in = found
    memory = read_memory(sign_in.memory)
    page_request = WebLoginRequest(
        method=request.method,
        path=request.path_params.get("rest", ""),
        query=request.scope["query_string"].decode("latin-1"),
        headers=without_credentials(headers),
        body=await read_body(request.receive, headers, LIMIT),
        memory=memory,
    )
    direct = admin.core.network.transport(policy=AddressPolicy.PUBLIC)
    transport = admin.core.egress_policy.bound(spec, Credential(connection_id=""), direct)
    answer = await _call_plugin(admin, spec.web_login, page_request, transport)
    if answer.captured is not None and not is_cookie_text(answer.captured):
        raise ValueError("the captured text cannot stand in a Cookie header")
    await sign_ins.note(id, read_memory(sign_in.memory), memory, answer.captured)
    passed = {
        name.lower(): value
        for name, value in answer.headers.items()
        if name.lower() not in KEPT_BACK and not name.lower().startswith("access-control-")
    }
    head = {**GUARDS, **passed, "cache-control": "no-store"}
    return Response(answer.body, answer.status, head, answer.media_type)


async def _call_plugin(
    admin: AdminContext, login: WebLogin, request: WebLoginRequest, transport: Transport
) -> WebLoginAnswer:
    """The plugin's answer. Raises GatewayError, also where the plugin raises something else."""
    try:
        async with asyncio.timeout(admin.core.whole_timeout):
            return await login.handle(request, transport)
    except GatewayError:
        raise
    except BaseException as error:
        if is_told_to_stop(error):
            raise
        raise PluginBroken("The plugin failed on this page.") from error


def _origin(admin: AdminContext) -> str:
    return login_origin(admin.core.environment.web_login_origin, admin.core.identity.public_origin)
