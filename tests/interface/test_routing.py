"""Accounts, combos, cooldowns and clients that leave: what the client and the ledger see."""

import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from fake_vendor import Asked, FakeVendor, Said
from served import Served, served

from gateway_core import Auth, Model, ProviderSpec
from gateway_core.inference.transport import AddressForbidden, Policy

Add = Callable[..., Any]
JSON = msgspec.json.encode
GOOD = JSON(
    {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": "fine"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 1,
    }
)
EMPTY = GOOD.replace(b'"fine"', b'""').replace(b'"eval_count":1', b'"eval_count":0')


def line(text: str, **more: Any) -> bytes:
    row = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": text},
        "done": False,
    }
    return JSON({**row, **more}) + b"\n"


END = line("", done=True, done_reason="stop", prompt_eval_count=3, eval_count=2)


def keyed(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
    """Each vendor as a provider that needs a key."""
    return [
        ProviderSpec(
            id=name,
            name=name,
            format="ollama",
            base_url=vendor.url,
            models=(Model("swift-mini"), Model("grand-pro"), Model("llama-3", vision=False)),
        )
        for name, vendor in vendors.items()
    ]


def ask(http: httpx2.Client, here: Served, model: str, **more: Any) -> httpx2.Response:
    body = {"model": model, "stream": False, "messages": [{"role": "user", "content": "hi"}]}
    headers = more.pop("headers", {})
    return http.post(f"{here.url}/v1/api/chat", json={**body, **more}, headers=headers)


def key_of(asked: Asked) -> str:
    return asked.headers["authorization"].removeprefix("Bearer ")


def keys(here: Served, vendor: str = "acme") -> list[str]:
    return [key_of(asked) for asked in here.vendors[vendor].asked]


def test_an_account_that_is_rate_limited_is_left_alone_until_it_has_rested(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    def script(asked: Asked) -> Said:
        if key_of(asked) == "first":
            return Said((b'{"error":"too many requests"}',), status=429)
        return Said((GOOD,))

    with served(tmp_path, {"acme": script}, specs=keyed) as here:
        add_account(here, "acme", "first")
        add_account(here, "acme", "second")

        answers = [ask(http, here, "acme/m").status_code for _ in range(3)]

        assert answers == [200, 200, 200]
        assert keys(here) == ["first", "second", "second", "second"]
        assert [row.attempts for row in here.rows()] == [1, 1, 2]


def test_retry_after_is_honoured_and_told_to_the_client(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    busy = Said((b'{"error":"slow down"}',), status=429, headers={"retry-after": "77"})

    with served(tmp_path, {"acme": lambda _: busy}, specs=keyed) as here:
        add_account(here, "acme", "only")

        first = ask(http, here, "acme/m")
        second = ask(http, here, "acme/m")

        assert (first.status_code, second.status_code) == (429, 429)
        assert first.headers["retry-after"] == "77"
        assert 70 <= int(second.headers["retry-after"]) <= 77
        assert "reset after 1m 1" in second.text
        assert len(here.vendors["acme"].asked) == 1


def test_a_request_that_is_itself_wrong_is_not_tried_elsewhere(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    wrong = Said((b'{"error":"invalid think value"}',), status=400)

    with served(tmp_path, {"acme": lambda _: wrong}, specs=keyed) as here:
        add_account(here, "acme", "first")
        add_account(here, "acme", "second")

        answer = ask(http, here, "acme/m")

        assert answer.status_code == 400
        assert "invalid think value" in answer.json()["error"]
        assert keys(here) == ["first"]


def test_a_key_that_is_refused_makes_way_for_the_next(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    def script(asked: Asked) -> Said:
        return Said((GOOD,)) if key_of(asked) == "good" else Said((b"{}",), status=401)

    with served(tmp_path, {"acme": script}, specs=keyed) as here:
        add_account(here, "acme", "bad")
        add_account(here, "acme", "good")

        assert ask(http, here, "acme/m").status_code == 200
        assert ask(http, here, "acme/other").status_code == 200
        assert keys(here) == ["bad", "good", "good"]


def test_a_pinned_account_is_the_only_one_that_is_asked(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with served(tmp_path, {"acme": lambda _: Said((GOOD,))}, specs=keyed) as here:
        add_account(here, "acme", "first")
        pin = add_account(here, "acme", "second")

        ask(http, here, "acme/m", headers={"x-connection-id": pin})

        assert keys(here) == ["second"]


def test_accounts_take_turns_where_the_operator_wants_it(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with served(tmp_path, {"acme": lambda _: Said((GOOD,))}, specs=keyed) as here:
        for key in ("a", "b", "c"):
            add_account(here, "acme", key)
        settings = {"fallbackStrategy": "round-robin", "stickyRoundRobinLimit": 2}
        here.do(here.gateway.core.stores.settings.patch(settings))
        here.do(here.gateway.core.refresh())

        for _ in range(7):
            ask(http, here, "acme/m")

        assert keys(here) == ["a", "a", "b", "b", "c", "c", "a"]


def test_a_session_stays_on_its_account(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with served(tmp_path, {"acme": lambda _: Said((GOOD,))}, specs=keyed) as here:
        for key in ("a", "b"):
            add_account(here, "acme", key)
        settings = {"fallbackStrategy": "round-robin", "stickyRoundRobinLimit": 1}
        here.do(here.gateway.core.stores.settings.patch(settings))
        here.do(here.gateway.core.refresh())

        for session in ("x", "y", "x", "x", "y"):
            ask(http, here, "acme/m", headers={"x-session-id": session})

        assert keys(here) == ["a", "b", "a", "a", "b"]


def test_without_an_account_the_answer_says_what_to_do(tmp_path: Path, http: httpx2.Client) -> None:
    with served(tmp_path, {"acme": lambda _: Said((GOOD,))}, specs=keyed) as here:
        answer = ask(http, here, "acme/m")

        assert answer.status_code == 404
        assert "No active credentials for provider: acme" in answer.json()["error"]


def test_a_stream_that_breaks_off_ends_in_an_error_and_nobody_else_is_asked(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    broken = Said.stream(line("one"), line("two"), cut=True, content_type="application/x-ndjson")
    scripts = {"acme": lambda _: broken, "spare": lambda _: Said((GOOD,))}

    with served(tmp_path, scripts, specs=keyed) as here:
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
        Said((b'{"error":"overloaded"}',), status=529),
        Said((b'{"error":"boom"}',)),
        Said((EMPTY,)),
        Said((b"<html>",)),
        Said((b'{"model"',), cut=True),
    ],
    ids=["overloaded", "error-in-200", "empty", "rubbish", "cut"],
)
def test_a_combo_moves_on_when_a_member_fails(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add, bad: Said
) -> None:
    scripts = {"acme": lambda _: bad, "spare": lambda _: Said((GOOD,))}

    with served(tmp_path, scripts, specs=keyed) as here:
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
def test_a_combo_moves_on_while_a_stream_has_shown_nothing(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add, pieces: tuple[bytes, ...]
) -> None:
    kind = "application/x-ndjson"
    scripts = {
        "acme": lambda _: Said.stream(*pieces, content_type=kind),
        "spare": lambda _: Said.stream(line("fine"), END, content_type=kind),
    }

    with served(tmp_path, scripts, specs=keyed) as here:
        add_account(here, "acme", "k")
        add_account(here, "spare", "k")
        add_combo(here, "pair", "acme/m", "spare/m")

        answer = ask(http, here, "pair", stream=True)

        assert answer.content == line("fine") + END


def test_a_member_that_takes_too_long_makes_way(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    scripts = {
        "acme": lambda _: Said((GOOD,), delay=20),
        "spare": lambda _: Said((GOOD,)),
    }

    with served(tmp_path, scripts, specs=keyed) as here:
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

    with served(tmp_path, {n: lambda _: Said((GOOD,)) for n in names}, specs=keyed) as here:
        for name in names:
            add_account(here, name, "k")
        add_combo(here, "ring", "a/m", "b/m", "c/m", fallbackStrategy="round-robin")

        for _ in range(6):
            ask(http, here, "ring")

        assert [row.provider for row in reversed(here.rows())] == [*names, *names]


def test_weights_decide_who_is_asked_first(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    with served(tmp_path, {n: lambda _: Said((GOOD,)) for n in "ab"}, specs=keyed) as here:
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
    flaky = iter([Said((b"{}",), status=500)])
    scripts = {
        "a": lambda _: next(flaky, Said((GOOD,))),
        "b": lambda _: Said((GOOD,)),
    }

    with served(tmp_path, scripts, specs=keyed) as here:
        for name in "ab":
            add_account(here, name, "k")
        add_combo(here, "scored", "a/m", "b/m", fallbackStrategy="smart-scoring")

        for _ in range(3):
            ask(http, here, "scored")

        assert [row.provider for row in here.rows()] == ["b", "b", "b"]
        assert len(here.vendors["a"].asked) == 1


def test_smart_sends_easy_questions_to_small_models_and_hard_ones_to_large(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    hard = "Prove the theorem, then refactor and debug the concurrency of this code."

    with served(tmp_path, {"a": lambda _: Said((GOOD,))}, specs=keyed) as here:
        add_account(here, "a", "k")
        add_combo(here, "clever", "a/grand-pro", "a/swift-mini", fallbackStrategy="smart")

        ask(http, here, "clever")
        ask(http, here, "clever", messages=[{"role": "user", "content": hard}])

        assert [row.model_sent for row in here.rows()] == ["grand-pro", "swift-mini"]


def test_fusion_asks_everybody_and_lets_a_judge_answer(
    tmp_path: Path, http: httpx2.Client, add_account: Add, add_combo: Add
) -> None:
    with served(tmp_path, {n: lambda _: Said((GOOD,)) for n in "abj"}, specs=keyed) as here:
        for name in "abj":
            add_account(here, name, "k")
        add_combo(here, "panel", "a/m", "b/m", fallbackStrategy="fusion", judgeModel="j/m")

        answer = ask(http, here, "panel")

        assert answer.json()["message"]["content"] == "fine"
        (judged,) = here.vendors["j"].asked
        last = judged.json()["messages"][-1]["content"]
        assert "Answer 1:\nfine" in last
        assert "Answer 2:\nfine" in last
        (row,) = here.rows()
        assert (row.provider, row.input_tokens, row.output_tokens) == ("j", 9, 3)


def test_a_family_is_every_connected_model_of_it(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with served(tmp_path, {n: lambda _: Said((GOOD,)) for n in "ab"}, specs=keyed) as here:
        nobody = ask(http, here, "auto/llama")
        add_account(here, "b", "k")
        somebody = ask(http, here, "auto/llama")

        assert nobody.status_code == 503
        assert "has no models" in nobody.json()["error"]
        assert somebody.status_code == 200
        assert here.rows()[0].model_sent == "llama-3"


@pytest.mark.parametrize("server", ["uvloop", "asyncio"])
@pytest.mark.parametrize("when", ["before", "during"])
def test_the_vendor_is_hung_up_on_when_the_client_has_gone(
    tmp_path: Path, add_account: Add, server: str, when: str
) -> None:
    slow = (
        Said((GOOD,), delay=30)
        if when == "before"
        else Said.stream(
            *(line(str(n)) for n in range(1000)), pause=0.05, content_type="application/x-ndjson"
        )
    )

    with served(tmp_path, {"acme": lambda _: slow}, specs=keyed, server=server) as here:
        add_account(here, "acme", "k")
        body = JSON({"model": "acme/m", "messages": [{"role": "user", "content": "hi"}]})
        port = int(here.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            head = b"POST /v1/api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n"
            client.sendall(head % len(body) + body)
            if when == "during":
                assert b"200" in client.recv(100)
            else:
                time.sleep(0.5)
        left = time.monotonic()
        while not here.vendors["acme"].gone and time.monotonic() - left < 5:
            time.sleep(0.02)

        assert time.monotonic() - left < 2
        rows = here.rows()
        while not rows and time.monotonic() - left < 5:
            rows = here.rows()
        assert rows[0].status == "client_gone"
        assert (rows[0].output_tokens > 0) == (when == "during")


def test_the_first_bytes_reach_the_client_before_the_last_have_left_the_vendor(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    endless = Said.stream(line("early"), hang=True, content_type="application/x-ndjson")

    with served(tmp_path, {"acme": lambda _: endless}, specs=keyed) as here:
        add_account(here, "acme", "k")
        body = {"model": "acme/m", "messages": [{"role": "user", "content": "hi"}]}
        with http.stream("POST", f"{here.url}/v1/api/chat", json=body) as answer:
            assert next(answer.iter_raw()) == line("early")


def test_a_key_that_the_vendor_repeats_is_not_told(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    key = "canary-key-0815-4711"
    refused = Said((b'{"error":"bad key ' + key.encode() + b'"}',), status=401)

    with served(tmp_path, {"acme": lambda _: refused}, specs=keyed) as here:
        add_account(here, "acme", key)

        first, second = ask(http, here, "acme/m"), ask(http, here, "acme/m")

        assert first.status_code == second.status_code == 401
        assert key not in first.text + second.text
        assert "bad key" in first.text


def test_the_gateway_does_not_call_itself(tmp_path: Path, http: httpx2.Client) -> None:
    def itself(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
        return [
            ProviderSpec(
                id="mirror",
                name="Mirror",
                format="ollama",
                auth=Auth(type="none"),
                base_url="http://127.0.0.1:1",
            )
        ]

    with served(tmp_path, {}, specs=itself) as here:
        port = int(here.url.rpartition(":")[2])
        guard = here.gateway.core.network._guard
        with pytest.raises(AddressForbidden):
            here.do(guard.addresses("127.0.0.1", port, Policy.OPERATOR))
