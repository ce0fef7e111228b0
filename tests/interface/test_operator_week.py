"""A week in an operator's life: files, a team, rules, a cache, alerts, an upgrade, PostgreSQL.

In the end the vendor, the ledger and the metrics tell the same sums, and every change is logged.
"""

import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from gateway_process import COMMAND, Running, running, vendor
from postgres_servers import VERSIONS, empty_tables
from prometheus_client.parser import text_string_to_metric_families
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, STREAMED, WHOLE, WORDS

PASSWORD = "a long enough password"
VENDOR_KEY = "vendor-key-1"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
TOKENS = INPUT_TOKENS + OUTPUT_TOKENS
PRICE = 1000.0
"""Dollars for a million tokens, of either kind."""
COST = TOKENS * PRICE / 1_000_000
VARIABLES = {
    "JWT_SECRET": "signs-the-sessions-of-a-week-and-nothing-else",
    "INITIAL_PASSWORD": PASSWORD,
    "GATEWAY_METRICS": "true",
    "GATEWAY_PG_SSLMODE": "disable",
    "GATEWAY_TRUST_PLUGINS": "extension-alerts",
    "LAB_KEY": VENDOR_KEY,
}
FILE = """
version: 1
nodes:
  lab: {{name: Lab, type: openai-compatible, apiType: chat, baseUrl: "{lab}/v1"}}
connections:
  lab:
    main: {{apiKey: "${{env:LAB_KEY}}"}}
aliases:
  best: lab/small
prices:
  lab:
    small: {{input: {price}, output: {price}}}
keyGroups:
  crew: {{}}
keys:
  ada: {{groups: [crew]}}
  bob: {{groups: [crew]}}
  carl: {{groups: [crew], policy: {{monthlyBudget: {budget}}}}}
pluginSettings:
  extension-guardrails:
    rules:
      - {{name: keys, kind: secrets, action: redact, on: requests}}
      - {{name: project, kind: pattern, patterns: [aurora], action: block, on: requests}}
  extension-cache: {{enabled: true}}
  groups:
    groups: [{{name: the crew, keys: [ada, bob, carl], monthlyBudget: {together}}}]
  extension-alerts: {{webhookUrl: "${{env:HOOK}}", everySeconds: 15}}
"""
WAIT_SECONDS = 60
MOST_CALLS = 7
"""What the crew may ask the vendor together."""


class Lab:
    """A vendor; what it was asked is kept."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        if received.headers.get("authorization") != f"Bearer {VENDOR_KEY}":
            return MockResponse((b'{"error":{"message":"wrong key","type":"auth"}}',), 401)
        if received.target.endswith("/models"):
            return MockResponse((b'{"object":"list","data":[{"id":"small"}]}',))
        body = received.json()
        self.texts.append(body["messages"][-1]["content"])
        if body.get("stream"):
            return MockResponse.stream(STREAMED["openai"])
        return MockResponse((WHOLE["openai"],))


class Hook:
    """Where alerts go."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.called = threading.Event()

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        self.events.append(received.json())
        self.called.set()
        return MockResponse((b"ok",))


