"""Secrets in rows that leave the gateway, or come to it: opened, or sealed with its own key.

```text
connections.secrets, api_keys.secret, proxy_pools.proxy_url    one sealed text each
settings.secrets, plugin_settings.secrets                      an object of sealed texts
```
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core.config.settings import traits
from gateway_core.identity.keys import Mint
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.vault import Seal, Vault

Row = Mapping[str, Any]
KEYS = "api_keys"
_TEXTS: Mapping[str, tuple[str, str]] = {
    "connections": ("secrets", "credentials"),
    KEYS: ("secret", "keys"),
    "proxy_pools": ("proxy_url", "settings"),
}
"""The column, and the purpose of its seal; the row's ``id`` is bound in."""
_OBJECTS: Mapping[str, str] = {"settings": "id", "plugin_settings": "plugin"}
"""The column whose value is bound into each of the seals in ``secrets``."""
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


class Secrets:
    """Opens and seals the secrets of one gateway."""

    def __init__(self, vault: Vault, mint: Mint) -> None:
        self._vault = vault
        self._mint = mint

    def open(self, table: str, row: Row) -> Row:
        """A row with its secrets in the clear; one that cannot be opened is left out."""
        if table in _OBJECTS:
            return {**row, "secrets": self._open_object(table, row)}
        if table not in _TEXTS:
            return row
        column, purpose = _TEXTS[table]
        place = {"table": table, "column": column, "row": row["id"]}
        opened = {**row, column: _open(self._vault.seal_for(purpose), row[column], place)}
        # Each gateway finds a key by a digest that its own master key is part of.
        return {**opened, "digest": None} if table == KEYS else opened

    def close(self, table: str, row: Row) -> Row:
        """The reverse. Raises ValueError for secrets that are not of the shape they have."""
        if table in _OBJECTS:
            return {**row, "secrets": self._close_object(table, row)}
        column, purpose = _TEXTS.get(table, ("", ""))
        text = row.get(column)
        if text is None:
            # No pool without its address may be passed over. A text without a seal cannot be
            # opened, so the pool counts as broken.
            return {**row, column: ""} if table == "proxy_pools" else row
        if table == "connections":
            _read_object(text)
        place = {"table": table, "column": column, "row": row["id"]}
        closed = {**row, column: self._vault.seal_for(purpose).close(text, **place)}
        return {**closed, "digest": self._mint.digest(text).hex()} if table == KEYS else closed

    def without(self, table: str, row: Row) -> Row:
        """A row as it may be shown: without its secrets."""
        if table == "settings":
            never = {key for key, trait in traits().items() if trait.never}
            shown = {k: v for k, v in _read_object(row["data"]).items() if k not in never}
            return {**row, "data": msgspec.json.encode(shown).decode(), "secrets": None}
        if table in _OBJECTS:
            return {**row, "secrets": None}
        if table not in _TEXTS:
            return row
        return {**row, _TEXTS[table][0]: None, **({"digest": None} if table == KEYS else {})}

    def new_key(self) -> str:
        return self._mint.new()

    def is_usable(self, key: str) -> bool:
        """Whether callers are let in with a key: API_KEY_SECRET is part of its check."""
        return self._mint.is_well_formed(key)

    def _open_object(self, table: str, row: Row) -> str | None:
        opened = {}
        for name, sealed in _read_object(row["secrets"] or "{}").items():
            text = _open(self._seal(table, name), sealed, _place(table, row, name))
            if text is not None:
                opened[name] = msgspec.json.decode(text)
        return msgspec.json.encode(opened).decode() if opened else None

    def _close_object(self, table: str, row: Row) -> str | None:
        closed = {}
        for name, value in _read_object(row.get("secrets") or "{}").items():
            text = msgspec.json.encode(value).decode()
            closed[name] = self._seal(table, name).close(text, **_place(table, row, name))
        return msgspec.json.encode(closed).decode() if closed else None

    def _seal(self, table: str, name: str) -> Seal:
        if table == "plugin_settings":
            return self._vault.seal_for("plugin-settings")
        trait = traits().get(name)
        return self._vault.seal_for(trait.sealed if trait and trait.sealed else "settings")


def _open(seal: Seal, sealed: str | None, place: Mapping[str, str]) -> str | None:
    try:
        return None if sealed is None else seal.open(sealed, **place)
    except SealBroken:
        return None


def _place(table: str, row: Row, name: str) -> dict[str, str]:
    return {"table": table, "column": name, "row": str(row[_OBJECTS[table]])}
