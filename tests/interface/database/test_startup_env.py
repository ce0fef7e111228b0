"""The file that selects the database of the next start."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse
from postgres_servers import free_port
from served_gateway import Served, serve_gateway

from gateway_core.config.database_choice import MANAGED
from gateway_core.identity.credentials import CLI_HEADER

PASSWORD = "a dashboard password 1"
PLACE = {"host": "db.example", "database": "gw", "user": "me", "password": "p@ss canary"}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    variables = {"INITIAL_PASSWORD": PASSWORD}
    with serve_gateway(tmp_path, {"openai": MockResponse((b"{}",))}, variables=variables) as served:
        yield served


def ask(
    here: Served, http: httpx2.Client, method: str, body: Any = None, query: str = "", **more: str
) -> httpx2.Response:
    token = here.gateway.core.identity.cli_token
    headers = {CLI_HEADER: token, "x-gateway-password": PASSWORD, **more}
    url = f"{here.url}/api/settings/database/startup-env{query}"
    return http.request(method, url, headers=headers, **({} if body is None else {"json": body}))


def test_it_is_written_shown_without_its_password_and_removed(
    here: Served, http: httpx2.Client, tmp_path: Path
) -> None:
    written = ask(here, http, "POST", {"engine": "postgres", **PLACE})

    assert written.status_code == 200, written.text
    answer = written.json()
    assert (answer["ok"], answer["restartRequired"]) == (True, True)
    assert answer["startupEnv"]["exists"] is True
    effective = answer["startupEnv"]["effective"]
    assert effective == {
        **{name: PLACE[name] for name in ("host", "database", "user")},
        "engine": "postgres",
        "port": 5432,
        "sslmode": "require",
    }
    assert "canary" not in written.text
    assert stat.S_IMODE((tmp_path / MANAGED).stat().st_mode) == 0o600
    assert "p%40ss%20canary@db.example:5432/gw" in (tmp_path / MANAGED).read_text()

    removed = ask(here, http, "DELETE")
    assert removed.json()["startupEnv"]["exists"] is False
    assert not (tmp_path / MANAGED).exists()
    assert ask(here, http, "DELETE").status_code == 200


def test_sqlite_is_selected(here: Served, http: httpx2.Client, tmp_path: Path) -> None:
    assert ask(here, http, "POST", {"engine": "sqlite"}).status_code == 200
    assert (tmp_path / MANAGED).read_text() == "GATEWAY_DATABASE_ENGINE=sqlite\n"


@pytest.mark.parametrize(
    "body",
    [
        {"engine": "other"},
        {"engine": "postgres"},
        {"engine": "postgres", **PLACE, "port": 0},
        {"engine": "postgres", **PLACE, "sslmode": "prefer"},
        {"engine": "postgres", **PLACE, "host": "a\nGATEWAY_PG_SSLMODE=disable"},
    ],
)
def test_what_cannot_be_is_refused(
    here: Served, http: httpx2.Client, tmp_path: Path, body: Any
) -> None:
    assert ask(here, http, "POST", body).status_code == 400
    assert not (tmp_path / MANAGED).exists()


def test_a_test_writes_nothing(here: Served, http: httpx2.Client, tmp_path: Path) -> None:
    place = {**PLACE, "host": "127.0.0.1", "port": free_port()}

    tested = ask(here, http, "POST", {"engine": "postgres", **place}, "?test=1")

    assert tested.json().get("ok") is False, tested.text
    assert "canary" not in tested.text
    assert not (tmp_path / MANAGED).exists()


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_without_the_password_nothing_is_done(
    here: Served, http: httpx2.Client, tmp_path: Path, method: str
) -> None:
    refused = ask(here, http, method, {"engine": "sqlite"}, **{"x-gateway-password": "wrong"})

    assert refused.status_code == 401
    assert not (tmp_path / MANAGED).exists()