class Week:
    """The commands of an operator, and the calls of a team."""

    def __init__(self, folder: Path, file: Path, hook: str) -> None:
        self.folder, self.file = folder, file
        self.variables = {**VARIABLES, "HOOK": hook}
        self.data_dir = folder / "data"
        self.keys: dict[str, str] = {}
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.counted: Counter[str] = Counter()
        """What the metrics said, over all starts."""

    def command(self, *words: str, typed: str = "") -> str:
        done = subprocess.run(
            [COMMAND, *words],
            env={**os.environ, "DATA_DIR": str(self.data_dir), **self.variables},
            input=typed,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def api(self, method: str, path: str) -> Any:
        return json.loads(self.command("api", method, path))

    def ask(self, here: Running, who: str, text: str, *, stream: bool = False) -> httpx2.Response:
        """Call the model under its alias, in the chat format."""
        body = {
            "model": "best",
            "temperature": 0,
            "stream": stream,
            "messages": [{"role": "user", "content": text}],
        }
        answer = httpx2.post(
            f"{here.url}/v1/chat/completions",
            json=body,
            headers={"authorization": f"Bearer {self.keys[who]}"},
            timeout=30,
            trust_env=False,
        )
        self.statuses[who, answer.status_code] += 1
        if answer.status_code == 200:
            assert WORDS in answer.text
        return answer

    def count(self) -> None:
        """Take down what the metrics say, as Prometheus does before a restart."""
        for family in text_string_to_metric_families(self.command("api", "GET", "/metrics")):
            for sample in family.samples:
                self.counted[sample.name] += sample.value  # type: ignore[assignment]


@pytest.fixture
def url(postgres: Callable[[str, str], str]) -> str:
    made = postgres(VERSIONS[-1], "week")
    empty_tables(made, "migrations")
    return made


@pytest.fixture
def lab() -> Iterator[tuple[Lab, FakeVendor]]:
    asked = Lab()
    with vendor(asked) as here:
        yield asked, here


@pytest.fixture
def hook() -> Iterator[tuple[Hook, FakeVendor]]:
    told = Hook()
    with vendor(told) as here:
        yield told, here


def test_a_week_in_an_operators_life(
    tmp_path: Path, url: str, lab: tuple[Lab, FakeVendor], hook: tuple[Hook, FakeVendor]
) -> None:
    asked, told = lab[0], hook[0]
    file = tmp_path / "gateway.yaml"
    file.write_text(
        FILE.format(lab=lab[1].url, price=PRICE, budget=2.5 * COST, together=MOST_CALLS * COST)
    )
    week = Week(tmp_path, file, f"{hook[1].url}/hook")

    with running(week.data_dir, variables=week.variables) as here:
        apply_the_file(week)
        the_team_works(week, here, asked)
        week.count()
    look_before_the_upgrade(week)
    with running(week.data_dir, variables=week.variables) as here:
        move_to_postgresql(week, here, url)
        the_budget_ends(week, here)
        assert told.called.wait(WAIT_SECONDS)
        week.count()
        the_sums_agree(week, asked)
        every_change_is_in_the_log(week)

    assert {event["alert"]["values"]["key"] for event in told.events} == {"carl"}


def apply_the_file(week: Week) -> None:
    keys = week.folder / "keys.json"
    week.command("config", "apply", str(week.file), "--new-keys", str(keys))
    week.command("config", "plan", str(week.file))  # Nothing is left to do: exit code 0.
    week.keys = json.loads(keys.read_text())
    assert set(week.keys) == {"ada", "bob", "carl"}


def the_team_works(week: Week, here: Running, asked: Lab) -> None:
    first = week.ask(here, "ada", "How high is the tide?")
    again = week.ask(here, "ada", "How high is the tide?")
    assert [each.headers["x-gateway-cache"] for each in (first, again)] == ["miss", "hit"]
    streamed = [week.ask(here, "ada", "How high is the tide?", stream=True) for _ in range(2)]
    assert streamed[0].text == streamed[1].text
    assert len(asked.texts) == 2

    assert week.ask(here, "bob", f"Is {SECRET} a good key?").status_code == 200
    assert SECRET not in asked.texts[-1]
    assert "a good key?" in asked.texts[-1]
    blocked = week.ask(here, "bob", "Tell me of aurora")
    assert (blocked.status_code, blocked.json()["error"]["code"]) == (400, "guardrail_blocked")
    assert len(asked.texts) == 3

    for question in ("One?", "Two?"):
        assert week.ask(here, "carl", question).status_code == 200


def look_before_the_upgrade(week: Week) -> None:
    assert "Nothing was changed." in week.command("upgrade", "--plan")


def move_to_postgresql(week: Week, here: Running, url: str) -> None:
    words = ("db", "--url", here.url, "--password-file", "-", "cutover", url, "--sslmode")
    moved = week.command(*words, "disable", typed=f"{PASSWORD}\n")
    assert "PostgreSQL is served now" in moved
    kept = week.ask(here, "ada", "How high is the tide?")
    assert kept.headers["x-gateway-cache"] == "hit"


def the_budget_ends(week: Week, here: Running) -> None:
    """The call that passes the budget is the last one; what was spent moved along."""
    assert week.ask(here, "carl", "Three?").status_code == 200
    refused = week.ask(here, "carl", "Four?")
    assert refused.status_code == 429
    assert "budget" in refused.json()["error"]["message"]
    assert week.ask(here, "bob", "Has carl spent it all?").status_code == 200
    together = week.ask(here, "ada", "And the crew?")
    assert together.status_code == 429
    assert together.json()["error"]["message"].startswith('Group "the crew"')


def the_sums_agree(week: Week, asked: Lab) -> None:
    calls = len(asked.texts)
    assert calls == MOST_CALLS
    vendor_sums = {"calls": calls, "tokens": calls * TOKENS, "cost": round(calls * COST, 6)}

    rows = week.api("GET", "/api/usage/history?limit=200")["rows"]
    ledger = {
        "calls": sum(row["attempts"] for row in rows),
        "tokens": sum(row["promptTokens"] + row["completionTokens"] for row in rows),
        "cost": round(sum(row["cost"] for row in rows), 6),
    }
    stats = week.api("GET", "/api/usage/stats?period=all")
    metrics = {
        "calls": week.counted["model_gateway_attempts_total"],
        "tokens": week.counted["model_gateway_tokens_total"],
        "cost": round(week.counted["model_gateway_cost_dollars_total"], 6),
    }
    assert vendor_sums == ledger == metrics
    assert round(stats["totalCost"], 6) == vendor_sums["cost"]
    [crew] = week.api("GET", "/api/group-limits")["groups"]
    assert [round(limit["used"], 6) for limit in crew["limits"]] == [vendor_sums["cost"]]

    answered = sum(times for (_, status), times in week.statuses.items() if status == 200)
    assert sum(row["status"] == "ok" for row in rows) == answered == calls + 3  # of the cache
    by_key = Counter(row["keyName"] for row in rows if row["cost"] > 0)
    assert by_key == {"ada": 2, "bob": 2, "carl": 3}


def every_change_is_in_the_log(week: Week) -> None:
    rows = week.api("GET", "/api/audit?limit=200")["rows"]
    actions: Mapping[str, int] = Counter(row["action"] for row in rows)
    assert actions["key.create"] == 3
    assert SECRET not in str(rows)
    assert VENDOR_KEY not in str(rows)
