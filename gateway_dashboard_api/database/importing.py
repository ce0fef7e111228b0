"""Putting a file's tables in the place of those that are here: all of them, or nothing.

What is this gateway's own stays: which database it uses, the log of what was done with it, sessions
that were ended. Tables that the file does not have stay as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from gateway_administration.stores import connection_groups, key_groups
from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.keys import key_of
from gateway_core.metering.prices import Prices
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot_loader import SnapshotLoader
from gateway_core.storage.database import Database, Statements
from gateway_core.storage.errors import StorageFull, StorageUnavailable, UniqueViolation
from gateway_core.storage.stores import (
    audit,
    combos,
    connections,
    ended_sessions,
    keys,
    kv,
    nodes,
    plugin_settings,
    proxy_pools,
    stores_on,
    usage,
)
from gateway_core.storage.stores import settings as settings_store
from gateway_core.storage.stores.versions import raise_version, read_versions

from ..login.sign_in import check_readable
from . import log
from .export import SUMS, secrets_of
from .import_file import Loaded
from .sealed_columns import KEYS, Row
from .source import AT_ONCE, Table, pages_of

GROUPS = (
    *(settings_store.GROUP, connections.GROUP, connections.STATE_GROUP, nodes.GROUP, combos.GROUP),
    *(proxy_pools.GROUP, ended_sessions.GROUP, plugin_settings.GROUP, keys.GROUP, key_groups.GROUP),
    connection_groups.GROUP,
)
NUMBERED: Mapping[str, str] = {
    "usage": usage.GROUP,
    "audit": audit.GROUP,
    "database_log": log.GROUP,
}
"""Tables whose next row gets the number of a group for its id."""
_LOGS = frozenset({"audit", "database_log"})
"""Rows are added, with new numbers: no file makes what was done here undone."""
_KEPT = frozenset({"sessions", "ended_sessions"})
"""Rows are added, and those that are here stay."""
_OWN_SETTINGS = ("database", "postgres")
"""How the names of settings begin that say which database this gateway uses."""
_LOGIN = frozenset(
    {"password", "passwordSessionEpoch", "mfaEnabled", "mfaSecret", "mfaBackupCodes", "mfaLastStep"}
)
"""Settings that only a file with a password replaces: without one, the initial one would count."""
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


class Importing:
    """One import, in a transaction."""

    def __init__(self, core: Collaborators, transaction: Statements, *, with_secrets: bool) -> None:
        self._core = core
        self._transaction = transaction
        self._secrets = secrets_of(core)
        self._with_secrets = with_secrets
        self.warnings: list[str] = []
        """What the operator has to do afterwards."""

    async def replace(self, file: Mapping[str, Loaded]) -> None:
        """Raises BadRequest for a file that this gateway could not go on with."""
        if ("nodes" in file) != ("connections" in file):
            # Stored credentials would be sent to addresses that they were not saved for.
            raise BadRequest("The tables nodes and connections belong together")
        for name, loaded in file.items():
            if name == "settings":
                await self._replace_settings(loaded.rows)
            elif name in _LOGS:
                await self._add_to_log(loaded)
            elif name in _KEPT:
                await self._add_missing(loaded)
            else:
                rows = await self.sealed(loaded)
                await self._transaction.execute(f"DELETE FROM {name}")
                await self.insert(loaded.table, loaded.columns, rows)
        if "usage" in file:
            for name in SUMS:
                await self._transaction.execute(f"DELETE FROM {name}")
            await self._transaction.execute("DELETE FROM meta WHERE key LIKE 'usage_sums.%'")
        await self.finish()

    async def finish(self) -> None:
        """Have every gateway on this database read it again, and see first that it can."""
        await self._check_readable()
        await self._raise_versions()

    async def sealed(self, loaded: Loaded) -> Sequence[Row]:
        """A table's rows with this gateway's seals. Raises BadRequest."""
        name, secrets = loaded.table.name, self._secrets
        try:
            if name == KEYS:
                return await self._with_texts(loaded.rows)
            return [secrets.close(name, row) for row in loaded.rows]
        except msgspec.DecodeError:
            raise BadRequest(f"The secrets of {name} cannot be read") from None

    async def insert(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Raises BadRequest for two rows with one key."""
        names = ", ".join(f'"{column}"' for column in columns)
        values = ", ".join(f":{column}" for column in columns)
        sql = f"INSERT INTO {table.name} ({names}) VALUES ({values})"
        try:
            for first in range(0, len(rows), AT_ONCE):
                await self._transaction.execute_many(sql, rows[first : first + AT_ONCE])
        except UniqueViolation:
            raise BadRequest(f"Two rows of {table.name} have the same name or key") from None

    async def _with_texts(self, rows: Sequence[Row]) -> list[Row]:
        """Keys with their texts: that of the file, else the one it has here, else a new one."""
        stored = await self._transaction.fetch("SELECT id, secret, digest FROM api_keys")
        here = {row["id"]: row for row in stored}
        sealed, new, unusable = list[Row](), 0, 0
        for row in rows:
            text = row["secret"]
            if text is None and row["id"] in here:
                sealed.append({**row, **here[row["id"]]})
                continue
            new += text is None
            text = text or self._secrets.new_key()
            unusable += not self._secrets.is_usable(text)
            sealed.append(self._secrets.close(KEYS, {**row, "secret": text}))
        if new:
            self.warnings.append(f"{new} API keys have a new text: the file has none for them")
        if unusable:
            self.warnings.append(
                f"{unusable} API keys are refused here: they were made with another API_KEY_SECRET"
            )
        return sealed

    async def _replace_settings(self, rows: Sequence[Row]) -> None:
        row: Row = rows[0] if rows else {"id": 1, "data": "{}", "secrets": None}
        stored = await self._transaction.fetch("SELECT data, secrets FROM settings WHERE id = 1")
        try:
            if len(rows) > 1 or row["id"] != 1:
                raise BadRequest("The table settings has one row, whose id is 1")
            given = _read_object(row["data"])
            sealed = _read_object(self._secrets.close("settings", row)["secrets"] or "{}")
        except msgspec.DecodeError:
            raise BadRequest("The settings cannot be read") from None
        here: Row = stored[0] if stored else {"data": "{}", "secrets": None}
        kept = _OwnSettings(has_login=self._with_secrets and "password" in sealed)
        data = kept.merge(_read_object(here["data"]), given)
        secrets = kept.merge(_read_object(here["secrets"] or "{}"), sealed)
        await settings_store.write_parts(self._transaction, data, secrets)

    async def _add_to_log(self, loaded: Loaded) -> None:
        columns = tuple(column for column in loaded.columns if column != "id")
        here = set[tuple[Any, ...]]()
        async for page in pages_of(self._transaction, loaded.table):
            here.update(tuple(row[column] for column in columns) for row in page)
        rows = sorted(loaded.rows, key=lambda row: int(row["id"]))
        new = [row for row in rows if tuple(row[column] for column in columns) not in here]
        if new:
            group = NUMBERED[loaded.table.name]
            first = await raise_version(self._transaction, group, len(new)) - len(new) + 1
            numbered = [{**row, "id": number} for number, row in enumerate(new, first)]
            await self.insert(loaded.table, loaded.columns, numbered)

    async def _add_missing(self, loaded: Loaded) -> None:
        stored = await self._transaction.fetch(f"SELECT id FROM {loaded.table.name}")
        here = {row["id"] for row in stored}
        rows = [row for row in loaded.rows if row["id"] not in here]
        await self.insert(loaded.table, loaded.columns, rows)

    async def _check_readable(self) -> None:
        """Read everything as a start would. Raises BadRequest."""
        core = self._core
        database = cast(Database, self._transaction)  # Nothing but queries is used.
        stores = stores_on(database, core.stores.vault, clock=core.clock)
        loader = SnapshotLoader(stores, core.snapshot.registry, Prices(core.clock))
        try:
            check_readable((await loader.load()).settings)
            for key in await stores.keys.list():
                key_of(key)
        except (StorageFull, StorageUnavailable):
            raise
        except Exception as error:
            raise BadRequest(f"The file's configuration cannot be read: {error}") from None

    async def _raise_versions(self) -> None:
        transaction = self._transaction
        for table, group in NUMBERED.items():
            rows = await transaction.fetch(f"SELECT COALESCE(max(id), 0) AS top FROM {table}")
            number = (await read_versions(transaction)).get(group, 0)
            await raise_version(transaction, group, max(1, rows[0]["top"] - number))
        scopes = await transaction.fetch("SELECT DISTINCT scope FROM kv")
        named = {kv.group(row["scope"]) for row in scopes}
        noted = set(await read_versions(transaction)) - set(NUMBERED.values())
        for group in sorted({*GROUPS, *named, *noted}):
            version = await raise_version(transaction, group)
            if group == keys.GROUP:
                await transaction.execute("UPDATE api_keys SET version = :version", version=version)


class _OwnSettings:
    """Which settings stay as they are here."""

    def __init__(self, *, has_login: bool) -> None:
        self._has_login = has_login

    def merge(self, here: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        taken = {key: value for key, value in given.items() if not self._stays(key)}
        return taken | {key: value for key, value in here.items() if self._stays(key)}

    def _stays(self, key: str) -> bool:
        return key.startswith(_OWN_SETTINGS) or (key in _LOGIN and not self._has_login)


async def import_tables(
    core: Collaborators, file: Mapping[str, Loaded], *, with_secrets: bool
) -> Sequence[str]:
    """Replace tables; gives warnings. Raises BadRequest, and nothing was changed then."""
    # Rows that wait would be booked a second time where the file has them already.
    await core.ledger.settle()
    async with core.stores.database.transaction() as transaction:
        importing = Importing(core, transaction, with_secrets=with_secrets)
        await importing.replace(file)
    core.limits.forget()
    return importing.warnings
