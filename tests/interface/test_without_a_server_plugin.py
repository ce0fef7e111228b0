"""The gateway serves by hypercorn where no server plugin is installed."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from certificates import Issued, issue
from gateway_process import Running, running

CHAT = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}
WITHOUT = {"GATEWAY_BLOCK_PLUGINS": "server-fast"}


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    folder: Path = tmp_path_factory.mktemp("certificate")
    return issue(folder)


@pytest.fixture(scope="module", params=["plain", "tls", "workers"])
def here(
    request: pytest.FixtureRequest, issued: Issued, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    options = {"plain": (), "tls": issued.options, "workers": ("--workers", "2")}[request.param]
    folder = tmp_path_factory.mktemp("data")
    with running(folder, *options, variables=WITHOUT) as gateway:
        yield gateway


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
def test_it_serves_answers_and_streams(here: Running, issued: Issued, http2: bool) -> None:
    is_secure = here.url.startswith("https")
    with httpx2.Client(verify=issued.trusting(), http2=http2, trust_env=False, timeout=60) as http:
        whole = http.post(f"{here.url}/v1/chat/completions", json=CHAT)
        stream = http.post(f"{here.url}/v1/chat/completions", json={**CHAT, "stream": True})

    assert "hypercorn on " in here.printed
    assert whole.http_version == ("HTTP/2" if http2 and is_secure else "HTTP/1.1")
    assert whole.json()["choices"][0]["message"]["content"]
    assert stream.text.endswith("data: [DONE]\n\n")


def test_a_server_may_be_chosen_that_is_not_the_default(tmp_path: Path) -> None:
    with running(tmp_path, "--server", "hypercorn") as gateway:
        health = httpx2.get(f"{gateway.url}/api/health", trust_env=False)
        gateway.process.send_signal(signal.SIGTERM)
        code = gateway.process.wait(30)

    assert "hypercorn on " in gateway.printed
    assert health.status_code == 200
    assert code == 0
