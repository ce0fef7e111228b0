"""Accounts and cooldowns: which account is used, and what client and ledger see."""

from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from keyed_vendors import GOOD, Add, ask, key_of, keyed, keys
from served_gateway import serve_gateway

from gateway_core import Auth, ProviderSpec
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy


def test_a_rate_limited_account_is_not_used_during_its_cooldown(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        if key_of(received) == "first":
            return MockResponse((b'{"error":"too many requests"}',), status=429)
        return MockResponse((GOOD,))

    with serve_gateway(tmp_path, {"acme": script}, specs=keyed) as here:
        add_account(here, "acme", "first")
        add_account(here, "acme", "second")

        answers = [ask(http, here, "acme/m").status_code for _ in range(3)]

        assert answers == [200, 200, 200]
        assert keys(here) == ["first", "second", "second", "second"]
        assert [row.attempts for row in here.rows()] == [1, 1, 2]


def test_each_failed_attempt_is_in_the_ledger_where_another_one_followed(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        key = key_of(received)
        if key == "first-secret":
            return MockResponse((b'{"error":"no more for first-secret"}',), status=429)
        if key == "second":
            return MockResponse((b'{"error":"out of order"}',), status=503)
        return MockResponse((GOOD,))

    with serve_gateway(tmp_path, {"acme": script}, specs=keyed) as here:
        for key in ("first-secret", "second", "third"):
            add_account(here, "acme", key)

        assert [ask(http, here, "acme/m").status_code for _ in range(2)] == [200, 200]

        plain, tried = here.rows()
        assert (plain.attempts, plain.failures) == (1, ())
        assert tried.attempts == 3
        assert [(each.provider, each.model, each.status) for each in tried.failures] == [
            ("acme", "m", 429),
            ("acme", "m", 503),
        ]
        one, two = tried.failures
        assert 0 <= one.ended_ms <= two.ended_ms <= tried.duration_ms
        assert "no more for" in (one.error or "")
        assert "first-secret" not in (one.error or "")
        assert tried.connection_id not in (one.connection_id, two.connection_id)


def test_a_single_attempt_that_failed_is_the_row_s_own_error(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    wrong = MockResponse((b'{"error":"out of order"}',), status=503)

    with serve_gateway(tmp_path, {"acme": lambda _: wrong}, specs=keyed) as here:
        add_account(here, "acme", "only")

        ask(http, here, "acme/m")

        (row,) = here.rows()
        assert (row.attempts, row.failures, row.error) == (1, (), "out of order")


def test_retry_after_is_obeyed_and_sent_to_the_client(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    busy = MockResponse((b'{"error":"slow down"}',), status=429, headers={"retry-after": "77"})

    with serve_gateway(tmp_path, {"acme": lambda _: busy}, specs=keyed) as here:
        add_account(here, "acme", "only")

        first = ask(http, here, "acme/m")
        second = ask(http, here, "acme/m")

        assert (first.status_code, second.status_code) == (429, 429)
        assert first.headers["retry-after"] == "77"
        assert 70 <= int(second.headers["retry-after"]) <= 77
        assert "reset after 1m 1" in second.text
        assert len(here.vendors["acme"].received) == 1


def test_an_invalid_request_is_not_tried_on_another_account(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    wrong = MockResponse((b'{"error":"invalid think value"}',), status=400)

    with serve_gateway(tmp_path, {"acme": lambda _: wrong}, specs=keyed) as here:
        add_account(here, "acme", "first")
        add_account(here, "acme", "second")

        answer = ask(http, here, "acme/m")

        assert answer.status_code == 400
        assert "invalid think value" in answer.json()["error"]
        assert keys(here) == ["first"]


def test_after_a_refused_key_the_next_account_is_tried(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    def script(received: ReceivedRequest) -> MockResponse:
        return (
            MockResponse((GOOD,))
            if key_of(received) == "good"
            else MockResponse((b"{}",), status=401)
        )

    with serve_gateway(tmp_path, {"acme": script}, specs=keyed) as here:
        add_account(here, "acme", "bad")
        add_account(here, "acme", "good")

        assert ask(http, here, "acme/m").status_code == 200
        assert ask(http, here, "acme/other").status_code == 200
        assert keys(here) == ["bad", "good", "good"]


def test_only_a_pinned_account_is_tried(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with serve_gateway(tmp_path, {"acme": lambda _: MockResponse((GOOD,))}, specs=keyed) as here:
        add_account(here, "acme", "first")
        pin = add_account(here, "acme", "second")

        ask(http, here, "acme/m", headers={"x-connection-id": pin})

        assert keys(here) == ["second"]


def test_accounts_take_turns_with_round_robin(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    with serve_gateway(tmp_path, {"acme": lambda _: MockResponse((GOOD,))}, specs=keyed) as here:
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
    with serve_gateway(tmp_path, {"acme": lambda _: MockResponse((GOOD,))}, specs=keyed) as here:
        for key in ("a", "b"):
            add_account(here, "acme", key)
        settings = {"fallbackStrategy": "round-robin", "stickyRoundRobinLimit": 1}
        here.do(here.gateway.core.stores.settings.patch(settings))
        here.do(here.gateway.core.refresh())

        for session in ("x", "y", "x", "x", "y"):
            ask(http, here, "acme/m", headers={"x-session-id": session})

        assert keys(here) == ["a", "b", "a", "a", "b"]


def test_without_an_account_the_error_contains_advice(tmp_path: Path, http: httpx2.Client) -> None:
    with serve_gateway(tmp_path, {"acme": lambda _: MockResponse((GOOD,))}, specs=keyed) as here:
        answer = ask(http, here, "acme/m")

        assert answer.status_code == 404
        assert "No active credentials for provider: acme" in answer.json()["error"]


def test_a_key_that_the_vendor_repeats_is_masked(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    key = "canary-key-0815-4711"
    refused = MockResponse((b'{"error":"bad key ' + key.encode() + b'"}',), status=401)

    with serve_gateway(tmp_path, {"acme": lambda _: refused}, specs=keyed) as here:
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

    with serve_gateway(tmp_path, {}, specs=itself) as here:
        port = int(here.url.rpartition(":")[2])
        guard = here.gateway.core.network._guard
        with pytest.raises(AddressForbidden):
            here.do(guard.addresses("127.0.0.1", port, AddressPolicy.OPERATOR))
