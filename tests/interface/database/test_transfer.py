"""Exporting a database, and importing it into another gateway."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from own_stores import own_stores
from postgres_servers import VERSIONS, empty_tables
from served_gateway import Served, serve_gateway

from gateway_administration.stores.tickets import Purpose
from gateway_core.identity.credentials import CLI_HEADER

Answer = Callable[[ReceivedRequest], MockResponse]
PASSWORD = "a dashboard password 1"
CHAT = "/v1/chat/completions"
BODY = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}
PATH = "/api/settings/database"
SECRETS = {"API_KEY_SECRET": "the same at every gateway of these tests"}
CANARY = "sk-canary-of-an-account"
OTHER = "http://user:pass-canary@127.0.0.1:9"
MIB = 1024 * 1024


class Desk:
    """An operator of one gateway."""

    def __init__(self, here: Served, http: httpx2.Client) -> None:
        self.here = here
        self.http = http

    @property
    def token(self) -> str:
        return self.here.gateway.core.identity.cli_token

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        more = {} if body is None else {"json": body}
        sent = {CLI_HEADER: self.token, **headers}
        return self.http.request(method, self.here.url + path, headers=sent, **more)

    def make(self, path: str, body: Any) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def export(self, query: str = "?includeSecrets=true") -> Any:
        answer = self.ask("GET", PATH + query, **{"x-gateway-password": PASSWORD})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def put(self, file: Any, password: str = PASSWORD) -> httpx2.Response:
        return self.ask("POST", PATH, {**file, "password": password})

    def select(self, action: str, **members: Any) -> httpx2.Response:
        body = {"action": action, "password": PASSWORD, **members}
        return self.ask("POST", f"{PATH}/selective", body)

    def fill(self) -> str:
        """Something in many tables, secrets too; gives a key."""
        made = self.make("/api/keys", {"name": "ключ 🔑 \x00", "machineId": "m"})
        account = {"provider": "openai", "name": "a", "apiKey": CANARY}
        self.make("/api/connections", account)
        node = {"name": "mine", "prefix": "mine", "baseUrl": "http://127.0.0.1:9/v1"}
        identity = self.make("/api/provider-nodes", node)["node"]["id"]
        self.make("/api/connections", {"provider": identity, "name": "n", "apiKey": CANARY})
        self.make("/api/combos", {"name": "both", "models": ["v-openai/m-1", "mine/x"]})
        self.make("/api/proxy-pools", {"name": "pool", "proxyUrl": OTHER})
        self.make("/api/key-groups", {"name": "red"})
        alias = {"alias": "a", "model": "v-openai/m-1"}
        assert self.ask("PUT", "/api/models/alias", alias).status_code == 200
        changes = {"outboundProxyUrl": OTHER, "comboStrategy": "round-robin", "mine": {"n": 1.5}}
        assert self.ask("PATCH", "/api/settings", changes).status_code == 200
        for _ in range(3):
            call = self.http.post(
                self.here.url + CHAT, json=BODY, headers={"authorization": f"Bearer {made['key']}"}
            )
            assert call.status_code == 200
        self.here.rows()
        self.here.do(own_stores(self.here.gateway.core).tickets.add(_PURPOSE, "t", "value", "me"))
        key: str = made["key"]
        return key


_PURPOSE = Purpose(name="test", lifetime=600)


@pytest.fixture(params=["sqlite", *VERSIONS])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def gateways(
    tmp_path: Path,
    http: httpx2.Client,
    postgres: Callable[[str, str], str],
    vendor_answer: Answer,
) -> Iterator[Callable[..., Desk]]:
    """Opens gateways, each with a database and a master key of its own."""
    with ExitStack() as stack:

        def open_one(engine: str, name: str) -> Desk:
            return stack.enter_context(
                _gateway(tmp_path, http, postgres, vendor_answer, engine, name)
            )

        yield open_one


@contextmanager
def _gateway(
    tmp_path: Path,
    http: httpx2.Client,
    postgres: Callable[[str, str], str],
    vendor_answer: Answer,
    engine: str,
    name: str,
) -> Iterator[Desk]:
    variables = {"INITIAL_PASSWORD": PASSWORD, **SECRETS}
    if engine != "sqlite":
        url = postgres(engine, f"transfer_{name}")
        empty_tables(url, "migrations")
        variables |= {"GATEWAY_PG_URL": url, "GATEWAY_PG_SSLMODE": "disable"}
    with serve_gateway(tmp_path / name, {"openai": vendor_answer}, variables=variables) as served:
        yield Desk(served, http)


def rows_of(file: Any, table: str) -> list[dict[str, Any]]:
    body = file["tables"][table]
    return [dict(zip(body["columns"], row, strict=True)) for row in body["rows"]]


def comparable(file: Any) -> dict[str, Any]:
    """Every row, but for what is a gateway's own: when a key was read in, and its log."""
    found = {name: rows_of(file, name) for name in file["tables"]}
    for row in found["api_keys"]:
        del row["version"]
    for name in ("audit", "database_log"):
        for row in found[name]:
            del row["id"]
        acts = (row for row in found[name] if not row.get("action", "").startswith("database."))
        found[name] = list(acts)
    return found


