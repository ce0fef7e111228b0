"""A day in an operator's life, over HTTP, against a gateway in a process of its own.

Install, log in, change the password, enrol a second factor, add an account,
make keys with limits, hit the limits, read what was used, pause, rotate, export.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pyotp
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from gateway_process import Running, running, vendor
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, WHOLE

PASSWORD = "a long enough password"
VENDOR_KEY = "vendor-key-1"
REMOTE = {"x-forwarded-for": "203.0.113.5"}
"""Headers of a caller behind a proxy."""


def answer(received: ReceivedRequest) -> MockResponse:
    if received.headers.get("authorization") != f"Bearer {VENDOR_KEY}":
        return MockResponse((b'{"error":{"message":"wrong key","type":"auth"}}',), 401)
    if received.target.endswith("/models"):
        return MockResponse((b'{"object":"list","data":[{"id":"small"},{"id":"large"}]}',))
    return MockResponse((WHOLE["openai"],))


class Operator:
    """A person with a browser."""

    def __init__(self, here: Running) -> None:
        self.http = httpx2.Client(
            base_url=here.url, headers={"origin": here.url}, trust_env=False, timeout=30
        )

    def ask(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        response = self.http.request(method, path, json=body)
        assert response.status_code == status, (
            f"{method} {path}: {response.status_code} {response.text}"
        )
        return response.json()


class Program:
    """A client on another machine, with a key."""

    def __init__(self, here: Running, key: str) -> None:
        self.http = httpx2.Client(
            base_url=here.url,
            headers={"authorization": f"Bearer {key}", **REMOTE},
            trust_env=False,
            timeout=30,
        )

    def chat(self, model: str) -> httpx2.Response:
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
        return self.http.post("/v1/chat/completions", json=body)


@pytest.fixture
def lab() -> Iterator[FakeVendor]:
    with vendor(answer) as here:
        yield here


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path, variables={"JWT_SECRET": "s" * 8 + "0123456789abcdef" * 4}) as gateway:
        yield gateway


def test_a_day_in_an_operators_life(here: Running, lab: FakeVendor) -> None:
    operator = Operator(here)
    with operator.http:
        first_login(operator)
        secret = enrol(operator)
        log_in_again(operator, secret)
        node = add_account(operator, lab)
        small = make_key(
            operator, rpmLimit=2, modelAccess={"mode": "allow", "patterns": ["lab/s*"]}
        )
        hit_the_limits(here, small)
        read_what_was_used(operator, here, small, node)
        pause_and_rotate(operator, here, small)
        take_it_along(operator)


def first_login(operator: Operator) -> None:
    """The built-in password only allows setting another one."""
    assert operator.ask("GET", "/api/auth/status")["usingDefaultPassword"] is True
    operator.ask("GET", "/api/keys", status=401)
    reply = operator.ask("POST", "/api/auth/login", {"password": "123456"}, status=403)
    change = {"proof": reply["proof"], "newPassword": PASSWORD}
    operator.ask("POST", "/api/auth/change-password", change)
    assert operator.ask("GET", "/api/auth/status")["authenticated"] is True


def enrol(operator: Operator) -> str:
    made = operator.ask("POST", "/api/auth/mfa/setup", {"password": PASSWORD})
    code = pyotp.TOTP(made["secret"]).now()
    body = {"password": PASSWORD, "secret": made["secret"], "code": code}
    codes = operator.ask("POST", "/api/auth/mfa/enable", body)["backupCodes"]
    assert len(codes) == 10
    return str(codes[0])


def log_in_again(operator: Operator, backup_code: str) -> None:
    operator.ask("POST", "/api/auth/logout")
    operator.ask("GET", "/api/keys", status=401)
    received = operator.ask("POST", "/api/auth/login", {"password": PASSWORD})
    assert received["mfaRequired"] is True
    operator.ask("GET", "/api/keys", status=401)
    reply = operator.ask("POST", "/api/auth/mfa/verify", {"code": backup_code})
    assert reply["backupCodesRemaining"] == 9


def add_account(operator: Operator, lab: FakeVendor) -> str:
    node = {
        "name": "Lab",
        "prefix": "lab",
        "type": "openai-compatible",
        "apiType": "chat",
        "baseUrl": f"{lab.url}/v1",
    }
    identity = operator.ask("POST", "/api/provider-nodes", node, status=201)["node"]["id"]
    account = {"provider": identity, "name": "main", "apiKey": VENDOR_KEY}
    saved = operator.ask("POST", "/api/connections", account, status=201)["connection"]
    assert VENDOR_KEY not in str(saved)
    assert operator.ask("POST", f"/api/providers/{saved['id']}/test")["valid"] is True
    combo = {"name": "team", "models": ["lab/large", "lab/small"]}
    operator.ask("POST", "/api/combos", combo, status=201)
    return str(identity)


def make_key(operator: Operator, **policy: Any) -> dict[str, Any]:
    body = {"name": "program", "machineId": "any", "policy": policy}
    made: dict[str, Any] = operator.ask("POST", "/api/keys", body, status=201)
    listed = operator.ask("GET", "/api/keys")["keys"]
    assert [row["maskedKey"][:3] for row in listed] == ["sk-"]
    assert made["key"] not in str(listed)
    assert operator.ask("GET", f"/api/keys/{made['id']}/reveal") == {"key": made["key"]}
    return made


def hit_the_limits(here: Running, key: dict[str, Any]) -> None:
    program, unknown = Program(here, key["key"]), Program(here, "sk-0123abcd")
    with program.http, unknown.http:
        shown = [row["id"] for row in program.http.get("/v1/models").json()["data"]]
        written = [program.chat(name) for name in ("lab/small", "lab/large", "team", "lab/small")]
        stranger = unknown.chat("lab/small")

    assert "team" in shown
    assert [each.status_code for each in written] == [200, 403, 200, 429]
    assert "requests/minute" in written[3].json()["error"]["message"]
    assert 0 < int(written[3].headers["retry-after"]) <= 60
    assert (stranger.status_code, stranger.json()["error"]["message"]) == (401, "Invalid API key")


def read_what_was_used(operator: Operator, here: Running, key: dict[str, Any], node: str) -> None:
    stats = operator.ask("GET", "/api/usage/stats?period=today")
    assert stats["byProvider"][node]["requests"] == 2
    history = operator.ask("GET", f"/api/usage/history?provider={node}")
    assert history["total"] == 2
    windows = operator.ask("GET", f"/api/keys/usage?apiKeyId={key['id']}")["usage"][key["id"]]
    assert windows["rpm"] == {"used": 2, "limit": 2}
    program = Program(here, key["key"])
    with program.http:
        mine = program.http.get("/api/usage/me").json()
        settings = program.http.get("/api/settings").json()
        other = program.http.post("/api/keys", json={"name": "x", "machineId": "y"})
    assert mine["usage"]["lifetime"]["totalTokens"] == 2 * (INPUT_TOKENS + OUTPUT_TOKENS)
    assert "requireLogin" not in settings
    assert other.status_code == 403


def pause_and_rotate(operator: Operator, here: Running, old: dict[str, Any]) -> None:
    path = f"/api/keys/{old['id']}"
    program = Program(here, old["key"])
    with program.http:
        operator.ask("PUT", path, {"isActive": False})
        assert program.chat("lab/small").status_code == 401
        operator.ask("PUT", path, {"isActive": True, "rpmLimit": 0})
        assert program.chat("lab/small").status_code == 200
        body = {"name": "program, new", "machineId": "any"}
        new = operator.ask("POST", "/api/keys", body, status=201)
        operator.ask("DELETE", path)
        assert program.chat("lab/small").status_code == 401
    successor = Program(here, new["key"])
    with successor.http:
        assert successor.chat("lab/large").status_code == 200


def take_it_along(operator: Operator) -> None:
    exported = operator.ask("GET", "/api/logs/export?hours=1")
    assert exported["type"] == "request-logs"
    actions = [row["action"] for row in operator.ask("GET", "/api/audit?limit=200")["rows"]]
    assert {"key.create", "key.delete", "key.reveal"} <= set(actions)
    operator.ask("POST", "/api/usage/reset", {"period": "all"})
    assert operator.ask("GET", "/api/usage/stats?period=all")["totalRequests"] == 0
    operator.ask("POST", "/api/auth/logout")
    operator.ask("GET", "/api/keys", status=401)
