"""Client disconnects, and first bytes that are forwarded before the last have arrived."""

import socket
import time
from pathlib import Path

import httpx2
import pytest
from fake_vendor import MockResponse
from keyed_vendors import GOOD, JSON, Add, keyed, line
from served_gateway import serve_gateway

from gateway_cli.event_loop import LOOPS


@pytest.mark.parametrize("server", LOOPS)
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_client_disconnect_closes_the_vendor_connection(
    tmp_path: Path, add_account: Add, server: str, when: str
) -> None:
    slow = (
        MockResponse((GOOD,), delay=30)
        if when == "before"
        else MockResponse.stream(
            *(line(str(n)) for n in range(1000)), pause=0.05, content_type="application/x-ndjson"
        )
    )

    with serve_gateway(tmp_path, {"acme": lambda _: slow}, specs=keyed, server=server) as here:
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


def test_the_first_bytes_reach_the_client_before_the_vendor_sends_the_last(
    tmp_path: Path, http: httpx2.Client, add_account: Add
) -> None:
    endless = MockResponse.stream(line("early"), hang=True, content_type="application/x-ndjson")

    with serve_gateway(tmp_path, {"acme": lambda _: endless}, specs=keyed) as here:
        add_account(here, "acme", "k")
        body = {"model": "acme/m", "messages": [{"role": "user", "content": "hi"}]}
        with http.stream("POST", f"{here.url}/v1/api/chat", json=body) as answer:
            assert next(answer.iter_raw()) == line("early")
