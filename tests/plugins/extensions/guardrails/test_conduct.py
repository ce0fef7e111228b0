"""Whom rules concern, what is looked at, and what happens where a rule cannot be checked."""

import json
import threading
import time
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse
from guarded_gateway import SETTINGS, GuardedGateway
from own_stores import own_stores

MAIL = "ada@example.com"
REDACT = {"name": "mail", "kind": "personal", "find": ["email"], "action": "redact"}
JUDGE = {"name": "judge", "kind": "judge", "model": "v/judge", "instructions": "Be kind."}
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def rule(**more: Any) -> dict[str, Any]:
    return {**REDACT, **more}


def make_key(here: GuardedGateway, name: str) -> tuple[str, str]:
    made = here.client.post("/api/keys", json={"name": name, "machineId": "m"}).json()
    return made["id"], made["key"]


def ask_with(here: GuardedGateway, key: str) -> str:
    body = {"model": "v/m", "messages": [{"role": "user", "content": MAIL}]}
    url, headers = f"{here.served.url}/v1/chat/completions", {"authorization": f"Bearer {key}"}
    return httpx2.post(url, json=body, headers=headers, timeout=30).text


@pytest.mark.parametrize(
    ("models", "concerns"),
    [(["v/*"], True), (["v/m"], True), (["*"], True), (["other/*"], False), (["V/M"], True)],
)
def test_rules_are_for_models(here: GuardedGateway, models: list[str], concerns: bool) -> None:
    here.set_rules(rule(models=models))
    here.vendor.text = MAIL

    response = here.ask(MAIL)

    assert (MAIL in here.sent_to("m")) == (not concerns)
    assert (MAIL in response.text) == (not concerns)


def test_a_rule_for_a_model_holds_for_combos_with_it(here: GuardedGateway) -> None:
    made = here.client.post("/api/combos", json={"name": "best", "models": ["v/m"]})
    assert made.status_code in (200, 201), made.text
    here.set_rules(rule(models=["v/m"]))
    here.vendor.text = MAIL

    response = here.ask(MAIL, model="best")

    assert response.status_code == 200, response.text
    assert MAIL not in here.sent_to("m")
    assert MAIL not in response.text


def test_rules_are_for_keys_by_id_or_name(here: GuardedGateway) -> None:
    id, key = make_key(here, "team-red")
    _, other = make_key(here, "team-blue")
    here.vendor.text = MAIL

    for keys in (["team-red"], [id], ["TEAM-r*"]):
        here.set_rules(rule(keys=keys))
        found = [MAIL in ask_with(here, each) for each in (key, other)]
        assert found == [False, True], keys
    assert MAIL in here.ask(MAIL).text


def test_changes_count_at_once_and_are_in_the_audit_log(here: GuardedGateway) -> None:
    here.vendor.text = MAIL
    assert here.set_rules().json()["restartRequired"] is False
    assert MAIL in here.ask().text

    assert here.set_rules(REDACT).json()["restartRequired"] is False

    assert MAIL not in here.ask().text
    rows, _ = here.served.do(own_stores(here.served.gateway.core).audit.page(limit=1))
    assert "extension-guardrails" in str(rows[0])
    assert "rules" in str(rows[0])


def test_guards_without_rules_are_off_the_path(here: GuardedGateway) -> None:
    core = here.served.gateway.core

    here.set_rules()
    assert (core.interceptors.active, core.state.filtering) == ((), None)

    here.set_rules(rule(on="requests"))
    assert (len(core.interceptors.active), core.state.filtering) == (1, None)

    here.set_rules(rule(on="answers"))
    assert core.interceptors.active == ()
    assert core.state.filtering is not None


def test_without_a_rule_that_concerns_it_an_answer_keeps_its_bytes(here: GuardedGateway) -> None:
    here.vendor.text = MAIL
    here.set_rules()
    untouched = here.ask().content

    here.set_rules(rule(models=["other/*"]))

    assert here.ask().content == untouched
    assert here.notes == ()


