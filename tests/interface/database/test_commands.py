"""The command ``db`` with a running gateway."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_vendor import MockResponse
from served_gateway import Served, serve_gateway

from gateway_cli.main import cli

PASSWORD = "a dashboard password 1"
VARIABLES = {"INITIAL_PASSWORD": PASSWORD, "GATEWAY_PG_SSLMODE": "disable"}


def db(here: Served, folder: Path, *words: str, password: str = PASSWORD) -> Result:
    start = ["--data-dir", str(folder), "db", "--url", here.url, "--password-file", "-"]
    return CliRunner().invoke(cli, [*start, *words], input=f"{password}\n")


def test_a_gateway_moves_there_and_back(tmp_path: Path, url: str) -> None:
    with serve_gateway(tmp_path, {"openai": MockResponse((b"{}",))}, variables=VARIABLES) as here:
        database = here.gateway.core.stores.database

        plan = db(here, tmp_path, "cutover", url, "--sslmode", "disable", "--plan")
        assert plan.exit_code == 0, plan.output
        assert "api_keys" in plan.output
        assert "rows, in about" in plan.output
        assert database.engine == "sqlite"

        moved = db(here, tmp_path, "cutover", url, "--sslmode", "disable")
        assert moved.exit_code == 0, moved.output
        assert "PostgreSQL is served now" in moved.output
        assert database.engine == "postgres"
        assert "postgres" in db(here, tmp_path, "status").output

        refused = db(here, tmp_path, "rollback")
        assert refused.exit_code == 1
        assert "--force" in refused.output
        back = db(here, tmp_path, "rollback", "--force")
        assert "SQLite is served again" in back.output
        assert database.engine == "sqlite"

        log = db(here, tmp_path, "log")
        assert log.exit_code == 0
        assert "rollback" in log.output


def test_without_the_password_nothing_is_shown(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {"openai": MockResponse((b"{}",))}, variables=VARIABLES) as here:
        refused = db(here, tmp_path, "status", password="wrong")

    assert refused.exit_code == 1
    assert "Unauthorized" in refused.output
    assert "sqlite" not in refused.output


@pytest.mark.parametrize("words", [["status"], ["log"]])
def test_without_a_gateway_it_says_so(tmp_path: Path, words: list[str]) -> None:
    start = ["--data-dir", str(tmp_path), "db", "--password-file", "-"]
    refused = CliRunner().invoke(cli, [*start, *words], input="p\n")

    assert refused.exit_code == 1
    assert "No gateway listens" in refused.output