@pytest.mark.parametrize("target", ["sqlite", VERSIONS[0]])
def test_every_row_arrives_at_a_gateway_with_another_key(
    gateways: Callable[..., Desk], engine: str, target: str
) -> None:
    source, other = gateways(engine, "source"), gateways(target, "target")
    key = source.fill()
    file = source.export()

    answer = other.put(file)

    assert answer.status_code == 200, answer.text
    assert answer.json() == {"success": True, "warnings": []}
    arrived = other.export()
    assert json.loads(json.dumps(comparable(arrived)).replace("\\u0000", "\\ufffd")) == json.loads(
        json.dumps(comparable(file)).replace("\\u0000", "\\ufffd")
    )
    assert len(file["tables"]["usage"]["rows"]) == 3
    accounts = rows_of(arrived, "connections")
    assert {json.loads(row["secrets"])["apiKey"] for row in accounts} == {CANARY}
    assert "tickets" not in file["tables"]
    # It serves with what it got, without a new start.
    assert other.ask("PATCH", "/api/settings", {"requireApiKey": True}).status_code == 200
    for sent, status in ((key, 200), ("sk-m-abcdef-00000000", 401)):
        headers = {"authorization": f"Bearer {sent}"}
        called = other.http.post(other.here.url + CHAT, json=BODY, headers=headers)
        assert called.status_code == status, called.text
    assert len(other.here.rows()) >= 4
    stats = other.ask("GET", "/api/usage/stats?period=all")
    assert stats.status_code == 200, stats.text


def test_an_export_shows_no_secret_unless_it_is_asked_for(
    gateways: Callable[..., Desk], engine: str
) -> None:
    desk = gateways(engine, "source")
    key = desk.fill()

    file = desk.export("")

    text = json.dumps(file)
    assert file["secretsIncluded"] is False
    for secret in (CANARY, "pass-canary", key):
        assert secret not in text
    assert rows_of(file, "connections")[0]["name"] in ("a", "n")


def test_a_file_without_secrets_leaves_keys_and_the_login_as_they_are(
    gateways: Callable[..., Desk], engine: str
) -> None:
    desk = gateways(engine, "source")
    key = desk.fill()
    file = desk.export("")

    answer = desk.put(file)

    assert answer.status_code == 200, answer.text
    after = desk.export()
    assert rows_of(after, "api_keys")[0]["secret"] == key
    # A credential goes to no address that a file names.
    assert {row["secrets"] for row in rows_of(after, "connections")} == {None}
    assert desk.ask("GET", "/api/proxy-pools").status_code == 200


def test_the_database_in_use_is_no_part_of_it(gateways: Callable[..., Desk]) -> None:
    desk = gateways("sqlite", "source")
    file = desk.export()
    (row,) = rows_of(file, "settings") or [{"id": 1, "data": "{}", "secrets": None}]
    data = {**json.loads(row["data"]), "databaseEngine": "postgres", "comboStrategy": "weighted"}
    secrets = {"postgresUrl": "postgresql://evil.example/x"}
    values = [1, json.dumps(data), json.dumps(secrets)]
    file["tables"]["settings"] = {"columns": ["id", "data", "secrets"], "rows": [values]}

    assert desk.put(file).status_code == 200

    (after,) = rows_of(desk.export(), "settings")
    assert json.loads(after["data"]) == {"comboStrategy": "weighted"}
    assert after["secrets"] is None


