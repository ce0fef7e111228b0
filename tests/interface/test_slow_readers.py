"""A client that does not read a long stream slows its vendor down."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fake_vendor import MockResponse
from other_servers import Guest, Lockstep, Reader, queued
from served_gateway import keyless_provider, serve_gateway

from gateway_cli.event_loop import LOOPS

MOST = 256 * 1024
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n'
OFFERED = 40_000_000


@pytest.fixture(scope="module")
def step() -> Iterator[Lockstep]:
    with closing(Lockstep()) as vendor:
        yield vendor


@pytest.mark.parametrize("server", LOOPS)
@pytest.mark.parametrize("path", [b"/v1/chat/completions", b"/v1/messages"])
@pytest.mark.parametrize("size", [200, 6000, 60_000])
def test_at_most_256_kib_of_a_stream_are_buffered(
    tmp_path: Path, step: Lockstep, size: int, path: bytes, server: str
) -> None:
    request = {"model": "step-openai/m", "stream": True, "max_tokens": 9}
    body = json.dumps({**request, "messages": [{"role": "user", "content": "Hi"}]}).encode()
    piece = EVENT % (b"~" * size)
    chunk = b"%x\r\n%b\r\n" % (len(piece), piece)
    with (
        serve_gateway(
            tmp_path,
            {"openai": lambda request: MockResponse(())},
            server=server,
            specs=lambda vendors: [keyless_provider("openai", vendors["openai"]), step.provider()],
        ) as here,
        closing(Reader(Guest("our own", here, here.url, None))) as reader,
    ):
        reader.ask(body, path)
        step.hear()
        step.begin()
        offered = step.offers(chunk * (OFFERED // len(chunk)), 0.5)
        taken = (offered - queued(step.port)) / len(chunk)
        received = _next(reader, queued(reader.port))

    arrived = received.count(b"~") / size
    held = (taken - arrived) * max(len(piece), len(received) / arrived)
    assert offered < OFFERED / 2
    assert 0 < held <= MOST


def _next(reader: Reader, size: int) -> bytes:
    """The part of the answer that a client gets by reading this many bytes."""
    taken = b""
    while len(taken) < size:
        taken += reader.take()
    return taken[:size]
