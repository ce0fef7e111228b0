"""A gateway on PostgreSQL: chat, the management API, and a server that goes away."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from certificates import issue
from encrypted_postgres import encrypted
from fake_vendor import MockResponse, ReceivedRequest
from postgres_servers import free_port, own_server
from served_gateway import Served, serve_gateway

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.identity.credentials import CLI_HEADER

Answer = Callable[[ReceivedRequest], MockResponse]
PATH = "/v1/chat/completions"
BODY = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}


def on_postgres(url: str) -> dict[str, str]:
    return {"GATEWAY_PG_URL": url, "GATEWAY_PG_SSLMODE": "disable"}


@pytest.fixture
def here(tmp_path: Path, url: str, vendor_answer: Answer) -> Iterator[Served]:
    scripts = {"openai": vendor_answer}
    with serve_gateway(tmp_path / "data", scripts, variables=on_postgres(url)) as served:
        yield served


def admin(here: Served) -> dict[str, str]:
    return {CLI_HEADER: here.gateway.core.identity.cli_token}


def test_chat_is_served_and_booked(here: Served, http: httpx2.Client, url: str) -> None:
    whole = http.post(here.url + PATH, json=BODY)
    streamed = http.post(here.url + PATH, json={**BODY, "stream": True})

    assert whole.status_code == streamed.status_code == 200
    assert streamed.content.endswith(b"[DONE]\n\n")
    assert [(row.status, row.stream) for row in here.rows()] == [("ok", True), ("ok", False)]
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM usage").fetchone() == (2,)


def test_the_management_api_keeps_its_rows_there(
    here: Served, http: httpx2.Client, url: str
) -> None:
    def ask(method: str, path: str, **body: Any) -> Any:
        answer = http.request(
            method, here.url + path, headers=admin(here), **({"json": body} if body else {})
        )
        assert answer.status_code < 300, answer.text
        return answer.json()

    made = ask("POST", "/api/keys", name="first", machineId="m")
    ask("PATCH", "/api/settings", requireApiKey=True, comboStrategy="round-robin")
    refused = http.post(here.url + PATH, json=BODY)
    served = http.post(
        here.url + PATH, json=BODY, headers={"authorization": f"Bearer {made['key']}"}
    )
    used = ask("GET", "/api/usage/stats?period=24h")

    assert refused.status_code == 401
    assert served.status_code == 200
    assert "first" in json.dumps(ask("GET", "/api/keys"))
    assert ask("GET", "/api/settings")["comboStrategy"] == "round-robin"
    assert ask("GET", "/api/audit")["total"] >= 2
    assert "v-openai" in json.dumps(used)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT name FROM api_keys").fetchall() == [("first",)]


def test_no_row_is_lost_while_the_server_is_away(tmp_path: Path, vendor_answer: Answer) -> None:
    with own_server() as server, httpx2.Client(trust_env=False, timeout=30) as http:
        server.start()
        variables = on_postgres(server.url)
        with serve_gateway(
            tmp_path / "data", {"openai": vendor_answer}, variables=variables
        ) as here:

            def call(_: int) -> int:
                return http.post(here.url + PATH, json=BODY).status_code

            with ThreadPoolExecutor(4) as pool:
                before = list(pool.map(call, range(20)))
                server.stop()
                away = list(pool.map(call, range(20)))
                server.start()
                after = list(pool.map(call, range(20)))
            rows = here.rows()

        ids = {row.request_id for row in rows}
        assert {*before, *away, *after} == {200}
        assert len(rows) == len(ids) == 60


def test_rows_of_a_gateway_that_stopped_meanwhile_are_written_at_the_next_start(
    tmp_path: Path, vendor_answer: Answer
) -> None:
    scripts = {"openai": vendor_answer}
    with own_server() as server, httpx2.Client(trust_env=False, timeout=30) as http:
        server.start()
        variables = on_postgres(server.url)
        with serve_gateway(tmp_path / "data", scripts, variables=variables) as here:
            http.post(here.url + PATH, json=BODY)
            here.rows()
            server.stop()
            http.post(here.url + PATH, json=BODY)
        server.start()

        with serve_gateway(tmp_path / "data", scripts, variables=variables) as here:
            assert len({row.request_id for row in here.rows()}) == len(here.rows()) == 2


def test_a_gateway_on_postgres_alone_does_not_start_without_it(
    tmp_path: Path, vendor_answer: Answer
) -> None:
    variables = on_postgres(f"postgresql://u:canary@127.0.0.1:{free_port()}/d")

    with (
        pytest.raises(DatabaseUnusable) as refused,
        serve_gateway(tmp_path / "data", {"openai": vendor_answer}, variables=variables),
    ):
        pass

    assert "canary" not in str(refused.value)


def test_the_servers_certificate_is_verified(tmp_path: Path, vendor_answer: Answer) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    issued, strange = issue(mine), issue(other)
    scripts = {"openai": vendor_answer}
    with own_server(password="canary") as server, encrypted(server.port, issued) as front:
        server.start()
        url = server.url.replace(f":{server.port}/", f":{front.port}/")
        trusting = f"{url}?sslrootcert={issued.authority}"

        def is_encrypted(url: str, sslmode: str) -> bool:
            before = front.encrypted
            variables = {"GATEWAY_PG_URL": url, "GATEWAY_PG_SSLMODE": sslmode}
            with serve_gateway(tmp_path / "data", scripts, variables=variables) as here:
                here.do(here.gateway.core.stores.settings.read())
            return front.encrypted > before

        assert is_encrypted(trusting, "verify-full")
        assert is_encrypted(url, "require")
        assert is_encrypted(f"{url}?sslmode=require", "disable")
        assert not is_encrypted(url, "disable")
        for wrong in (
            url,  # Its authority is not one that the machine trusts.
            f"{url}?sslrootcert={strange.authority}",
            trusting.replace("127.0.0.1", "127.0.0.2"),
        ):
            with pytest.raises(DatabaseUnusable) as refused:
                is_encrypted(wrong, "verify-full")
            assert "certificate" in str(refused.value)
            assert "canary" not in str(refused.value)
