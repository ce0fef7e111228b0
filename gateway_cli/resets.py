"""What the operator can take away at the machine: a forgotten password, a lost second factor.

A gateway that uses the data directory is called to do it; else it is done
here. Either way the audit trail has a row before the act.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from gateway_administration.sign_in import mfa, passwords
from gateway_core.config.data_dir import DataDir
from gateway_core.config.database_choice import choose_database
from gateway_core.config.environment import Environment
from gateway_core.config.errors import DataDirInUse

from .api_client import NoGateway, ask


class Reset(Struct, frozen=True):
    """One thing that can be taken away."""

    action: str
    """In the audit trail."""
    route: str
    changes: Callable[[], Mapping[str, Any]]
    """Of the settings."""
    notice: str
    """What counts from now on."""


PASSWORD = Reset(
    passwords.RESET,
    "/api/auth/reset-password",
    passwords.forgotten,
    "The dashboard password is taken away and every session has ended; a second factor stays. "
    "Sign in with INITIAL_PASSWORD, or from this machine with the built-in password.",
)
SECOND_FACTOR = Reset(
    mfa.RESET,
    "/api/auth/mfa/reset",
    lambda: mfa.OFF,
    "The second factor is switched off, with its backup codes; the password alone signs in. "
    "Switch it on again in the dashboard.",
)


def carry_out(reset: Reset, environment: Environment, url: str | None) -> None:
    """``url`` is where a gateway answers that uses the data directory, if the operator says.

    Raises StartRefused, NoGateway.
    """
    try:
        with DataDir(environment.data_path) as data_dir:
            chosen = choose_database(data_dir, environment)
            if not data_dir.database.exists() and chosen.engine != "postgres":
                raise NoGateway(
                    f"There is no gateway's data in {data_dir.path}, so nothing was changed. Set "
                    "DATA_DIR, or give --data-dir, with the directory that the gateway uses."
                )

            async def write() -> None:
                from gateway_core.storage.stores import open_stores

                stores = await open_stores(data_dir, environment)
                try:
                    await stores.audit.write("cli", "local", reset.action)
                    await stores.settings.patch(reset.changes())
                finally:
                    await stores.close()

            asyncio.run(write())
    except DataDirInUse:
        response = ask(environment, url, "POST", reset.route)
        if response.status != 200:
            raise NoGateway(
                f"What answers there is not the gateway that uses {environment.data_path}."
            ) from None
