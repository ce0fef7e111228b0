"""From a data directory to a database that is up to date and a vault that fits it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ..config.data_dir import DataDir
from ..config.errors import DatabaseUnusable, WrongMasterKey
from .database import Database
from .errors import SealBroken, StorageFull, StorageUnavailable
from .migrate import migrate, packaged_migrations
from .moments import Clock
from .sqlite.engine import open_sqlite
from .sqlite.integrity import gone, inspect, read_at_rest
from .vault import Vault

SEALED = (
    ("connections", "secrets"),
    ("settings", "secrets"),
    ("api_keys", "secret"),
    ("proxy_pools", "proxy_url"),
    ("plugin_settings", "secrets"),
    ("tickets", "value"),
)
"""Every table and column that holds sealed text, or nothing."""
_ANY_SEALED = tuple(
    f"SELECT 1 FROM {table} WHERE {name} IS NOT NULL LIMIT 1" for table, name in SEALED
)
_PROOF = "master_key_proof"
_PROOF_TEXT = "gateway"
"""A text in the database that only the right master key opens."""
_SIGNATURE = "master_key_proof.signature"
"""The same key's signature of the sealed text: it is checked without the library that unseals."""
_READ_PROOF = f"SELECT key, value FROM meta WHERE key IN ('{_PROOF}', '{_SIGNATURE}')"
_PUT_PROOF = """
    INSERT INTO meta (key, value) VALUES (:key, :value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""


class Storage(Struct, frozen=True):
    """An open database and the vault for the secrets in it. Whoever opened it closes it."""

    database: Database
    vault: Vault


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Tell what the database does not take while a gateway starts. Raises DatabaseUnusable."""
    try:
        yield
    except StorageFull as error:
        raise DatabaseUnusable(
            f"The database {path} cannot be written: its disk is full, or may only be read. "
            "Make room there, or set DATA_DIR to a directory on another disk."
        ) from error
    except StorageUnavailable as error:
        raise DatabaseUnusable(
            f"The database {path} cannot be used ({error.__cause__ or error}). "
            "See that no other program holds it, and that its disk is sound and has room."
        ) from error


def look_at(data_dir: DataDir) -> None:
    """Look at a database that no gateway has open, and leave it as it is. Raises
    DatabaseUnusable, SecretLost, WrongMasterKey."""
    path, expected = data_dir.database, data_dir.was_started
    if path.exists() and path.stat().st_size:
        inspect(path, expected, at_rest=True)
        if read_at_rest(path, *_ANY_SEALED):
            vault = Vault(data_dir.master_key(mint=False))
            if not _proves(vault, dict(read_at_rest(path, _READ_PROOF))):
                raise _wrong_key(data_dir)
    elif expected:
        raise DatabaseUnusable(gone(path))


async def open_storage(data_dir: DataDir, *, clock: Clock = time.time) -> Storage:
    """Open what a data directory holds, or begin it.

    The data directory is to be acquired before. Raises a StartRefused: for a
    database that is damaged, gone or newer, and for a master key that is
    missing or is not the one the database was sealed with.
    """
    started = data_dir.was_started
    if not started:
        data_dir.touch_database()
    database = await open_sqlite(data_dir.database, expected=started)
    vault = await prepare(database, data_dir, clock)
    try:
        data_dir.mark_started()
    except BaseException:
        await database.close()
        raise
    return Storage(database, vault)


async def prepare(database: Database, data_dir: DataDir, clock: Clock) -> Vault:
    """Bring a database up to date, and give the vault that fits it; closes it if there is none.

    Raises a StartRefused.
    """
    try:
        await migrate(database, packaged_migrations(database.engine), clock)
        sealed = False
        for query in _ANY_SEALED:
            sealed = sealed or bool(await database.fetch(query))
        vault = Vault(data_dir.master_key(mint=not sealed))
        rows = {row["key"]: row["value"] for row in await database.fetch(_READ_PROOF)}
        if not _proves(vault, rows):
            # Other gateways on a PostgreSQL database may be about to seal with the key that fits.
            if sealed or (_PROOF in rows and database.engine == "postgres"):
                raise _wrong_key(data_dir)
            rows[_PROOF] = vault.seal_for("proof").close(
                _PROOF_TEXT, table="meta", column="value", row=_PROOF
            )
        signature = _sign(vault, rows[_PROOF])
        if rows.get(_SIGNATURE) != signature:
            rows[_SIGNATURE] = signature
            values = [{"key": key, "value": value} for key, value in rows.items()]
            await database.execute_many(_PUT_PROOF, values)
    except BaseException:
        await database.close()
        raise
    return vault


def _proves(vault: Vault, rows: Mapping[str, str]) -> bool:
    """Whether these rows of ``meta`` were written with this key.

    An earlier version writes a proof alone, and so a signature of another proof says nothing.
    """
    proof = rows.get(_PROOF, "")
    if proof and rows.get(_SIGNATURE) == _sign(vault, proof):
        return True
    try:
        text = vault.seal_for("proof").open(proof, table="meta", column="value", row=_PROOF)
    except SealBroken:
        return False
    return text == _PROOF_TEXT


def _sign(vault: Vault, proof: str) -> str:
    return vault.key_for(f"proof {proof}").hex()


def _wrong_key(data_dir: DataDir) -> WrongMasterKey:
    return WrongMasterKey(
        f"{data_dir.path / 'master-key'} is not the key that the secrets in the "
        "database were sealed with. Put the right file back from a backup."
    )
