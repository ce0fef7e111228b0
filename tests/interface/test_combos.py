"""Combos and families: which member is tried, and when the next one is."""

import time
from pathlib import Path

import httpx2
import msgspec
import pytest
from fake_vendor import MockResponse
from keyed_vendors import GOOD, Add, ask, keyed, keys, line
from served_gateway import serve_gateway

EMPTY = GOOD.replace(b'"fine"', b'""').replace(b'"eval_count":1', b'"eval_count":0')


END = line("", done=True, done_reason="stop", prompt_eval_count=3, eval_count=2)


def test_a_stream_that_breaks_off_ends_in_an_error_without_another_attempt(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    broken = MockResponse.stream(
        line("one"), line("two"), cut=True, content_type="application/x-ndjson"
    )
    scripts = {"acme": lambda _: broken, "spare": lambda _: MockResponse((GOOD,))}

    with serve_gateway(tmp_path, scripts, specs=keyed) as here:
        add_account(here, "acme", "first")
        add_account(here, "acme", "second")
        add_account(here, "spare", "third")
        add_combo(here, "pair", "acme/m", "spare/m")

        answer = ask(http, here, "pair", stream=True)
        rows = [msgspec.json.decode(row) for row in answer.content.splitlines()]

        assert answer.status_code == 200
        assert [row["message"]["content"] for row in rows[:2]] == ["one", "two"]
        assert "error" in rows[2]
        assert len(rows) == 3
        assert (keys(here), keys(here, "spare")) == (["first"], [])
        assert here.rows()[0].status == "upstream_cut"


@pytest.mark.parametrize(
    "bad",
    [
        MockResponse((b'{"error":"overloaded"}',), status=529),
        MockResponse((b'{"error":"boom"}',)),
        MockResponse((EMPTY,)),
        MockResponse((b"<html>",)),
        MockResponse((b'{"model"',), cut=True),
    ],
    ids=["overloaded", "error-in-200", "empty", "rubbish", "cut"],
)
def test_a_combo_tries_the_next_member_after_a_failure(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add, bad: MockResponse
) -> None:
    scripts = {"acme": lambda _: bad, "spare": lambda _: MockResponse((GOOD,))}

    with serve_gateway(tmp_path, scripts, specs=keyed) as here:
        add_account(here, "acme", "k")
        add_account(here, "spare", "k")
        add_combo(here, "pair", "acme/m", "spare/m")

        answer = ask(http, here, "pair")

        assert answer.json()["message"]["content"] == "fine"
        row = here.rows()[0]
        assert (row.combo_name, row.provider, row.status) == ("pair", "spare", "ok")


@pytest.mark.parametrize(
    "pieces",
    [(), (b"\n\n",), (b'{"error":"nothing today"}\n',), (b"what is this\n",)],
    ids=["nothing", "blank", "error", "rubbish"],
)
def test_a_combo_tries_the_next_member_while_a_stream_has_no_content(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add, pieces: tuple[bytes, ...]
) -> None:
    kind = "application/x-ndjson"
    scripts = {
        "acme": lambda _: MockResponse.stream(*pieces, content_type=kind),
        "spare": lambda _: MockResponse.stream(line("fine"), END, content_type=kind),
    }

    with serve_gateway(tmp_path, scripts, specs=keyed) as here:
        add_account(here, "acme", "k")
        add_account(here, "spare", "k")
        add_combo(here, "pair", "acme/m", "spare/m")

        answer = ask(http, here, "pair", stream=True)

        assert answer.content == line("fine") + END


def test_after_a_timeout_the_next_member_is_tried(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    scripts = {
        "acme": lambda _: MockResponse((GOOD,), delay=20),
        "spare": lambda _: MockResponse((GOOD,)),
    }

    with serve_gateway(tmp_path, scripts, specs=keyed) as here:
        add_account(here, "acme", "k")
        add_account(here, "spare", "k")
        add_combo(here, "pair", "acme/m", "spare/m", timeoutMs=200)

        began = time.monotonic()
        answer = ask(http, here, "pair")

        assert answer.status_code == 200
        assert time.monotonic() - began < 5
        assert here.vendors["acme"].gone == 1


def test_round_robin_begins_with_another_member_each_time(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    names = ("a", "b", "c")

    with serve_gateway(
        tmp_path, {n: lambda _: MockResponse((GOOD,)) for n in names}, specs=keyed
    ) as here:
        for name in names:
            add_account(here, name, "k")
        add_combo(here, "ring", "a/m", "b/m", "c/m", fallbackStrategy="round-robin")

        for _ in range(6):
            ask(http, here, "ring")

        assert [row.provider for row in reversed(here.rows())] == [*names, *names]


def test_weights_decide_which_member_is_first(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    with serve_gateway(
        tmp_path, {n: lambda _: MockResponse((GOOD,)) for n in "ab"}, specs=keyed
    ) as here:
        for name in "ab":
            add_account(here, name, "k")
        weights = ({"model": "a/m", "weight": 0}, {"model": "b/m", "weight": 3})
        add_combo(here, "scale", "a/m", "b/m", members=weights, fallbackStrategy="weighted")

        for _ in range(5):
            ask(http, here, "scale")

        assert {row.provider for row in here.rows()} == {"b"}


def test_smart_scoring_prefers_the_member_that_has_not_failed(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    flaky = iter([MockResponse((b"{}",), status=500)])
    scripts = {
        "a": lambda _: next(flaky, MockResponse((GOOD,))),
        "b": lambda _: MockResponse((GOOD,)),
    }

    with serve_gateway(tmp_path, scripts, specs=keyed) as here:
        for name in "ab":
            add_account(here, name, "k")
        add_combo(here, "scored", "a/m", "b/m", fallbackStrategy="smart-scoring")

        for _ in range(3):
            ask(http, here, "scored")

        assert [row.provider for row in here.rows()] == ["b", "b", "b"]
        assert len(here.vendors["a"].received) == 1


def test_smart_sends_easy_requests_to_small_models_and_hard_ones_to_large(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    hard = "Prove the theorem, then refactor and debug the concurrency of this code."

    with serve_gateway(tmp_path, {"a": lambda _: MockResponse((GOOD,))}, specs=keyed) as here:
        add_account(here, "a", "k")
        add_combo(here, "clever", "a/grand-pro", "a/swift-mini", fallbackStrategy="smart")

        ask(http, here, "clever")
        ask(http, here, "clever", messages=[{"role": "user", "content": hard}])

        assert [row.model_sent for row in here.rows()] == ["grand-pro", "swift-mini"]


def test_fusion_uses_all_members_and_a_judge(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    with serve_gateway(
        tmp_path, {n: lambda _: MockResponse((GOOD,)) for n in "abj"}, specs=keyed
    ) as here:
        for name in "abj":
            add_account(here, name, "k")
        add_combo(here, "panel", "a/m", "b/m", fallbackStrategy="fusion", judgeModel="j/m")

        answer = ask(http, here, "panel")

        assert answer.json()["message"]["content"] == "fine"
        (judged,) = here.vendors["j"].received
        last = judged.json()["messages"][-1]["content"]
        assert "Answer 1:\nfine" in last
        assert "Answer 2:\nfine" in last
        (row,) = here.rows()
        assert (row.provider, row.input_tokens, row.output_tokens) == ("j", 9, 3)


def test_a_family_is_every_connected_model_of_it(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with serve_gateway(
        tmp_path, {n: lambda _: MockResponse((GOOD,)) for n in "ab"}, specs=keyed
    ) as here:
        nobody = ask(http, here, "auto/llama")
        add_account(here, "b", "k")
        somebody = ask(http, here, "auto/llama")

        assert nobody.status_code == 503
        assert "has no models" in nobody.json()["error"]
        assert somebody.status_code == 200
        assert here.rows()[0].model_sent == "llama-3"
