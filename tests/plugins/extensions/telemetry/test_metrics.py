"""The page for Prometheus: what is counted, over all processes, for whom, and how many series."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx2
import msgspec
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from gateway_extension_telemetry import counts
from gateway_extension_telemetry.counts import Counts, Names
from gateway_extension_telemetry.shared_values import Counted, SharedValues, sums
from gateway_process import running
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as read_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families
from served_gateway import Served, serve_gateway
from vendor_answers import INPUT_TOKENS, WHOLE

from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import cli_token

VARIABLES = {"GATEWAY_METRICS": "true"}
Samples = dict[str, float]


def answer(request: ReceivedRequest) -> MockResponse:
    return MockResponse((WHOLE["openai"],))


def samples(text: str) -> Samples:
    """Each sample by its name, labels included, as Prometheus writes it."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(each.labels.items()))
            found[f"{each.name}{{{labels}}}"] = each.value
    return found


def ask(url: str, model: str = "v-openai/m-1") -> int:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    return httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=30).status_code


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("measured")
    with serve_gateway(folder, {"openai": answer}, variables=VARIABLES) as here:
        assert [ask(here.url) for _ in range(3)] == [200] * 3
        for number in range(20):
            ask(here.url, f"nobody/{number}")
        yield here


def cli(served: Served) -> dict[str, str]:
    return {"x-gateway-cli-token": served.gateway.core.identity.cli_token}


def read(served: Served, **headers: str) -> httpx2.Response:
    return httpx2.get(f"{served.url}/metrics", headers={**cli(served), **headers}, timeout=30)


def test_requests_tokens_and_times_are_counted(served: Served) -> None:
    found = samples(read(served).text)

    chat = "model=m-1,operation=chat,provider=v-openai"
    assert found[f"model_gateway_requests_total{{{chat},status=ok}}"] == 3
    assert found[f"model_gateway_request_duration_seconds_count{{{chat}}}"] == 3
    assert found[f"model_gateway_first_byte_seconds_count{{{chat}}}"] == 3
    assert found[f"model_gateway_request_duration_seconds_bucket{{le=+Inf,{chat}}}"] == 3
    tokens = "model_gateway_tokens_total{model=m-1,provider=v-openai,type=input}"
    assert found[tokens] == 3 * INPUT_TOKENS
    attempts = "model_gateway_attempts_total{model=m-1,outcome=answered,provider=v-openai}"
    assert found[attempts] == 3


def test_names_that_clients_make_up_are_no_series(served: Served) -> None:
    found = samples(read(served).text)

    assert found["model_gateway_requests_total{model=,operation=chat,provider=,status=error}"] == 20
    assert "nobody" not in read(served).text


def test_the_page_is_written_in_openmetrics_for_who_asks_for_it(served: Served) -> None:
    answered = read(served, accept="application/openmetrics-text; version=1.0.0")

    assert answered.headers["content-type"].startswith("application/openmetrics-text")
    names = {family.name for family in read_openmetrics(answered.text)}
    assert "model_gateway_requests" in names


def test_a_stranger_gets_no_numbers(served: Served) -> None:
    elsewhere = {"x-forwarded-for": "203.0.113.7"}

    assert httpx2.get(f"{served.url}/metrics", headers=elsewhere).status_code == 401


def test_without_the_setting_there_is_no_page(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {}) as here:
        assert read(here).status_code == 404
        assert here.gateway.core.snapshot.registry.observation is None


def test_workers_are_counted_together(tmp_path: Path) -> None:
    with running(tmp_path, "--workers", "2", variables=VARIABLES) as gateway:
        for _ in range(20):
            assert ask(gateway.url, "echo/echo") == 200
        data_dir = DataDir(tmp_path)
        token = cli_token(data_dir.raw_machine_id(), data_dir.cli_secret())
        headers = {"x-gateway-cli-token": token}
        page = httpx2.get(f"{gateway.url}/metrics", headers=headers, timeout=30)

    chat = "model=echo,operation=chat,provider=echo,status=ok"
    assert samples(page.text)[f"model_gateway_requests_total{{{chat}}}"] == 20


THINGS = Counted("things", "Things.", "kind")


def total(folder: Path) -> float:
    return sum(sample.value for metric in sums(folder) for sample in metric.samples)


def test_counts_of_a_process_that_has_died_stay_while_others_live(tmp_path: Path) -> None:
    with SharedValues(tmp_path) as one:
        one.add(THINGS, ("a",), 2)
        with SharedValues(tmp_path) as other:
            other.add(THINGS, ("a",), 3)
        assert total(tmp_path) == 5
        with SharedValues(tmp_path) as next_one:
            next_one.add(THINGS, ("b",), 1)
            assert total(tmp_path) == 6


def test_everything_begins_at_zero_once_nobody_lives(tmp_path: Path) -> None:
    with SharedValues(tmp_path) as one:
        one.add(THINGS, ("a",), 2)

    with SharedValues(tmp_path):
        assert total(tmp_path) == 0
        assert len(list(tmp_path.glob("*.db"))) == 2


def test_a_value_is_in_the_first_bucket_that_holds_it(tmp_path: Path) -> None:
    with SharedValues(tmp_path) as values:
        for value in (0.5, 1.0, 3.0):
            values.observe(THINGS, ("a",), value, (1.0, 2.0))
        (metric,) = sums(tmp_path)

    found = {(each.name, each.labels.get("le")): each.value for each in metric.samples}
    assert found["things_bucket", "1.0"] == 2
    assert found["things_bucket", "+Inf"] == 3
    assert found["things_sum", None] == 4.5
    assert found["things_count", None] == 3


def test_names_have_an_end() -> None:
    names = Names(2)

    assert names("p", "a") == ("p", "a")
    assert names("p", "b") == ("p", "b")
    assert names("p", "c") == ("p", "other")
    assert names("p", "a") == ("p", "a")


def test_the_board_shows_all_that_is_exported_and_nothing_else() -> None:
    file = files("gateway_extension_telemetry").joinpath("board.json")
    board = msgspec.json.decode(file.read_bytes())
    shown = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"model_gateway\w+", target["expr"])
    }

    counted = [each for each in vars(counts).values() if isinstance(each, Counted)]
    timed = {each.name for each in (counts.DURATION, counts.FIRST_BYTE)}
    exported = {f"{each.name}{'_bucket' if each.name in timed else '_total'}" for each in counted}
    assert shown == exported


def test_counts_need_no_cost_and_no_key(tmp_path: Path) -> None:
    row = {
        **dict.fromkeys(counts.TOKEN_TYPES.values(), 0),
        "provider": None,
        "model_sent": None,
        "status": "error",
        "duration_ms": 1,
        "ttft_ms": None,
        "cost": None,
        "api_key_id": "k-1",
    }
    with SharedValues(tmp_path) as values:
        Counts(values, 10).request("chat", row)
        names = {metric.name for metric in sums(tmp_path)}

    assert "model_gateway_key_requests" in names
    assert "model_gateway_cost_dollars" not in names