def _broken(file: Any) -> dict[str, Any]:
    """Files that no gateway takes, by what is wrong with them."""

    def changed(table: str, column: str, value: Any) -> Any:
        copy = json.loads(json.dumps(file))
        body = copy["tables"][table]
        body["rows"][0][body["columns"].index(column)] = value
        return copy

    def with_table(name: str, body: Any) -> Any:
        return {**file, "tables": {**file["tables"], name: body}}

    keys = file["tables"]["api_keys"]
    return {
        "unknown table": with_table("evil", {"columns": ["a"], "rows": []}),
        "own table": with_table("meta", {"columns": ["key", "value"], "rows": []}),
        "unknown column": with_table("kv", {"columns": ["scope", "key", "evil"], "rows": []}),
        "column twice": with_table("kv", {"columns": ["scope", "key", "key"], "rows": []}),
        "column missing": with_table("kv", {"columns": ["scope", "key"], "rows": []}),
        "short row": with_table("kv", {"columns": ["scope", "key", "value"], "rows": [["a"]]}),
        "rows no list": with_table("kv", {"columns": ["scope", "key", "value"], "rows": {}}),
        "row twice": with_table("api_keys", {**keys, "rows": keys["rows"] * 2}),
        "text for a number": changed("usage", "input_tokens", "many"),
        "number too large": changed("usage", "input_tokens", 2**63),
        "no moment": changed("usage", "finished_at", "yesterday"),
        "no json": changed("usage", "dropped", "{"),
        "no json that is read": changed("connections", "data", "[1]"),
        "secrets no object": changed("connections", "secrets", "[1]"),
        "null": changed("combos", "name", None),
        "settings of another id": changed("settings", "id", 2),
        "settings no object": changed("settings", "data", "7"),
        "nodes alone": {**file, "tables": {"nodes": file["tables"]["nodes"]}},
        "newer": {**file, "schemaVersion": 9999},
        "other format": {**file, "format": "another"},
        "no tables": {**file, "tables": []},
        "unknown member": {**file, "evil": 1},
    }


def test_a_file_that_is_not_in_order_changes_nothing(
    gateways: Callable[..., Desk], engine: str
) -> None:
    desk = gateways(engine, "source")
    desk.fill()
    file = desk.export()

    for wrong, broken in _broken(file).items():
        answer = desk.put(broken)
        assert answer.status_code == 400, (wrong, answer.text)
        assert "error" in answer.json()
        assert CANARY not in answer.text

    assert comparable(desk.export()) == comparable(file)


def test_a_body_that_is_no_file_is_refused(gateways: Callable[..., Desk]) -> None:
    desk = gateways("sqlite", "source")
    headers = {CLI_HEADER: desk.token, "content-type": "application/json"}
    whole = json.dumps({**desk.export(), "password": PASSWORD}).encode()

    def endless() -> Iterator[bytes]:
        yield b'{"password": "'
        for _ in range(17):
            yield b"x" * MIB

    sent: list[tuple[Any, int]] = [
        (whole[:-2], 400),
        (b"[" * 100_000, 400),
        (b"\xff", 400),
        (b"x" * (16 * MIB + 1), 413),
        (endless(), 413),
    ]
    for body, status in sent:
        answer = desk.http.post(desk.here.url + PATH, content=body, headers=headers)
        assert answer.status_code == status, answer.text
        if status == 413:
            assert answer.json()["error"] == "Database import is too large"


def test_the_password_is_wanted_and_wrong_ones_lock(gateways: Callable[..., Desk]) -> None:
    desk = gateways("sqlite", "source")
    file = desk.export()
    words = "Unauthorized: CLI token + password or JWT session + password required"

    missing = (desk.ask("GET", PATH), desk.put(file, ""), desk.select("catalog", password=""))
    assert [each.status_code for each in missing] == [401] * 3
    assert {each.json()["error"] for each in missing} == {words}
    alone = desk.http.get(desk.here.url + PATH, headers={"x-gateway-password": PASSWORD})
    assert alone.status_code == 401

    for _ in range(5):
        wrong = desk.put(file, "not this one")
        assert (wrong.status_code, wrong.json()["error"]) == (401, words)
    locked = desk.put(file)
    assert locked.status_code == 429
    assert int(locked.headers["retry-after"]) > 0


