"""What the sign-in page has to know before anybody has signed in (P.7)."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..desk import AdminContext
from ..endpoint import endpoint


class LoginFlags(Struct, frozen=True, kw_only=True, rename="camel"):
    require_login: bool
    tunnel_dashboard_access: bool
    tunnel_url: str
    tailscale_url: str


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            "/api/settings/require-login",
            show,
            "read the login flags",
            access=Access.PUBLIC,
            answer=LoginFlags,
        )
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    settings = admin.tables.settings
    return json_answer(
        LoginFlags(
            require_login=settings.require_login,
            tunnel_dashboard_access=settings.tunnel_dashboard_access,
            tunnel_url=settings.tunnel_url,
            tailscale_url=settings.tailscale_url,
        )
    )
