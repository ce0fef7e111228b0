"""The store of plugins' settings: a document for each plugin, its secret members sealed one by one.

The store knows no plugin's declaration: whoever writes says which members are
secret. Members that nobody declares any more stay until the document is cleared.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from ...contracts.errors import BadRequest
from ..database import Database, Row
from ..errors import SealBroken
from ..vault import Seal, Vault
from .plugin_document import NOTHING, PluginDocument
from .versions import raise_version

GROUP = "plugin_settings"
TABLE = "plugin_settings"
LONGEST = 1024 * 1024
"""Characters of one plugin's whole document."""
_READ = "SELECT data, secrets FROM plugin_settings WHERE plugin = :plugin"
_WRITE = """
    INSERT INTO plugin_settings (plugin, data, secrets) VALUES (:plugin, :data, :secrets)
    ON CONFLICT (plugin) DO UPDATE SET data = excluded.data, secrets = excluded.secrets
"""


class PluginSettingsStore:
    """The documents, by plugin."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._seal = vault.seal_for("plugin-settings")

    async def all(self) -> Mapping[str, PluginDocument]:
        rows = await self._database.fetch("SELECT * FROM plugin_settings ORDER BY plugin")
        return {row["plugin"]: _document(self._seal, row["plugin"], row) for row in rows}

    async def get(self, plugin: str) -> PluginDocument:
        """A plugin's document; an empty one when nothing is stored."""
        rows = await self._database.fetch(_READ, plugin=plugin)
        return _document(self._seal, plugin, rows[0]) if rows else NOTHING

    async def patch(
        self, plugin: str, changes: Mapping[str, Any], secret: Collection[str] = ()
    ) -> None:
        """Set members, all of them or none; UNSET removes one.

        Every member that is named in ``secret`` is sealed, also one that is
        not changed. Raises BadRequest when the document gets too long.
        """
        async with self._database.transaction() as transaction:
            # Raised before reading, so that two gateways on one database take turns.
            await raise_version(transaction, GROUP)
            rows = await transaction.fetch(_READ, plugin=plugin)
            plain, sealed = _read(rows[0]) if rows else ({}, {})
            for name, value in changes.items():
                plain.pop(name, None)
                sealed.pop(name, None)
                if value is not UNSET:
                    plain[name] = value
            for name in sorted(plain.keys() & set(secret)):
                text = msgspec.json.encode(plain.pop(name)).decode()
                sealed[name] = self._seal.close(text, table=TABLE, column=name, row=plugin)
            data = msgspec.json.encode(plain).decode()
            secrets = msgspec.json.encode(sealed).decode() if sealed else None
            if len(data) + len(secrets or "") > LONGEST:
                raise BadRequest(
                    f"The settings of a plugin may have at most {LONGEST} characters in all"
                )
            await transaction.execute(_WRITE, plugin=plugin, data=data, secrets=secrets)

    async def clear(self, plugin: str) -> bool:
        """Remove a plugin's document; gives whether there was one."""
        async with self._database.transaction() as transaction:
            gone = await transaction.execute(
                "DELETE FROM plugin_settings WHERE plugin = :plugin", plugin=plugin
            )
            if gone:
                await raise_version(transaction, GROUP)
            return bool(gone)


def _read(row: Row) -> tuple[dict[str, Any], dict[str, str]]:
    return msgspec.json.decode(row["data"]), msgspec.json.decode(row["secrets"] or "{}")


def _document(seal: Seal, plugin: str, row: Row) -> PluginDocument:
    members, sealed = _read(row)
    broken = []
    for name, text in sealed.items():
        try:
            opened = seal.open(text, table=TABLE, column=name, row=plugin)
        except SealBroken:
            broken.append(name)
        else:
            members[name] = msgspec.json.decode(opened)
    return PluginDocument(members=members, broken=tuple(broken))
