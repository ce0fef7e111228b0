"""The store of the settings document: one row, its secret members sealed one by one.

Of a key that is not declared, the secrets inside are sealed and the rest is plain.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from ...config.settings import Settings, check_changes, read_settings, traits
from ...contracts.errors import BadRequest
from ..database import Database, Statements
from ..errors import SealBroken
from ..vault import Seal, Vault
from .secret_members import Document, is_sealed, join, parted
from .versions import raise_version

GROUP = "settings"
TABLE = "settings"
ROW = "1"
LONGEST = 1024 * 1024
"""Characters of the whole document, whatever is put into it."""
_READ = "SELECT data, secrets FROM settings WHERE id = 1"
_WRITE = """
    INSERT INTO settings (id, data, secrets) VALUES (1, :data, :secrets)
    ON CONFLICT (id) DO UPDATE SET data = excluded.data, secrets = excluded.secrets
"""


class SettingsStore:
    """The settings document."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._seals = {purpose: vault.seal_for(purpose) for purpose in ("settings", "mfa")}

    async def read(self) -> Settings:
        """The settings in force. A secret that cannot be opened is in ``Settings.invalid``."""
        plain, sealed = await read_parts(self._database)
        return self._settings(plain, sealed)

    async def document(self) -> Document:
        """What is stored, secrets opened; one that cannot be opened is left out."""
        plain, sealed = await read_parts(self._database)
        return join(plain, self._open_all(sealed)[0])

    async def patch(self, changes: Mapping[str, Any]) -> Settings:
        """Set members, all of them or none, and give the settings now in force.

        ``None`` brings a declared member's default back. Raises BadRequest for
        a value that makes no sense, SealBroken when a secret that cannot be
        opened would be overwritten; setting it to ``None`` gives it up.
        """
        return await self.revise(lambda _: changes)

    async def revise(self, decide: Callable[[Settings], Mapping[str, Any]]) -> Settings:
        """As ``patch``, with changes that depend on what is stored at that very moment.

        Nothing is written when ``decide`` raises.
        """
        async with self._database.transaction() as transaction:
            # Raised before reading, so that two gateways on one database take turns.
            await raise_version(transaction, GROUP)
            plain, sealed = await read_parts(transaction)
            changes = decide(self._settings(plain, sealed))
            check_changes(changes)
            for key, value in changes.items():
                self._set(plain, sealed, key, value)
            await write_parts(transaction, plain, sealed)
        return self._settings(plain, sealed)

    def _settings(self, plain: Document, sealed: Mapping[str, str]) -> Settings:
        opened, broken = self._open_all(sealed)
        settings = read_settings(join(plain, opened))
        return msgspec.structs.replace(settings, invalid=settings.invalid + broken)

    def _set(self, plain: dict[str, Any], sealed: dict[str, str], key: str, value: Any) -> None:
        if key in sealed and value is not None:
            self._open(key, sealed[key])
        plain.pop(key, None)
        sealed.pop(key, None)
        if value is None and (key in traits() or _seals(key)):
            return
        if _seals(key):
            rest, secret = UNSET, value
        else:
            rest, secret = (value, UNSET) if key in traits() else parted(value, is_sealed)
        if rest is not UNSET:
            plain[key] = rest
        if secret is not UNSET:
            text = msgspec.json.encode(secret).decode()
            sealed[key] = self._seal(key).close(text, table=TABLE, column=key, row=ROW)

    def _open_all(self, sealed: Mapping[str, str]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What opens, and the names of what does not."""
        opened, broken = {}, []
        for key, text in sealed.items():
            try:
                opened[key] = self._open(key, text)
            except SealBroken:
                broken.append(key)
        return opened, tuple(broken)

    def _open(self, key: str, text: str) -> Any:
        opened = self._seal(key).open(text, table=TABLE, column=key, row=ROW)
        return msgspec.json.decode(opened)

    def _seal(self, key: str) -> Seal:
        trait = traits().get(key)
        return self._seals[trait.sealed if trait and trait.sealed else "settings"]


def _seals(key: str) -> bool:
    trait = traits().get(key)
    return is_sealed(key) or (trait is not None and trait.sealed is not None)


async def read_parts(statements: Statements) -> tuple[dict[str, Any], dict[str, str]]:
    """The document without its secrets, and the sealed texts by key."""
    rows = await statements.fetch(_READ)
    if not rows:
        return {}, {}
    return msgspec.json.decode(rows[0]["data"]), msgspec.json.decode(rows[0]["secrets"] or "{}")


async def write_parts(
    transaction: Statements, plain: Mapping[str, Any], sealed: Mapping[str, str]
) -> None:
    data = msgspec.json.encode(plain).decode()
    secrets = msgspec.json.encode(sealed).decode() if sealed else None
    if len(data) + len(secrets or "") > LONGEST:
        raise BadRequest(f"The settings may have at most {LONGEST} characters in all")
    await transaction.execute(_WRITE, data=data, secrets=secrets)
