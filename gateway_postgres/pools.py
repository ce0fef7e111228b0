"""Connections to PostgreSQL: one that writes, a few that read, and the way to make them."""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection, Error, conninfo
from psycopg_pool import AsyncConnectionPool

from gateway_core.config.errors import DatabaseUnusable

from .values import ADAPTERS

WAIT = 5.0
"""Seconds for a connection, and for other gateways that write; as long as SQLite waits."""
READERS = 4
PROGRAM = "model-gateway"
Connection = AsyncConnection[Any]
Pool = AsyncConnectionPool[Connection]
_OPTIONS = {
    "client_encoding": "UTF8",
    "application_name": PROGRAM,
    "connect_timeout": "5",
    # A server that is gone without a word is noticed in seconds instead of a quarter of an hour.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
_OWN_ROOTS = Path("~/.postgresql/root.crt")
_READS = "-c default_transaction_read_only=on"
# Someone who stops in the middle of a transaction must not hold up every other gateway.
_WRITES = f"-c lock_timeout={WAIT:.0f}s -c idle_in_transaction_session_timeout=60s"


def options_of(url: str) -> dict[str, Any]:
    """What libpq is to connect with: the URL's own options before ours. Raises DatabaseUnusable."""
    try:
        options = {**_OPTIONS, **conninfo.conninfo_to_dict(url)}
    except Error as error:
        raise DatabaseUnusable("The URL of the PostgreSQL database cannot be read.") from error
    # libpq trusts one file in the home directory, and else nobody; the authorities of the machine
    # are where Python finds them, not where a library from a wheel was built to look.
    if options.get("sslmode") == "verify-full" and not _OWN_ROOTS.expanduser().exists():
        options.setdefault("sslrootcert", ssl.get_default_verify_paths().cafile or "system")
    return options


async def connect(options: dict[str, Any]) -> Connection:
    """One connection of its own. Raises psycopg's errors.

    One that is given up on its way is made to its end, and closed: psycopg leaves its socket to the
    garbage collector, and the server would keep its side for a minute.
    """
    connecting = AsyncConnection.connect(**options, autocommit=True, context=ADAPTERS)
    making = asyncio.ensure_future(connecting)
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        with suppress(Error):
            await (await making).close()
        raise


def make_pool(options: dict[str, Any], name: str, size: int, *, writes: bool) -> Pool:
    """A pool that is not open yet."""
    session = " ".join((options.get("options") or "", _WRITES if writes else _READS)).strip()
    return AsyncConnectionPool(
        conninfo.make_conninfo(**{**options, "options": session}),
        kwargs={"autocommit": True, "context": ADAPTERS},
        min_size=1,
        max_size=size,
        open=False,
        name=name,
        timeout=WAIT,
        # Afterwards whoever wants a connection begins again, without the growing pauses between
        # attempts: the gateway is back as soon as the server is.
        reconnect_timeout=WAIT,
    )
