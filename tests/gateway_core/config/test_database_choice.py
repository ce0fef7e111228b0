"""What the managed file and the variables ask for."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway_core.config.data_dir import DataDir
from gateway_core.config.database_choice import (
    DatabaseChoice,
    choose_database,
    complete_url,
    legacy_url,
    read_managed,
    write_managed,
)
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import ConfigError, DatabaseUnusable
from gateway_dashboard_api.database.url import describe_url, make_url

ENGINE, URL, SSL = "GATEWAY_DATABASE_ENGINE", "GATEWAY_PG_URL", "GATEWAY_PG_SSLMODE"
A, B = "postgresql://a@h/a", "postgresql://b@h/b"


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[DataDir]:
    with DataDir(tmp_path / "data") as data_dir:
        yield data_dir


@pytest.mark.parametrize(
    ("process", "managed", "chosen"),
    [
        ({}, {}, DatabaseChoice(engine=None)),
        ({ENGINE: "SQLite"}, {}, DatabaseChoice(engine="sqlite")),
        ({ENGINE: "postgres"}, {}, DatabaseChoice(engine="postgres")),
        ({ENGINE: "postgres", URL: "  "}, {}, DatabaseChoice(engine="postgres")),
        ({URL: A, SSL: "disable"}, {}, DatabaseChoice(engine="postgres", url=A, sslmode="disable")),
        ({URL: A}, {URL: B}, DatabaseChoice(engine="postgres", url=B)),
        ({URL: A}, {SSL: "disable"}, DatabaseChoice(engine="postgres", url=A, sslmode="disable")),
        ({URL: A, SSL: "disable"}, {ENGINE: "sqlite"}, DatabaseChoice(engine="sqlite")),
        ({}, {ENGINE: "sqlite", URL: B}, DatabaseChoice(engine="sqlite")),
    ],
)
def test_the_managed_file_wins_over_the_process(
    data_dir: DataDir, process: dict[str, str], managed: dict[str, str], chosen: DatabaseChoice
) -> None:
    if managed:
        write_managed(data_dir, managed)

    assert choose_database(data_dir, from_environ(process)) == chosen


def test_the_managed_file_holds_three_variables_and_nothing_else(data_dir: DataDir) -> None:
    write_managed(data_dir, {ENGINE: "postgres", URL: A})
    path = data_dir.path / "gateway-database.env"
    path.write_text(f"{path.read_text()}PORT=1\n# {SSL}=disable\n  {SSL} = require \nrubbish\n")

    assert read_managed(data_dir) == {ENGINE: "postgres", URL: A, SSL: "require"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(data_dir.path.stat().st_mode) == 0o700


@pytest.mark.parametrize("mark", ["\r", "\n", "\0"])
def test_a_value_with_a_line_end_is_not_written(data_dir: DataDir, mark: str) -> None:
    with pytest.raises(ValueError, match=URL):
        write_managed(data_dir, {URL: f"{A}{mark}PORT=1"})

    assert read_managed(data_dir) == {}


@pytest.mark.parametrize("line", [f"{ENGINE}=oracle", f"{URL}={A}\n{SSL}=perhaps"])
def test_nonsense_in_the_managed_file_stops_the_start(data_dir: DataDir, line: str) -> None:
    (data_dir.path / "gateway-database.env").write_text(line)

    with pytest.raises(ConfigError, match=r"gateway-database\.env"):
        choose_database(data_dir, from_environ({}))


@pytest.mark.parametrize("name", [ENGINE, SSL])
def test_nonsense_in_a_variable_stops_the_start(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        from_environ({name: "nonsense"})


@pytest.mark.parametrize(
    ("url", "sslmode", "complete"),
    [
        (A, "", f"{A}?sslmode=require"),
        (A, "verify-full", f"{A}?sslmode=verify-full"),
        (f"{A}?sslmode=disable", "require", f"{A}?sslmode=disable"),
        (f"{A}?options=x", "disable", f"{A}?options=x&sslmode=disable"),
    ],
)
def test_the_sslmode_of_the_url_comes_first(url: str, sslmode: str, complete: str) -> None:
    assert complete_url(url, sslmode) == complete


@pytest.mark.parametrize("url", ["", "mysql://h/d", "postgresql:///d", "postgresql://h:x/d", "h"])
def test_what_is_no_url_of_postgresql_is_refused(url: str) -> None:
    with pytest.raises(DatabaseUnusable, match="postgresql://"):
        complete_url(url)


def test_what_is_shown_of_a_url_has_no_password() -> None:
    url = make_url("::1", 5433, "my db", "me@x", "p/w:d", "disable")

    assert describe_url(url) == {
        "host": "::1",
        "port": 5433,
        "database": "my db",
        "user": "me@x",
        "sslmode": "disable",
    }
    assert describe_url(complete_url("postgres://u:secret@h"))["port"] == 5432


def test_the_secrets_file_of_an_older_installation_is_read(data_dir: DataDir) -> None:
    assert legacy_url(data_dir) == ""
    for content, url in ((f'{{"postgresUrl": "{A}"}}', A), ("[]", ""), ("{", "")):
        (data_dir.path / "gateway-secrets.json").write_text(content)
        assert legacy_url(data_dir) == url


def test_the_url_is_not_in_the_environments_repr() -> None:
    assert "s3cret" not in repr(from_environ({URL: "postgresql://u:s3cret@h/d"}))
