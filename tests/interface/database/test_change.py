"""Moving a running gateway to PostgreSQL, and back."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from postgres_servers import VERSIONS, free_port, make_database
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.storage.migrate import packaged_migrations
from gateway_postgres.engine import open_postgres

Answer = Callable[[ReceivedRequest], MockResponse]
PASSWORD = "a dashboard password 1"
CHAT = "/v1/chat/completions"
BODY = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}
VARIABLES = {"INITIAL_PASSWORD": PASSWORD, "GATEWAY_PG_SSLMODE": "disable"}


class Operator:
    """Calls the routes of the database, with what they want."""

    def __init__(self, here: Served, http: httpx2.Client) -> None:
        self.here = here
        self.http = http

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        token = self.here.gateway.core.identity.cli_token
        sent = {CLI_HEADER: token, "x-gateway-password": PASSWORD, **headers}
        more = {} if body is None else {"json": body}
        return self.http.request(method, self.here.url + path, headers=sent, **more)

    def database(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        return self.ask(method, f"/api/settings/database/{path}", body)

    def status(self) -> Any:
        return self.database("GET", "engine").json()

    def fill(self) -> None:
        """Something in many tables, secrets too."""
        for number in range(3):
            body = {"name": f"key {number}", "machineId": "m"}
            assert self.ask("POST", "/api/keys", body).status_code < 300
        account = {"provider": "openai", "name": "a", "apiKey": "sk-canary"}
        assert self.ask("POST", "/api/connections", account).status_code < 300
        combo = {"name": "both", "models": ["v-openai/m-1"]}
        assert self.ask("POST", "/api/combos", combo).status_code < 300
        for _ in range(5):
            assert self.http.post(self.here.url + CHAT, json=BODY).status_code == 200
        self.here.rows()


@pytest.fixture
def here(tmp_path: Path, vendor_answer: Answer) -> Iterator[Served]:
    with serve_gateway(tmp_path / "data", {"openai": vendor_answer}, variables=VARIABLES) as served:
        yield served


@pytest.fixture
def operator(here: Served, http: httpx2.Client) -> Operator:
    return Operator(here, http)


def contents(operator: Operator) -> dict[str, Any]:
    """Every row of every table, but for what a change itself writes."""

    async def read() -> dict[str, Any]:
        database = operator.here.gateway.core.stores.database
        names = [table for table in TABLES if table not in ("settings", "meta", "audit")]
        return {
            name: sorted(map(str, map(dict, await database.fetch(f"SELECT * FROM {name}"))))
            for name in names
        }

    return operator.here.do(read())


TABLES = (
    *("settings", "meta", "audit", "connections", "nodes", "combos", "kv", "usage", "api_keys"),
    *("api_key_connections", "key_days", "key_totals", "request_details", "proxy_pools"),
    *("connection_groups", "key_groups", "plugin_settings", "sessions", "tickets"),
    *("usage_parts", "usage_sums", "former_names"),
)


def test_the_next_start_finds_it(
    tmp_path: Path, http: httpx2.Client, url: str, vendor_answer: Answer
) -> None:
    scripts = {"openai": vendor_answer}
    with serve_gateway(tmp_path / "data", scripts, variables=VARIABLES) as here:
        operator = Operator(here, http)
        operator.fill()
        operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})

    with serve_gateway(tmp_path / "data", scripts, variables=VARIABLES) as again:
        assert again.gateway.core.stores.database.engine == "postgres"
        assert len(again.rows()) == 5
        assert http.post(again.url + CHAT, json=BODY).status_code == 200


def test_everything_is_moved(operator: Operator, here: Served, url: str) -> None:
    operator.fill()
    before = contents(operator)

    answer = operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})

    moved = answer.json()
    assert answer.status_code == 200, answer.text
    assert moved["ok"]
    assert moved["rowsMigrated"] > 10
    assert moved["schemaVersion"] == packaged_migrations("postgres")[-1].number
    assert contents(operator) == before
    status = operator.status()
    assert (status["activeEngine"], status["databaseEngine"]) == ("postgres", "postgres")
    assert status["databaseCutoverAt"]
    assert status["databaseEngineError"] is None
    assert status["snapshots"] == [moved["snapshotPath"]]
    assert Path(moved["snapshotPath"]).name.startswith("data.sqlite.postgres-cutover-")
    assert Path(moved["snapshotPath"]).stat().st_mode & 0o777 == 0o600
    rows = operator.database("GET", "log").json()
    assert [(row["type"], row["ok"]) for row in rows] == [("cutover", 1)]

    assert operator.http.post(here.url + CHAT, json=BODY).status_code == 200
    here.rows()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM usage").fetchone() == (6,)


def test_it_goes_on_under_load_and_loses_no_row(operator: Operator, here: Served, url: str) -> None:
    stop = threading.Event()

    def call() -> tuple[int, int]:
        served = read = 0
        while not stop.is_set():
            served += operator.http.post(here.url + CHAT, json=BODY).status_code == 200
            read += operator.ask("GET", "/api/keys").status_code == 200
        return served, read

    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(call) for _ in range(3)]
        answer = operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})
        stop.set()
        served = sum(each.result()[0] for each in calls)

    assert answer.status_code == 200, answer.text
    here.rows()  # Writes those that wait.
    with psycopg.connect(url) as connection:
        stored = connection.execute(
            "SELECT count(*), count(DISTINCT request_id) FROM usage"
        ).fetchone()
    assert stored == (served, served)


def test_a_dry_run_changes_nothing(operator: Operator, here: Served, url: str) -> None:
    operator.fill()
    body = {"url": url, "sslmode": "disable", "dryRun": True}

    plan = operator.database("POST", "cutover", body).json()

    assert plan["ok"]
    assert plan["dryRun"]
    assert {"name": "api_keys", "rows": 3} in plan["tables"]
    assert plan["estimatedMs"] > 0
    assert operator.status()["activeEngine"] == "sqlite"
    assert operator.status()["snapshots"] == []
    with psycopg.connect(url) as connection:
        query = "SELECT COALESCE(sum(n_live_tup), 0) FROM pg_stat_user_tables WHERE relname='usage'"
        assert connection.execute(query).fetchone() == (0,)


def _newer_schema(connection: psycopg.Connection[Any]) -> None:
    connection.execute("INSERT INTO migrations VALUES (9999, 'later', 'x', 'x')")


def _refuse_rows(connection: psycopg.Connection[Any]) -> None:
    _trigger(connection, "kv", "RAISE EXCEPTION 'no room for this';")


def _swallow_rows(connection: psycopg.Connection[Any]) -> None:
    _trigger(connection, "api_keys", "RETURN NULL;")


def _change_rows(connection: psycopg.Connection[Any]) -> None:
    _trigger(connection, "api_keys", "NEW.name = 'another'; RETURN NEW;")


def _refuse_settings(connection: psycopg.Connection[Any]) -> None:
    when = "IF NEW.data LIKE '%postgres%' THEN RAISE EXCEPTION 'not now'; END IF; RETURN NEW;"
    _trigger(connection, "settings", when)


def _trigger(connection: psycopg.Connection[Any], table: str, body: str) -> None:
    connection.execute(
        f"CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    )
    connection.execute(
        f"CREATE TRIGGER disturb BEFORE INSERT OR UPDATE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION disturb()"
    )


@pytest.mark.parametrize(
    ("disturb", "status", "words"),
    [
        (_newer_schema, 400, "newer version"),
        (_refuse_rows, 500, "no room for this"),
        (_swallow_rows, 500, "api_keys has 0 rows instead of 3"),
        (_change_rows, 500, "the rows of api_keys are not those that were sent"),
        (_refuse_settings, 500, ""),
    ],
)
def test_sqlite_stays_whatever_fails(
    operator: Operator,
    here: Served,
    postgres: Callable[[str, str], str],
    disturb: Callable[[Any], None],
    status: int,
    words: str,
) -> None:
    operator.fill()
    operator.ask("PUT", "/api/models/alias", {"alias": "a", "model": "v-openai/m-1"})
    server = postgres(VERSIONS[0], "elsewhere")
    url = make_database(server, f"disturbed_{disturb.__name__}")
    here.do(_migrated(url))
    with psycopg.connect(url, autocommit=True) as connection:
        disturb(connection)
    before = contents(operator)

    answer = operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})

    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]
    state = operator.status()
    assert (state["activeEngine"], state["databaseEngine"]) == ("sqlite", "sqlite")
    assert words in state["databaseEngineError"]
    assert contents(operator) == before
    (row,) = operator.database("GET", "log").json()
    assert (row["type"], row["ok"]) == ("cutover", 0)
    assert row["errorCode"]
    assert operator.ask("PATCH", "/api/settings", {"cavemanLevel": "lite"}).status_code == 200
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM usage").fetchone() in ((0,), (5,))


async def _migrated(url: str) -> None:
    from gateway_core.storage.migrate import migrate

    database = await open_postgres(url)
    await migrate(database, packaged_migrations("postgres"), lambda: 0.0)
    await database.close()


def test_a_snapshot_that_cannot_be_taken_stops_the_cutover(
    operator: Operator, here: Served, url: str
) -> None:
    backups = here.gateway.core.data_dir.backups
    backups.rmdir()
    backups.write_bytes(b"")

    answer = operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})

    assert answer.status_code == 500
    assert answer.json()["code"] == "snapshot_failed"
    assert operator.status()["activeEngine"] == "sqlite"


@pytest.mark.parametrize("url", ["", "mysql://h/d", "postgresql://u:canary@127.0.0.1:1/d"])
def test_a_database_that_is_not_there_is_the_callers_mistake(operator: Operator, url: str) -> None:
    for path in ("cutover", "test"):
        answer = operator.database("POST", path, {"url": url, "sslmode": "disable"})

        assert answer.status_code == (400 if path == "cutover" else 200)
        assert "canary" not in answer.text
        assert answer.json().get("ok", False) is False
    assert "canary" not in str(operator.status())


def test_a_second_change_is_refused_and_writes_fail_meanwhile(
    operator: Operator, here: Served, url: str
) -> None:
    operator.fill()
    body = {"url": url, "sslmode": "disable"}
    with psycopg.connect(url) as connection, ThreadPoolExecutor(1) as pool:
        here.do(_migrated(url))
        connection.execute("LOCK TABLE usage IN ACCESS EXCLUSIVE MODE")
        first = pool.submit(operator.database, "POST", "cutover", body)
        while (operator.status()["progress"] or {}).get("step") != "copy":
            pass
        second = operator.database("POST", "cutover", body)
        back = operator.database("POST", "rollback", {"force": True})
        written = operator.ask("PATCH", "/api/settings", {"cavemanLevel": "lite"})
        read = operator.ask("GET", "/api/keys")
        connection.rollback()
        moved = first.result()

    assert (second.status_code, second.headers["retry-after"]) == (503, "5")
    assert (back.status_code, back.headers["retry-after"]) == (503, "5")
    assert written.status_code == 503
    assert "database cutover in progress" in written.text
    assert read.status_code == 200
    assert moved.status_code == 200, moved.text


def test_the_way_back_discards_what_came_after(operator: Operator, here: Served, url: str) -> None:
    operator.fill()
    before = contents(operator)
    moved = operator.database("POST", "cutover", {"url": url, "sslmode": "disable"}).json()
    later = operator.ask("POST", "/api/keys", {"name": "later", "machineId": "m"}).json()

    unforced = operator.database("POST", "rollback", {})
    outside = operator.database(
        "POST", "rollback", {"force": True, "snapshotPath": str(here.gateway.core.data_dir.path)}
    )
    back = operator.database("POST", "rollback", {"force": True})

    assert unforced.status_code == 409
    assert unforced.json()["error"] == "rollback_requires_force"
    assert unforced.json()["discardedSince"]
    assert (outside.status_code, outside.json()["error"]) == (500, "snapshot not found")
    assert back.status_code == 200, back.text
    assert back.json()["ok"]
    state = operator.status()
    assert (state["activeEngine"], state["databaseEngine"]) == ("sqlite", "sqlite")
    after = contents(operator)
    assert after["usage"] == before["usage"]
    assert len(after["api_keys"]) == len(before["api_keys"]) == 3
    assert operator.ask("PATCH", "/api/settings", {"requireApiKey": True}).status_code == 200
    refused = operator.http.post(
        here.url + CHAT, json=BODY, headers={"authorization": f"Bearer {later['key']}"}
    )
    assert refused.status_code == 401
    assert operator.ask("POST", "/api/keys", {"name": "x", "machineId": "m"}).status_code < 300
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM api_keys").fetchone() == (4,)
    assert moved["snapshotPath"] in state["snapshots"]
    log = operator.database("GET", "log").json()
    assert [(row["type"], row["ok"]) for row in log] == [("rollback", 1), ("cutover", 1)]
    assert log[1]["rowsMigrated"] == moved["rowsMigrated"]


def test_a_rollback_warns_of_other_gateways_on_the_database(
    operator: Operator, here: Served, url: str, tmp_path: Path, vendor_answer: Answer
) -> None:
    operator.database("POST", "cutover", {"url": url, "sslmode": "disable"})
    alone = operator.database("POST", "rollback", {}).json()
    folder = tmp_path / "other"
    folder.mkdir()
    key = here.gateway.core.data_dir.path / "master-key"
    (folder / "master-key").write_bytes(key.read_bytes())
    variables = {**VARIABLES, "GATEWAY_PG_URL": url}
    with serve_gateway(folder, {"openai": vendor_answer}, variables=variables):
        unforced = operator.database("POST", "rollback", {})
        forced = operator.database("POST", "rollback", {"force": True})

    assert "Other processes" not in alone["warning"]
    assert unforced.status_code == 409
    assert "Other processes use this PostgreSQL database (1)" in unforced.json()["warning"]
    assert forced.status_code == 200, forced.text
    assert "Other processes" in forced.json()["warning"]
    assert operator.status()["activeEngine"] == "sqlite"


def test_the_password_is_wanted_beside_the_token(operator: Operator) -> None:
    path = "/api/settings/database/engine"

    missing = operator.ask("GET", path, **{"x-gateway-password": ""})
    wrong = operator.ask("GET", path, **{"x-gateway-password": "not this one"})
    alone = operator.http.get(operator.here.url + path, headers={"x-gateway-password": PASSWORD})

    assert [each.status_code for each in (missing, wrong, alone)] == [401, 401, 401]
    assert missing.json()["error"] == wrong.json()["error"] == "Unauthorized"


def test_where_the_selection_comes_from_is_shown_without_the_password(
    tmp_path: Path, vendor_answer: Answer, http: httpx2.Client
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    url = f"postgresql://me:canary@127.0.0.1:{free_port()}/mine"
    (folder / "gateway-database.env").write_text("GATEWAY_DATABASE_ENGINE=sqlite\n")
    variables = {**VARIABLES, "GATEWAY_PG_URL": url}
    with serve_gateway(folder, {"openai": vendor_answer}, variables=variables) as here:
        operator = Operator(here, http)
        shown = operator.status()
        refused = operator.database("POST", "cutover", {"url": url})

    start = shown["startupEnv"]
    assert start["exists"]
    assert start["keys"]["GATEWAY_DATABASE_ENGINE"]["source"] == "file"
    assert start["keys"]["GATEWAY_PG_URL"] == {
        "source": None,
        "hasFileValue": False,
        "hasProcessValue": True,
    }
    assert start["effective"]["engine"] == "sqlite"
    assert "canary" not in str(shown)
    assert refused.status_code == 400
