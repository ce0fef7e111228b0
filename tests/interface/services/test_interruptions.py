"""Clients that leave and vendors that break off, in the middle of uploads and of bytes."""

import asyncio
import http.client
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

MIB = 1024 * 1024
SPEECH = {"model": "openai/tts-1", "input": "Hello", "voice": "alloy"}


def leftovers(here: Served) -> list[Path]:
    folder = here.gateway.core.data_dir.path / "tmp"
    return list(folder.iterdir()) if folder.exists() else []


async def when_idle(here: Served) -> None:
    """Wait, for two seconds at most, until no request is on its way."""
    async with asyncio.timeout(2):
        while len(here.gateway.core.in_flight):
            await asyncio.sleep(0)


def open_files(here: Served) -> int:
    """Descriptors of this process that lead to removed files of the gateway's folder."""
    folder = str(here.gateway.core.data_dir.path / "tmp")
    links = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(link.readlink()))
        except OSError:
            continue
    return sum(folder in link for link in links)


def test_bytes_reach_the_client_as_they_come(connected: Any) -> None:
    written = threading.Event()

    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(b"first", content_type="audio/mpeg", hang=True)

    here = connected(say)
    with (
        httpx2.Client(trust_env=False, timeout=10) as client,
        client.stream("POST", f"{here.url}/v1/audio/speech", json=SPEECH) as response,
    ):
        assert next(response.iter_bytes()) == b"first"
        written.set()
    here.do(when_idle(here))

    assert written.is_set()
    assert here.rows()[0].status == "client_gone"


def test_bytes_that_break_off_have_no_proper_end(connected: Any) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(b"first", content_type="audio/mpeg", cut=True)

    here = connected(say)
    with (
        httpx2.Client(trust_env=False, timeout=10) as client,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        client.post(f"{here.url}/v1/audio/speech", json=SPEECH)

    here.do(when_idle(here))
    assert here.rows()[0].status == "upstream_cut"


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
def test_a_form_that_is_too_large_leaves_nothing_behind(
    connected: Any, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    here = connected(lambda received: MockResponse())
    endpoints = here.gateway.app._endpoints
    route, _ = endpoints.find("/v1/audio/transcriptions")
    small = route.endpoint.__class__(
        **{
            name: getattr(route.endpoint, name)
            for name in route.endpoint.__struct_fields__
            if name != "form_limit"
        },
        form_limit=2 * MIB,
    )
    found = {"/v1/audio/transcriptions": (route.__class__(small, route.wire), {})}
    monkeypatch.setattr(endpoints, "_fixed", {**endpoints._fixed, **found})
    head = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    body = head + bytes(4 * MIB) + b"\r\n--b--\r\n"
    headers = {"content-type": "multipart/form-data; boundary=b"}

    with httpx2.Client(trust_env=False, timeout=30) as client:
        content: Any = (
            body if announced else (body[i : i + 65536] for i in range(0, len(body), 65536))
        )
        answer = client.post(
            f"{here.url}/v1/audio/transcriptions", content=content, headers=headers
        )

    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "body_too_large"
    assert here.vendors["vendor"].received == []
    assert open_files(here) == 0
    assert leftovers(here) == []


def test_a_client_that_leaves_in_its_upload_leaves_nothing_behind(connected: Any) -> None:
    here = connected(lambda received: MockResponse())
    port = int(here.url.rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest("POST", "/v1/audio/transcriptions")
    connection.putheader("content-type", "multipart/form-data; boundary=b")
    connection.putheader("content-length", str(8 * MIB))
    connection.endheaders()
    connection.send(b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n')
    connection.send(bytes(3 * MIB))

    async def spooled() -> None:
        async with asyncio.timeout(10):
            while not open_files(here):
                await asyncio.sleep(0)

    here.do(spooled())
    connection.close()

    async def gone() -> None:
        async with asyncio.timeout(2):
            while open_files(here):
                await asyncio.sleep(0)

    here.do(gone())
    here.do(when_idle(here))
    assert here.vendors["vendor"].received == []
