"""What a client has not taken yet, asked of a real socket."""

import asyncio
import socket
import sys
from collections.abc import Callable

import pytest
from gateway_server_fast.unsent import kernel_unsent_bytes, unsent_bytes
from h2_apps import settle

from gateway_cli.event_loop import loop_factory

SIZE = 40_000


def on(server: str, main: Callable[[], object]) -> None:
    with asyncio.Runner(loop_factory=loop_factory(server)) as runner:
        runner.run(main())  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
@pytest.mark.parametrize("server", ["uvloop", "asyncio"])
def test_bytes_are_on_their_way_until_the_client_has_them(server: str) -> None:
    async def main() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(listener.getsockname())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        accepted, _ = listener.accept()
        accepted.setblocking(False)
        _, writer = await asyncio.open_connection(sock=accepted)
        transport = writer.transport

        assert unsent_bytes(transport) == 0
        transport.write(b"a" * SIZE)
        await settle(lambda: 0 < kernel_unsent_bytes(transport) < SIZE)
        assert transport.get_write_buffer_size() == 0
        before = kernel_unsent_bytes(transport)
        taken = len(client.recv(SIZE))
        await settle(lambda: kernel_unsent_bytes(transport) < before)
        while taken < SIZE:
            taken += len(client.recv(SIZE))
        await settle(lambda: unsent_bytes(transport) == 0)
        transport.abort()
        await asyncio.sleep(0.01)
        assert kernel_unsent_bytes(transport) == 0
        client.close()
        listener.close()

    on(server, main)
