"""A gateway with its login, clocks that the test sets, and browsers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
from migrated_file import lay_database
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter, AuditRow
from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.config.settings import Settings
from gateway_core.http.operations import Guarded
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.plugin_host import Host
from gateway_core.storage.stores.settings import GROUP
from gateway_core.storage.stores.versions import raise_version
from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.login import mfa, oidc, session_list
from gateway_dashboard_api.login import routes as login
from gateway_dashboard_api.settings import routes as settings

SECRET = "a-canary-that-signs-the-sessions-of-a-test"
PASSWORD = "first-canary-word"
LOGIN = "/api/auth/login"
WALL = 1_800_000_000.0
MODULES = (login, mfa, oidc, session_list, settings)


class Clock:
    """Seconds; a test moves them."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Browser(httpx2.AsyncClient):
    """A browser on a page of the gateway, with cookies."""

    def __init__(
        self, gateway: Gateway, host: str, base: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(
            transport=httpx2.ASGITransport(app=gateway.app, client=(host, 1)),
            base_url=base,
            headers={"origin": base} if headers is None else headers,
        )

    async def call(
        self, method: str, path: str, body: Any = None, *, status: int = 200, **more: Any
    ) -> Any:
        """Send a request, check the status, and return the response's JSON."""
        if body is not None:
            more["json"] = body
        answer = await self.request(method, path, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def enter(self, password: str, *, status: int = 200) -> Any:
        """Sign in with a password."""
        return await self.call("POST", LOGIN, {"password": password}, status=status)

    async def is_in(self) -> bool:
        """Whether a protected route accepts this browser's session."""
        return (await self.get("/api/settings")).status_code == 200


class LoginGateway:
    """The gateway, its clocks and its stored settings."""

    def __init__(
        self, gateway: Gateway, context: AdminContext, wall: Clock, monotonic: Clock
    ) -> None:
        self.gateway = gateway
        self.admin = context
        self.wall = wall
        self.monotonic = monotonic
        self.stack: AsyncExitStack

    @property
    def core(self) -> Collaborators:
        return self.gateway.core

    @property
    def settings(self) -> Settings:
        return self.core.snapshot.settings

    async def browser(
        self, host: str = "127.0.0.1", base: str = "http://127.0.0.1", **headers: str
    ) -> Browser:
        """Return a browser at an address that calls the gateway by a host name."""
        given = {"origin": base, **headers}
        return await self.stack.enter_async_context(Browser(self.gateway, host, base, given))

    async def command_line(self) -> Browser:
        headers = {CLI_HEADER: self.core.identity.cli_token}
        return await self.stack.enter_async_context(
            Browser(self.gateway, "127.0.0.1", "http://127.0.0.1", headers)
        )

    def pass_time(self, seconds: float) -> None:
        """Advance both clocks."""
        self.wall.now += seconds
        self.monotonic.now += seconds

    async def store(self, **changes: Any) -> None:
        await self.core.stores.settings.patch(changes)
        await self.core.refresh()

    async def damage(self, column: str, text: str) -> None:
        """Write invalid data into the row of settings, past the store."""
        await self.store(cavemanEnabled=False)
        async with self.core.stores.database.transaction() as transaction:
            await transaction.execute(f"UPDATE settings SET {column} = :text", text=text)
            await raise_version(transaction, GROUP)
        await self.core.refresh()

    async def audited(self) -> list[str]:
        """Return the actions of the audit trail that are no sign-ins, oldest first."""
        return [row.action for row in reversed(await self.audit_rows())]

    async def audit_rows(self) -> tuple[AuditRow, ...]:
        rows, _ = await own_stores(self.core).audit.page()
        return tuple(row for row in rows if not row.action.startswith("session."))

    async def sign_ins(self) -> tuple[AuditRow, ...]:
        """Return the rows about sign-ins, oldest first."""
        rows, _ = await own_stores(self.core).audit.page(AuditFilter(action="session"))
        return tuple(reversed(rows))


@asynccontextmanager
async def opened(
    data_dir: Path, variables: dict[str, str], *, shares_data: bool = False
) -> AsyncIterator[LoginGateway]:
    """A gateway with nothing but its login and its settings; one that shares its data is a worker
    beside another."""
    wall, monotonic = Clock(WALL), Clock(1000.0)
    contexts: list[AdminContext] = []

    def register_routes(host: Host) -> list[Guarded]:
        contexts.append(AdminContext(host.core, monotonic))
        return [route for module in MODULES for route in module.routes(contexts[0])]

    plugin = SimpleNamespace(register_routes=hookimpl(register_routes))
    given = {"JWT_SECRET": SECRET, "INITIAL_PASSWORD": PASSWORD, **variables}
    environment = from_environ({"DATA_DIR": str(data_dir), **given})
    lay_database(environment)
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(
            Gateway.open(
                environment,
                extra_plugins={"login": plugin},
                installed_plugins=False,
                clock=wall,
                shares_data=shares_data,
            )
        )
        server = LoginGateway(gateway, contexts[0], wall, monotonic)
        server.stack = stack
        yield server
