"""Options of sockets, as the system has them."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any

import httpx2
import pytest
from certificates import Issued
from h2_peer import place
from http1_house import opened, run, say

from gateway_cli.event_loop import LOOPS
from gateway_cli.listening import BACKLOG

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asked of Linux")


async def app(scope: Any, receive: Any, send: Any) -> None:
    await say(send, b"")


def backlog_of(port: int) -> int:
    """The length of the queue, which for a listening socket is the column Send-Q."""
    rows = subprocess.run(["ss", "-ltn"], capture_output=True, text=True, check=True).stdout
    [row] = re.findall(rf"^LISTEN\s+\d+\s+(\d+)\s+\S+:{port}\s", rows, re.MULTILINE)
    return int(row)


@linux_only
@pytest.mark.parametrize("loop", LOOPS)
def test_the_queue_of_the_listening_socket_is_as_long_as_asked(loop: str) -> None:
    most = int(Path("/proc/sys/net/core/somaxconn").read_text())
    found: list[int] = []

    async def main() -> None:
        async with opened(loop, app) as house:
            while not house.manager.now:
                await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            found.append(backlog_of(house.port))

    run(loop, main)

    assert found == [min(BACKLOG, most)]


@pytest.mark.parametrize("loop", LOOPS)
def test_accepted_connections_send_small_segments_at_once(loop: str) -> None:
    found: list[int] = []

    async def main() -> None:
        async with opened(loop, app) as house:
            _, writer = await house.call()
            while not house.manager.connections:
                await asyncio.sleep(0.001)
            (connection,) = house.manager.connections
            sock = connection.transport.get_extra_info("socket")  # type: ignore[attr-defined]
            found.append(sock.getsockopt(IPPROTO_TCP, TCP_NODELAY))
            writer.close()

    run(loop, main)

    assert found[0] != 0


@pytest.mark.anyio
@pytest.mark.parametrize("server", LOOPS)
async def test_connections_over_tls_do_too(issued: Issued, server: str) -> None:
    async with (
        place(app, issued, server=server, http2=False) as here,
        httpx2.AsyncClient(verify=issued.trusting(), trust_env=False) as http,
    ):
        await http.get(here.url)
        (connection,) = here.manager.connections
        sock = connection.transport.get_extra_info("socket")  # type: ignore[attr-defined]
        found = sock.getsockopt(IPPROTO_TCP, TCP_NODELAY)

    assert found != 0
