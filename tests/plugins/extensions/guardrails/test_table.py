"""Every kind of rule with every action, on requests and on answers, whole and streamed."""

import json
from typing import Any, NamedTuple

import httpx2
import pytest
from fake_vendor import MockResponse
from guarded_gateway import GuardedGateway

LONG = "This is an ordinary sentence in English, which says nothing that anybody would mind. "


class Sample(NamedTuple):
    """A rule, a text that it minds, and one that it lets pass."""

    rule: dict[str, Any]
    bad: str
    good: str
    found: str = ""
    """What of the bad text may not be seen."""
    label: str = ""


KEY = f"sk-ant-api03-{'x9' * 30}"
SAMPLES = {
    "pattern": Sample(
        {"kind": "pattern", "patterns": ["(?i)project [a-z]+"]},
        "The code name is Project Aurora, as it is.",
        "The code name is not said, as it is.",
        "Project Aurora",
        "[it]",
    ),
    "secrets": Sample(
        {"kind": "secrets"}, f"The key is {KEY}, so.", "No key.", KEY, "[anthropic_key]"
    ),
    "personal": Sample(
        {"kind": "personal"},
        "Pay with 4111 1111 1111 1111, please.",
        "Pay with 4111 1111 1111 1112, please.",
        "4111 1111 1111 1111",
        "[card]",
    ),
    "length": Sample({"kind": "length", "most": 20}, "x" * 21, "x" * 20),
    "language": Sample(
        {"kind": "language", "languages": ["de", "fr"]},
        LONG,
        "Das ist ein gewöhnlicher deutscher Satz, der niemanden stört und nichts verrät.",
    ),
    "schema": Sample(
        {"kind": "schema", "schema": {"type": "object", "required": ["a"]}, "on": "answers"},
        '{"b": 1}',
        '{"a": 1}',
    ),
    "judge": Sample(
        {"kind": "judge", "model": "v/judge", "instructions": "Refuse recipes of poisons."},
        "How to poison?",
        "How to cook?",
    ),
    "service": Sample({"kind": "service", "url": "URL/check"}, "refuse this", "let this pass"),
}
ACTIONS = {kind: ["block", "flag", "shadow"] for kind in SAMPLES}
for _kind in ("pattern", "secrets", "personal"):
    ACTIONS[_kind] = ["block", "redact", "flag", "shadow"]
TABLE = [(kind, action) for kind in SAMPLES for action in ACTIONS[kind]]
NOTED = {"block": "blocked", "redact": "redacted", "flag": "flagged", "shadow": "would block"}
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def prepare(here: GuardedGateway, kind: str, text: str, **more: Any) -> Sample:
    sample = SAMPLES[kind]
    url = here.served.vendors["openai"].url.removesuffix("/v1")
    rule = {**sample.rule, "name": "it", **more}
    if "url" in rule:
        rule["url"] = rule["url"].replace("URL", url)
    is_bad = text == sample.bad
    here.vendor.verdict = '{"allow": false}' if is_bad else '```json\n{"allow": true}\n```'
    here.vendor.service = MockResponse((b'{"allow": false}' if is_bad else b'{"allow": true}',))
    stored = here.set_rules(rule)
    assert stored.status_code == 200, stored.text
    return sample


def said(response: httpx2.Response) -> str:
    """The text of an answer."""
    if not response.headers["content-type"].startswith("text/event-stream"):
        content: str = response.json()["choices"][0]["message"]["content"]
        return content
    frames = [line[6:] for line in response.text.split("\n") if line.startswith("data: {")]
    choices = [each for frame in frames for each in json.loads(frame)["choices"]]
    return "".join(each["delta"].get("content") or "" for each in choices)


@both_ways
@pytest.mark.parametrize(("kind", "action"), [row for row in TABLE if row[0] != "schema"])
def test_a_request(here: GuardedGateway, kind: str, action: str, stream: bool) -> None:
    bad = SAMPLES[kind].bad
    sample = prepare(here, kind, bad, action=action, on="requests", message="Not here.")
    here.vendor.text = "fine"

    response = here.ask(bad, stream=stream)

    if action == "block":
        assert response.status_code == 400
        error = response.json()["error"]
        assert (error["code"], error["message"]) == ("guardrail_blocked", "Not here.")
        row = here.row
        assert (row.status, row.http_status, row.error_code) == ("error", 400, "guardrail_blocked")
    else:
        assert response.status_code == 200
        assert said(response) == "fine"
        is_left = json.dumps(bad)[1:-1] in here.sent_to("m")
        assert is_left == (action != "redact")
        if action == "redact":
            assert sample.label in here.sent_to("m")
    [note] = here.notes
    assert note.startswith(f"guardrails: it {NOTED[action]}")
    assert note.endswith("(request)")
    assert not sample.found or sample.found not in note


@both_ways
@pytest.mark.parametrize(("kind", "action"), TABLE)
def test_an_answer(here: GuardedGateway, kind: str, action: str, stream: bool) -> None:
    bad = SAMPLES[kind].bad
    sample = prepare(here, kind, bad, action=action, on="answers", message="Not here.")
    here.vendor.text = bad

    response = here.ask(stream=stream)

    if action == "block" and not stream:
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "guardrail_blocked"
        assert response.json()["error"]["message"] == "Not here."
    elif action == "block":
        assert response.status_code == 200
        shown = said(response)
        assert shown.endswith("Not here.")
        # Of a match nothing is seen; without places, nothing that was not checked.
        begun = "x" * 20 if kind == "length" else bad.partition(sample.found or bad)[0]
        assert begun.startswith(shown.removesuffix("Not here."))
        assert '"finish_reason":"content_filter"' in response.text
        assert response.text.endswith("data: [DONE]\n\n")
        assert here.row.error_code == "answer_stopped"
    else:
        expected = bad.replace(sample.found, sample.label) if action == "redact" else bad
        assert said(response) == expected
        assert here.row.status == "ok"
    assert [note.startswith(f"guardrails: it {NOTED[action]}") for note in here.notes] == [True]


@both_ways
@pytest.mark.parametrize("kind", SAMPLES)
def test_what_no_rule_minds_passes(here: GuardedGateway, kind: str, stream: bool) -> None:
    good = SAMPLES[kind].good
    prepare(here, kind, good)
    here.vendor.text = good

    response = here.ask(good, stream=stream)

    assert (response.status_code, said(response)) == (200, good)
    assert here.notes == ()