@both_ways
def test_arguments_of_tools_stay_json(here: GuardedGateway, stream: bool) -> None:
    arguments = {"to": MAIL, "card": 4111111111111111, "note": 'say "hi"', "n": [1, {"x": MAIL}]}
    # An escape hides nothing.
    here.vendor.call = json.dumps(arguments).replace("@", "\\u0040")
    here.vendor.size = 2
    here.set_rules({"name": "all", "kind": "personal", "action": "redact"})

    response = here.ask(stream=stream)

    if stream:
        frames = [line[6:] for line in response.text.split("\n") if line.startswith("data: {")]
        deltas = [e["delta"] for frame in frames for e in json.loads(frame)["choices"]]
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        text = "".join(call["function"].get("arguments", "") for call in calls)
    else:
        message = response.json()["choices"][0]["message"]
        text = message["tool_calls"][0]["function"]["arguments"]
    expected = {"to": "[email]", "card": "[card]", "note": 'say "hi"', "n": [1, {"x": "[email]"}]}
    assert json.loads(text) == expected


def test_every_place_of_a_request_is_looked_at(here: GuardedGateway) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    call["function"] = {"name": "f", "arguments": json.dumps({"to": MAIL})}
    parameters = {"type": "object", "properties": {"a": {"description": MAIL}}}
    function = {"name": "f", "description": f"Ask {MAIL}", "parameters": parameters}
    messages = [
        {"role": "system", "content": f"I am {MAIL}"},
        {"role": "user", "name": "Ada", "content": [{"type": "text", "text": MAIL}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"of {MAIL}"},
        {"role": "user", "content": "go on"},
    ]
    here.set_rules(REDACT)

    tools = [{"type": "function", "function": function}]
    here.ask(messages=messages, tools=tools, metadata={"who": MAIL}, user=MAIL)

    sent = here.sent_to("m")
    assert MAIL not in sent
    assert sent.count("[email]") == 8


def test_a_judges_call_is_booked_and_is_not_judged(here: GuardedGateway) -> None:
    here.set_rules(JUDGE, REDACT)
    here.vendor.text = f"answer of {MAIL}"

    assert here.ask(f"question of {MAIL}").status_code == 200

    rows = here.served.rows()[:3]
    by_model = {row.model_asked: row for row in rows}
    assert by_model["v/judge"].notes == ("guardrails: judge of judge",)
    assert by_model["v/judge"].input_tokens == 7
    assert by_model["v/judge"].api_key_id is None
    # It stands before the rule that redacts, and sees what that one has not seen yet.
    assert f"answer of {MAIL}" in here.sent_to("judge")


@both_ways
@pytest.mark.parametrize("on_failure", ["block", "pass"])
@pytest.mark.parametrize(
    "trouble", ["status", "no verdict", "silent", "too long", "gone", "bad service", "long service"]
)
def test_what_cannot_be_checked_is_blocked_or_passes(
    here: GuardedGateway, trouble: str, on_failure: str, stream: bool
) -> None:
    here.vendor.text = "an answer"
    each: dict[str, Any] = {**JUDGE, "on": "answers", "onFailure": on_failure, "timeout": 0.3}
    url = here.served.vendors["openai"].url.removesuffix("/v1") + "/check"
    if trouble == "status":
        here.vendor.verdict = None
    elif trouble == "no verdict":
        here.vendor.verdict = "I would rather not say."
    elif trouble == "silent":
        here.vendor.is_silent = True
    elif trouble == "too long":
        each["most"] = 3
    else:
        del each["model"], each["instructions"]
        each |= {"kind": "service", "url": "http://127.0.0.1:1/check" if trouble == "gone" else url}
        long = b" " * 100_000 if trouble == "long service" else b'{"alow": true}'
        here.vendor.service = MockResponse((long,))
    assert here.set_rules(each).status_code == 200

    response = here.ask(stream=stream)

    assert ("an answer" in response.text) == (on_failure == "pass")
    assert response.status_code == (400 if on_failure == "block" and not stream else 200)
    assert "not checked" in here.notes[0]


def test_a_service_gets_its_token_and_what_it_needs(here: GuardedGateway) -> None:
    url = here.served.vendors["openai"].url.removesuffix("/v1") + "/check"
    service = {"name": "dlp", "kind": "service", "url": url, "on": "requests"}
    stored = here.set_rules(service, serviceToken="token-of-the-service")
    assert "token-of-the-service" not in stored.text

    here.ask("what is asked")

    received = next(
        each for each in here.served.vendors["openai"].received[::-1] if "/check" in each.target
    )
    assert received.headers["authorization"] == "Bearer token-of-the-service"
    assert received.json() == {
        "rule": "dlp",
        "text": "what is asked",
        "direction": "request",
        "model": "v/m",
        "keyId": None,
    }


def test_a_large_request_is_looked_at_while_others_are_served(here: GuardedGateway) -> None:
    here.set_rules({"name": "all", "kind": "personal", "action": "redact"}, {**REDACT, "name": "b"})
    large = "lorem ipsum dolor 4111 1111 " * (8 * 1024 * 1024 // 28 - 100)
    slowest, stop = 0.0, threading.Event()

    def probe() -> None:
        nonlocal slowest
        with httpx2.Client(base_url=here.served.url, timeout=60) as client:
            while not stop.is_set():
                begun = time.monotonic()
                client.get("/api/health")
                slowest = max(slowest, time.monotonic() - begun)

    prober = threading.Thread(target=probe)
    prober.start()
    try:
        response = here.ask(f"{large} {MAIL}")
    finally:
        stop.set()
        prober.join()

    assert response.status_code == 200
    assert here.sent_to("m").count("[email]") == 1
    assert slowest < 3


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '"\\ud800"', "\x00", "[" * 900])
def test_odd_arguments_of_tools_break_nothing(here: GuardedGateway, text: str) -> None:
    function = {"name": "f", "arguments": f"{text} {MAIL}"}
    call = {"id": "c1", "type": "function", "function": function}
    here.set_rules(REDACT)

    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "y"},
    ]
    response = here.ask(messages=messages)

    assert response.status_code == 200
    assert MAIL not in here.sent_to("m")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"kind": "pattern"}, "a rule of kind pattern needs patterns"),
        ({"kind": "pattern", "patterns": ["("]}, r"pattern '(' is refused: missing )"),
        ({"kind": "personal", "patterns": ["a"]}, "a rule of kind personal takes no patterns"),
        ({"kind": "length", "most": 9, "action": "redact"}, "redact needs a kind that finds"),
        ({"kind": "length"}, "a rule of kind length needs most"),
        ({"kind": "schema", "schema": {"type": 5}, "on": "answers"}, "the schema is refused"),
        ({"kind": "schema", "schema": {"type": "object"}}, "a schema is for answers"),
        ({"kind": "language", "languages": ["xx"]}, "no language is known by xx"),
        ({"kind": "judge", "model": "m"}, "a rule of kind judge needs instructions"),
        ({"kind": "service", "url": "ftp://a"}, "url must begin with http:// or https://"),
        ({"kind": "personal", "find": ["shoe"]}, "Invalid enum value 'shoe'"),
        ({"kind": "personal", "colour": 1}, "unknown field `colour`"),
        ({"kind": "personal", "name": "A b"}, "matching regex"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(
    here: GuardedGateway, members: dict[str, Any], message: str
) -> None:
    before = here.set_rules().json()["settings"]

    answer = here.set_rules({"name": "it", **members})

    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert "$.rules[0]" in answer.json()["error"]
    assert here.client.get(SETTINGS).json()["settings"] == before


def test_two_rules_may_not_have_one_name(here: GuardedGateway) -> None:
    answer = here.set_rules(REDACT, REDACT)

    assert answer.status_code == 400
    assert "two rules have the name mail" in answer.json()["error"]


def test_the_form_has_a_schema(here: GuardedGateway) -> None:
    document = here.client.get(f"{SETTINGS}/schema").json()

    members = document["$defs"]["Rule"]["properties"]
    assert members["action"]["enum"] == ["block", "flag", "redact", "shadow"]
    assert all("description" in member for member in members.values())
