"""Two gateways with data directories of their own on one PostgreSQL database."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import psycopg
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from postgres_servers import VERSIONS, empty_tables
from served_gateway import Served, serve_gateway
from vendor_answers import WHOLE

from gateway_core.identity.credentials import CLI_HEADER

CHAT = "/v1/chat/completions"
BODY = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}
SEAL = "5e" * 32
SHARED = {
    "API_KEY_SECRET": "a-canary-that-signs-keys-of-every-replica",
    "JWT_SECRET": "a-canary-that-signs-sessions-of-every-replica",
    "GATEWAY_PG_SSLMODE": "disable",
}


class Pair(NamedTuple):
    """Gateways that share what the Helm chart shares."""

    one: Served
    other: Served
    url: str


def answer(received: ReceivedRequest) -> MockResponse:
    return MockResponse((WHOLE["openai"],))


@pytest.fixture
def pair(tmp_path: Path, postgres: Callable[[str, str], str]) -> Iterator[Pair]:
    url = postgres(VERSIONS[0], "replicas")
    empty_tables(url, "migrations")
    variables = {**SHARED, "GATEWAY_PG_URL": url}
    with ExitStack() as stack:
        served = []
        for name in ("one", "other"):
            folder = tmp_path / name
            folder.mkdir(mode=0o700)
            (folder / "master-key").write_text(SEAL)
            gateway = serve_gateway(folder, {"openai": answer}, variables=variables)
            served.append(stack.enter_context(gateway))
        yield Pair(*served, url)


def ask(here: Served, method: str, path: str, body: Any = None) -> Any:
    headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
    more = {} if body is None else {"json": body}
    done = httpx2.request(
        method, here.url + path, headers=headers, trust_env=False, timeout=30, **more
    )
    assert done.status_code < 300, done.text
    return done.json()


def call(here: Served, key: str = "") -> int:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    done = httpx2.post(here.url + CHAT, json=BODY, headers=headers, trust_env=False, timeout=30)
    return done.status_code


def until(holds: Callable[[], bool]) -> float:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < 10
    return time.monotonic() - begun


def test_what_one_changes_counts_at_the_other_within_seconds(pair: Pair) -> None:
    key = ask(pair.one, "POST", "/api/keys", {"name": "first", "machineId": "m"})["key"]
    ask(pair.one, "PATCH", "/api/settings", {"requireApiKey": True})
    account = {"provider": "openai", "name": "sealed at one", "apiKey": "sk-canary"}
    ask(pair.one, "POST", "/api/connections", account)

    refused = until(lambda: call(pair.other) == 401)
    taken = until(lambda: call(pair.other, key) == 200)
    opened = until(lambda: "sk-canary" in secrets(pair.other))

    assert max(refused, taken, opened) < 3


def test_a_limit_by_the_month_counts_what_the_other_has_booked(pair: Pair) -> None:
    body = {"name": "two", "machineId": "m", "policy": {"monthlyRequestLimit": 2}}
    key = ask(pair.one, "POST", "/api/keys", body)["key"]
    until(lambda: key_is_known(pair.other, key))
    assert [call(pair.one, key), call(pair.one, key)] == [200, 200]
    pair.one.rows()  # They are booked.

    assert call(pair.other, key) == 429


def key_is_known(here: Served, key: str) -> bool:
    headers = {"authorization": f"Bearer {key}"}
    done = httpx2.get(f"{here.url}/v1/models", headers=headers, trust_env=False, timeout=30)
    return done.status_code == 200


def test_wrong_passwords_are_counted_together(pair: Pair) -> None:
    guesses = [guess(here) for here in (pair.one, pair.other, pair.one, pair.other, pair.one)]

    assert set(guesses) == {401}
    assert guess(pair.other) == guess(pair.one) == 429


def guess(here: Served) -> int:
    url, body = f"{here.url}/api/auth/login", {"password": "not this one"}
    headers = {"origin": here.url}
    done = httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=30)
    return done.status_code


def secrets(here: Served) -> list[str | None]:
    accounts = here.gateway.core.snapshot.accounts.get("openai", ())
    return [account.credential.secret for account in accounts]


def test_rows_of_both_are_in_one_ledger(pair: Pair) -> None:
    for here in (pair.one, pair.other, pair.other):
        assert call(here) == 200

    first, second = pair.one.rows(), pair.other.rows()

    with psycopg.connect(pair.url) as connection:
        assert connection.execute("SELECT count(*) FROM usage").fetchone() == (3,)
    assert len(second) == 3
    assert {row.request_id for row in first} <= {row.request_id for row in second}
