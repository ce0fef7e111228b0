"""A gateway that serves over TLS, started the way an operator starts it."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from certificates import Issued, issue
from custom_node import END, EVENT, STREAM
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import Running, running, vendor

from gateway_cli.event_loop import LOOPS
from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER, cli_token

PASSWORD = "a-canary-for-the-door"
LOGIN = {"JWT_SECRET": "a-canary-that-signs-for-an-hour-or-two", "INITIAL_PASSWORD": PASSWORD}
CHAT = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    folder: Path = tmp_path_factory.mktemp("certificate")
    return issue(folder)


@pytest.fixture(scope="module", params=LOOPS)
def here(
    request: pytest.FixtureRequest, issued: Issued, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    options = ("--loop", request.param, *issued.options)
    with running(tmp_path_factory.mktemp("tls"), *options, variables=LOGIN) as gateway:
        yield gateway


def client(issued: Issued, *, http2: bool = True) -> httpx2.Client:
    return httpx2.Client(verify=issued.trusting(), http2=http2, trust_env=False, timeout=20)


@pytest.mark.parametrize("http2", [True, False])
def test_it_serves_answers_and_streams(here: Running, issued: Issued, http2: bool) -> None:
    with client(issued, http2=http2) as http:
        plain = http.post(f"{here.url}/v1/chat/completions", json=CHAT)
        streamed = http.post(f"{here.url}/v1/chat/completions", json={**CHAT, "stream": True})

    assert here.url.startswith("https://127.0.0.1:")
    assert plain.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
    assert plain.json()["choices"][0]["message"]["content"]
    assert streamed.text.endswith("data: [DONE]\n\n")


def test_a_session_cookie_of_tls_is_secure(here: Running, issued: Issued) -> None:
    with client(issued) as http:
        origin = {"origin": here.url}
        response = http.post(
            f"{here.url}/api/auth/login", json={"password": PASSWORD}, headers=origin
        )

    assert response.status_code == 200
    assert "secure" in response.headers["set-cookie"].lower().split("; ")


def test_a_plain_request_is_not_answered(here: Running) -> None:
    with pytest.raises(httpx2.TransportError):
        httpx2.get(here.url.replace("https", "http"), trust_env=False)


def slow(streaming: ReceivedRequest) -> MockResponse:
    """A stream that goes on for a second and then ends well."""
    return MockResponse.stream(EVENT % b"a", EVENT % b"b", END, pause=0.4)


def test_a_stop_lets_a_stream_end(issued: Issued, tmp_path: Path) -> None:
    with vendor(slow) as lab, running(tmp_path, *issued.options) as here, client(issued) as http:
        add(here, tmp_path, http, lab.url)
        streaming = http.stream("POST", f"{here.url}/v1/chat/completions", json=json.loads(STREAM))
        with streaming as answer:
            pieces = answer.iter_text()
            first = next(pieces)
            here.process.send_signal(signal.SIGTERM)
            rest = "".join(pieces)
        code = here.process.wait(15)

    assert '"content":"a"' in first
    assert "[DONE]" in rest
    assert code == 0


def add(here: Running, data_dir: Path, http: httpx2.Client, vendor_url: str) -> None:
    """Add the vendor as ``lab``."""
    owned = DataDir(data_dir)
    token = {CLI_HEADER: cli_token(owned.raw_machine_id(), owned.cli_secret())}
    kind = {"name": "Lab", "prefix": "lab", "type": "openai-compatible", "apiType": "chat"}
    node = {**kind, "baseUrl": f"{vendor_url}/v1"}
    made = http.post(f"{here.url}/api/provider-nodes", json=node, headers=token).json()
    account = {"provider": made["node"]["id"], "name": "main", "apiKey": "lab-key"}
    saved = http.post(f"{here.url}/api/connections", json=account, headers=token)
    assert saved.status_code == 201


def test_workers_share_the_port(issued: Issued, tmp_path: Path) -> None:
    with running(tmp_path, "--workers", "2", *issued.options) as here:
        answers = []
        for _ in range(10):
            with client(issued) as http:
                answers.append(http.get(f"{here.url}/api/health"))
        workers = psutil.Process(here.process.pid).children()

    assert {(each.status_code, each.http_version) for each in answers} == {(200, "HTTP/2")}
    assert len(workers) == 2
