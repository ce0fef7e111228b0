"""Every management route that the interface documents (4.12, 4.13, A.1 to A.10) is served."""

from collections.abc import Iterator

import pytest
from admin_gateway import AdminGateway
from starlette.routing import Match

pytestmark = pytest.mark.anyio
DOCUMENTED = """
GET,POST /api/keys
GET,PUT,DELETE /api/keys/k
GET /api/keys/k/reveal /api/keys/usage /api/keys/policy-catalog /api/usage/me
GET,PUT /api/models /api/media-providers/routes
GET,PUT,DELETE /api/models/alias /api/models/enabled
GET,POST /api/models/availability /api/models/auto-sync
GET,POST,PATCH,DELETE /api/models/custom
GET,POST,DELETE /api/models/disabled
POST /api/models/test /api/models/test/batch
POST /api/usage/c/codex-reset-credits /api/usage/reset
GET /api/usage/c/codex-reset-credits /api/usage/c /api/usage/chart /api/usage/combos
GET /api/usage/history /api/usage/logs /api/usage/request-logs /api/usage/providers
GET /api/usage/request-details /api/usage/stats /api/usage/stream /api/logs/export
GET,PATCH /api/settings
GET,POST /api/settings/auto-configure /api/settings/database /api/settings/database/engine
POST /api/settings/database/cutover /api/settings/database/rollback
POST /api/settings/database/selective /api/settings/database/test
GET /api/settings/database/log /api/settings/require-login
POST /api/settings/firecrawl/detect /api/settings/proxy-test /api/mcp/control
GET /api/headroom/status /api/headroom/stats
POST /api/headroom/start /api/headroom/stop
POST /api/connections /api/shutdown
GET /api/health
GET,POST /api/providers
GET /api/providers/client /api/providers/suggested-models /api/providers/c/models
GET,PUT,PATCH,DELETE /api/providers/c
PUT /api/providers/reorder
POST /api/providers/validate /api/providers/c/test /api/providers/test-batch
POST /api/providers/c/test-models
PATCH /api/providers/c/auto-ping
POST /api/providers/web-login/start /api/providers/web-login/finish /api/providers/web-login/cancel
GET /api/providers/web-login/status /api/providers/web-login/popup
GET,POST /api/provider-nodes
PUT,DELETE /api/provider-nodes/n
POST /api/provider-nodes/validate
GET,POST /api/combos /api/combos/presets /api/connection-groups /api/key-groups
GET,PUT,DELETE /api/combos/c /api/connection-groups/g /api/key-groups/g
GET,POST,DELETE /api/connection-groups/g/members
GET,PATCH,DELETE /api/pricing
GET,POST /api/proxy-pools
PUT,DELETE /api/proxy-pools/p
POST /api/proxy-pools/p/test /api/proxy-pools/cloudflare-deploy /api/proxy-pools/vercel-deploy
GET,POST /api/data-retention
GET /api/version /api/init /api/tags /api/livez /api/translator/load
POST /api/version/update /api/version/shutdown /api/locale
GET,DELETE /api/health/providers /api/translator/console-logs
GET /api/translator/console-logs/stream
POST /api/translator/save /api/translator/translate /api/translator/send
POST /api/auth/login /api/auth/logout /api/auth/reset-password /api/auth/oidc/test
GET /api/auth/oidc/start /api/auth/oidc/callback /api/auth/status
"""
"""Methods, and paths with any word where the documentation has a parameter."""
REFUSED = {
    "POST /api/version/update": "the gateway is updated by whatever has installed it",
    "POST /api/proxy-pools/cloudflare-deploy": "nothing is deployed in others' clouds",
    "POST /api/proxy-pools/vercel-deploy": "the same",
}
"""Answered with 501 and a text that says so."""


def documented() -> Iterator[tuple[str, str]]:
    for line in DOCUMENTED.split("\n"):
        methods, *paths = line.split() or [""]
        for path in paths:
            yield from ((method, path) for method in methods.split(","))


async def test_every_documented_route_is_there_and_none_is_left_for_later(
    admin: AdminGateway,
) -> None:
    missing, refused = [], set()
    for method, path in documented():
        scope = {"type": "http", "method": method, "path": path, "root_path": ""}
        served = [
            operation
            for each in admin.gateway.app.routes
            if each.route.matches(scope)[0] is Match.FULL
            for operation in each.operations
            if operation.method == method
        ]
        if not served:
            missing.append(f"{method} {path}")
        elif served[0].status == 501:
            refused.add(f"{method} {path}")

    assert missing == []
    assert refused == REFUSED.keys()


@pytest.mark.parametrize("route", REFUSED)
async def test_what_is_refused_for_good_says_why(admin: AdminGateway, route: str) -> None:
    method, path = route.split()

    answer = await admin.call(method, path, {}, status=501)

    assert len(answer["error"]) > 20
