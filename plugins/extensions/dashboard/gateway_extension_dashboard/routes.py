"""The routes of the application: its page, its files, and the addresses that lead to it.

Every path below ``/dashboard`` that names no file is the application's own and gets its page
(history fallback). Paths elsewhere keep the gateway's answers.
"""

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gateway_core import Access, Guarded

from .built_files import HASHED, PAGE, BuiltFile, BuiltFiles
from .negotiation import choose_encoding, entity_tag, is_known

HOME = "/dashboard"
ENTRANCES = {"/": HOME, "/login": f"{HOME}/login"}
"""Addresses of pages that lead into the application; the login by OIDC ends at ``/login``."""
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        # The components set sizes and colours in style elements, which cannot fetch anything.
        "style-src 'self' 'unsafe-inline'",
        "connect-src 'self'",
        "font-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
SAFETY = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin-allow-popups",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
FOREVER = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"
NOT_BUILT = "The dashboard is not built. In a checkout `make dashboard` builds it.\n"


def routes(files: BuiltFiles) -> list[Guarded]:
    """Nothing here is secret, so that the page can ask for a password."""

    async def serve(request: Request) -> Response:
        table = await anyio.to_thread.run_sync(lambda: files.table)
        name = request.path_params.get("name", PAGE)
        file = table.get(name)
        if file is None and not f"{name}/".startswith(HASHED):
            file = table.get(PAGE)
            if file is None:
                return PlainTextResponse(NOT_BUILT, 503, SAFETY)
        if file is None:
            return PlainTextResponse("Not found\n", 404, SAFETY)
        return await _answer(file, request)

    async def lead(request: Request) -> Response:
        query, target = request.url.query, ENTRANCES[request.scope["path"]]
        return RedirectResponse(f"{target}?{query}" if query else target, 302, SAFETY)

    return [
        *(Guarded(Route(path, lead), Access.PUBLIC) for path in ENTRANCES),
        Guarded(Route(HOME, serve), Access.PUBLIC),
        Guarded(Route(f"{HOME}/{{name:path}}", serve), Access.PUBLIC),
    ]


async def _answer(file: BuiltFile, request: Request) -> Response:
    encoding = choose_encoding(request.headers.getlist("accept-encoding"), file.encodings)
    tag = entity_tag(file.digest, encoding)
    headers = {
        **SAFETY,
        "cache-control": FOREVER if file.is_hashed else REVALIDATED,
        "etag": tag,
        "vary": "Accept-Encoding",
    }
    if is_known(tag, request.headers.getlist("if-none-match")):
        return Response(status_code=304, headers=headers)
    if encoding is not None:
        headers["content-encoding"] = encoding
    content = await anyio.to_thread.run_sync(file.read, encoding)
    return Response(content, headers=headers, media_type=file.media_type)