def test_single_providers_and_combos_are_taken_over(
    gateways: Callable[..., Desk], engine: str
) -> None:
    source, other = gateways(engine, "source"), gateways("sqlite", "target")
    source.fill()
    catalog = source.select("catalog").json()
    assert {"id": "openai", "name": "OpenAI", "count": 1} in catalog["providers"]
    node = next(each["id"] for each in catalog["providers"] if each["id"] != "openai")
    selection = {"providers": ["openai", node], "combos": ["both"]}

    preview = source.select("preview", selection=selection, includeSecrets=True)
    refused = source.select("export", selection=selection, includeSecrets=True)
    bundle = source.select(
        "export", selection=selection, includeSecrets=True, acknowledgeSecretExport=True
    ).json()
    bare = source.select("export", selection=selection).json()

    assert (preview.status_code, refused.status_code) == (200, 400)
    for shown in (preview.text, json.dumps(bare)):
        assert CANARY not in shown
    assert (bundle["secretsIncluded"], bare["secretsIncluded"]) == (True, False)
    planned = other.select("preview", bundle=bundle).json()
    assert {row["action"] for rows in planned.values() for row in rows} == {"create"}
    assert CANARY not in json.dumps(planned)

    applied = other.select("apply", bundle=bundle)
    again = other.select("apply", bundle=bare, selection={"providers": ["openai"]})

    assert applied.status_code == 200, applied.text
    assert applied.json()["success"] is True
    assert [row["action"] for row in again.json()["connections"]] == ["keep"]
    after = other.export()
    assert rows_of(after, "connections") == rows_of(source.export(), "connections")
    assert [row["name"] for row in rows_of(after, "combos")] == ["both"]
    models = other.http.get(other.here.url + "/v1/models").text
    assert '"both"' in models


def test_a_bundle_leads_no_stored_credential_elsewhere(gateways: Callable[..., Desk]) -> None:
    desk = gateways("sqlite", "source")
    desk.fill()
    before = desk.export()
    node = rows_of(before, "nodes")[0]["id"]
    bundle = desk.select("export", selection={"providers": [node]}).json()
    table = bundle["tables"]["nodes"]
    table["rows"][0][table["columns"].index("base_url")] = "http://127.0.0.1:10/v1"

    moved = desk.select("apply", bundle=bundle)
    named = desk.select("apply", bundle=bundle, selection={"providers": ["nobody"]})
    by_query = desk.ask("POST", f"{PATH}/selective?action=apply", {"password": PASSWORD})
    too_large = desk.select("apply", bundle=bundle, selection={"combos": ["x" * 17 * MIB]})

    assert [each.status_code for each in (moved, named, by_query, too_large)] == [
        409,
        400,
        400,
        413,
    ]
    assert comparable(desk.export()) == comparable(before)


def test_a_combo_whose_name_is_taken_is_a_conflict(gateways: Callable[..., Desk]) -> None:
    source, other = gateways("sqlite", "source"), gateways("sqlite", "target")
    source.fill()
    other.make("/api/combos", {"name": "both", "models": ["v-openai/m-1"]})
    bundle = source.select("export", selection={"providers": ["openai"], "combos": ["both"]}).json()

    answer = other.select("apply", bundle=bundle)

    assert answer.status_code == 409, answer.text
    assert rows_of(other.export(), "connections") == []


def test_what_is_written_meanwhile_is_not_half_in_an_export(
    gateways: Callable[..., Desk], engine: str
) -> None:
    desk = gateways(engine, "source")
    desk.fill()
    database = desk.here.gateway.core.stores.database

    async def read() -> tuple[int, int]:
        async with database.reading() as view:
            first = await view.fetch("SELECT count(*) AS n FROM combos")
            await database.execute("DELETE FROM combos")
            second = await view.fetch("SELECT count(*) AS n FROM combos")
        return first[0]["n"], second[0]["n"]

    assert desk.here.do(read()) == (1, 1)
    assert rows_of(desk.export(), "combos") == []
