"""Taking a forgotten password or a lost second factor away from the command line, with a gateway
running and without."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec import Struct
from served_gateway import serve_gateway

from gateway_administration.stores import admin_stores_on
from gateway_cli.main import cli
from gateway_core.config.data_dir import DataDir
from gateway_core.config.settings import Settings
from gateway_core.storage.stores import open_stores

STORED: dict[str, Any] = {
    "password": "a-hash-canary",
    "passwordSessionEpoch": "old",
    "mfaEnabled": True,
    "mfaSecret": "mfa-canary",
    "mfaBackupCodes": ["a-backup-canary"],
}


def is_without_password(settings: Settings) -> bool:
    gone = settings.password is None and settings.password_session_epoch not in (None, "old")
    return gone and settings.mfa_enabled and settings.mfa_secret == "mfa-canary"


def is_without_second_factor(settings: Settings) -> bool:
    gone = not settings.mfa_enabled and settings.mfa_secret == "" and not settings.mfa_backup_codes
    stays = settings.password == STORED["password"] and settings.password_session_epoch == "old"
    return gone and stays


class Command(Struct, frozen=True):
    name: str
    says: str
    action: str
    is_done: Callable[[Settings], bool]

    def run(self, folder: Path, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--data-dir", str(folder), self.name, *arguments])


COMMANDS = (
    Command("reset-password", "second factor stays", "password.reset", is_without_password),
    Command(
        "reset-second-factor", "password alone signs in", "mfa.reset", is_without_second_factor
    ),
)


@pytest.fixture(params=COMMANDS, ids=lambda command: command.name)
def command(request: pytest.FixtureRequest) -> Command:
    found: Command = request.param
    return found


def kept(folder: Path, changes: dict[str, Any]) -> tuple[Settings, list[tuple[str, str]]]:
    """Change what is stored; gives the settings and the audit trail after that."""

    async def look() -> tuple[Settings, list[tuple[str, str]]]:
        with DataDir(folder) as data_dir:
            stores = await open_stores(data_dir)
            try:
                settings = await stores.settings.patch(changes)
                rows, _ = await admin_stores_on(stores).audit.page()
                return settings, [(row.actor, row.action) for row in rows]
            finally:
                await stores.close()

    return asyncio.run(look())


def test_without_a_gateway_the_data_directory_is_changed(tmp_path: Path, command: Command) -> None:
    kept(tmp_path, STORED)

    reported = command.run(tmp_path)

    settings, audited = kept(tmp_path, {})
    assert reported.exit_code == 0, reported.output
    assert command.says in reported.output
    assert command.is_done(settings)
    assert audited == [("cli", command.action)]


def test_a_directory_that_no_gateway_has_used_is_not_taken_for_its_data(
    tmp_path: Path, command: Command
) -> None:
    reported = command.run(tmp_path / "elsewhere")

    assert reported.exit_code == 1
    assert f"There is no gateway's data in {tmp_path / 'elsewhere'}" in reported.output
    assert not (tmp_path / "elsewhere" / "db" / "data.sqlite").exists()


def test_a_gateway_that_runs_is_asked(tmp_path: Path, command: Command) -> None:
    kept(tmp_path, STORED)
    with serve_gateway(tmp_path, {}) as here:
        reported = command.run(tmp_path, "--url", here.url)

        in_force = here.gateway.core.snapshot.settings
    assert reported.exit_code == 0, reported.output
    assert command.is_done(in_force)
    assert kept(tmp_path, {})[1] == [("cli", command.action)]


def test_a_gateway_that_cannot_be_found_is_to_be_named(tmp_path: Path, command: Command) -> None:
    kept(tmp_path, STORED)
    with DataDir(tmp_path):
        reported = command.run(tmp_path, "--url", "http://127.0.0.1:9")

    assert reported.exit_code == 1
    assert (
        "No gateway answers at http://127.0.0.1:9: the gateway could not be reached. St"
        in reported.output
    )
    assert not command.is_done(kept(tmp_path, {})[0])


def test_another_gateway_is_not_taken_for_this_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, command: Command
) -> None:
    other = tmp_path_factory.mktemp("other")
    kept(tmp_path, STORED)
    kept(other, STORED)
    with DataDir(tmp_path), serve_gateway(other, {}) as here:
        reported = command.run(tmp_path, "--url", here.url)

    assert reported.exit_code == 1
    assert "is not the gateway" in reported.output
    assert not command.is_done(kept(other, {})[0])
