"""Observers follow every request on either path, and none of them can break one."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from answer_filters import SettableFilter, filter_plugin
from fake_vendor import MockResponse, ReceivedRequest
from own_stores import own_stores
from served_gateway import Served, keyless_provider, serve_gateway
from vendor_answers import STREAMED, WHOLE

from gateway_administration.stores.combos import ComboChange
from gateway_core import Call, Host, Target, hookimpl
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.request_run import RequestRun
from gateway_observing import observation_of

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Attempt:
    trace_context = (PARENT, "a=1")

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def answered(self, account: str) -> None:
        self._seen.append("answered")

    def failed(self, account: str, error: BaseException) -> None:
        self._seen.append(f"failed {type(error).__name__}")


class Request:
    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def read(self, call: Call) -> None:
        self._seen.append(f"read {call.model}")

    def attempt(self, target: Target, url: str) -> Attempt:
        self._seen.append(f"attempt {target.model.id}")
        return Attempt(self._seen)


class Recording:
    """Notes what it is shown; the last request's steps are in ``steps``."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.rows: list[Mapping[str, Any]] = []
        self.paths: list[str] = []
        self.is_broken = self.is_running = False

    def begin(self, path: str, headers: Mapping[str, str]) -> Request:
        if self.is_broken:
            raise RuntimeError("a bug")
        self.steps = []
        self.paths.append(path)
        return Request(self.steps)

    @asynccontextmanager
    async def running(self, host: Host) -> AsyncIterator[None]:
        self.is_running = True
        yield
        self.is_running = False

    def record(self, row: Mapping[str, Any], watch: object) -> None:
        self.rows.append(row)
        self.steps.append(f"record {row['status']} {type(watch).__name__}")


def answer(request: ReceivedRequest) -> MockResponse:
    if b"fail" in request.body:
        return MockResponse((b"{}",), status=500)
    if b'"stream":true' in request.body:
        return MockResponse.stream(STREAMED["openai"])
    return MockResponse((WHOLE["openai"],))


@pytest.fixture(scope="module")
def observer() -> Recording:
    return Recording()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, observer: Recording) -> Iterator[Served]:
    plugin = SimpleNamespace(register_observation=hookimpl(lambda: [observation_of(observer)]))
    folder = tmp_path_factory.mktemp("observed")
    with serve_gateway(folder, {"openai": answer}, plugins={"watcher": plugin}) as here:
        yield here


def ask(served: Served, text: str = "hi", times: int = 1, **more: object) -> httpx2.Response:
    """The last of several answers on one connection; from the second on the fast path serves."""
    body = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": text}], **more}
    with httpx2.Client(base_url=served.url, timeout=30) as client:
        for _ in range(times):
            response = client.post("/v1/chat/completions", json=body)
    return response


@pytest.mark.parametrize("times", [1, 2], ids=["pipeline", "fast path"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_an_observer_follows_a_request_from_its_beginning_to_its_row(
    served: Served, observer: Recording, times: int, stream: bool
) -> None:
    before = len(observer.rows)

    response = ask(served, times=times, stream=stream)

    assert response.status_code == 200
    assert observer.steps == [
        "read v-openai/m-1",
        "attempt m-1",
        "answered",
        "record ok Request",
    ]
    assert observer.paths[-1] == "/v1/chat/completions"
    assert len(observer.rows) - before == times


@pytest.mark.parametrize("times", [1, 2], ids=["pipeline", "fast path"])
def test_the_vendor_gets_the_context_of_the_trace(served: Served, times: int) -> None:
    ask(served, times=times)

    headers = served.vendors["openai"].received[-1].headers
    assert headers["traceparent"] == PARENT
    assert headers["tracestate"] == "a=1"


def test_an_attempt_that_fails_is_shown_with_its_error(served: Served, observer: Recording) -> None:
    response = ask(served, "fail")

    assert response.status_code >= 500
    assert observer.steps[1:3] == ["attempt m-1", "failed UpstreamError"]
    assert observer.steps[-1] == "record error Request"


def test_a_refused_request_has_a_row_and_no_attempt(served: Served, observer: Recording) -> None:
    response = ask(served, model="nobody/nothing")

    assert response.status_code in (400, 404)
    assert observer.steps == ["read nobody/nothing", "record error Request"]


def test_a_broken_observer_breaks_no_request_and_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Recording()
    broken.is_broken = True
    plugin = SimpleNamespace(register_observation=hookimpl(lambda: [observation_of(broken)]))
    with serve_gateway(tmp_path, {"openai": answer}, plugins={"watcher": plugin}) as here:
        assert broken.is_running
        assert {ask(here).status_code for _ in range(7)} == {200}

    logged = [each.getMessage() for each in caplog.records if "observer" in each.getMessage()]
    assert logged == [f"failure {number} of the observer" for number in range(1, 6)]


def test_without_observers_a_request_knows_nothing_of_them(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {"openai": answer}) as here:
        assert here.gateway.core.new_run is RequestRun
        ask(here)


async def add_pair(core: Collaborators) -> None:
    change = ComboChange(name="pair", models=("v-broken/m-0", "v-openai/m-1"))
    await own_stores(core).combos.create(change)
    await core.refresh()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("mode", ["hides", ""], ids=["filtered", "passed"])
def test_the_attempts_of_a_request_whose_answer_is_filtered_are_followed(
    tmp_path: Path, stream: bool, mode: str
) -> None:
    observer, held = Recording(), SettableFilter()
    held.mode, held.word = mode, "nothing of it"
    watcher = SimpleNamespace(register_observation=hookimpl(lambda: [observation_of(observer)]))
    broken = MockResponse((b"{}",), status=500)
    with serve_gateway(
        tmp_path,
        {"openai": answer, "broken": lambda received: broken},
        specs=lambda vendors: [
            keyless_provider("openai", vendors["broken"], id="v-broken"),
            keyless_provider("openai", vendors["openai"]),
        ],
        plugins={"watcher": watcher, "settable": filter_plugin(held)},
    ) as here:
        here.do(add_pair(here.gateway.core))
        response = ask(here, model="pair", stream=stream)
        sent = [here.vendors[name].received[-1].headers for name in ("broken", "openai")]

    assert response.status_code == 200
    assert len(held.opened) == 2
    assert [step for step in observer.steps if not step.startswith("read")] == [
        "attempt m-0",
        "failed UpstreamError",
        "attempt m-1",
        "answered",
        "record ok Request",
    ]
    assert {each["traceparent"] for each in sent} == {PARENT}
