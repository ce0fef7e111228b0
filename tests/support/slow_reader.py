"""A client over TLS that reads only as much from its socket as a test wants."""

import asyncio
import socket
import ssl
from typing import Self

BUFFER = 8 * 1024
"""The size of its receive buffer."""


class SlowReader:
    """One connection."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="127.0.0.1")
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self._socket.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self.plain = b""
        """The decrypted data so far."""
        self.is_closed = self.was_told = False
        """Whether the server has closed the socket, and whether it sent close_notify."""

    @classmethod
    async def connected(cls, port: int, context: ssl.SSLContext) -> Self:
        reader = cls(context)
        await reader._loop.sock_connect(reader._socket, ("127.0.0.1", port))
        while True:
            try:
                reader._tls.do_handshake()
            except ssl.SSLWantReadError:
                await reader._flush()
                reader._incoming.write(await reader._loop.sock_recv(reader._socket, 65536))
            else:
                await reader._flush()
                return reader

    async def send(self, data: bytes) -> None:
        self._tls.write(data)
        await self._flush()

    async def take(self, most: int) -> int:
        """Read so many bytes from the socket, and return how many there were."""
        async with asyncio.timeout(10):
            try:
                data = await self._loop.sock_recv(self._socket, most)
            except ConnectionError:
                data = b""
        if not data:
            self.is_closed = True
            return 0
        self._incoming.write(data)
        try:
            while piece := self._tls.read(65536):
                self.plain += piece
            self.was_told = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.was_told = True
        return len(data)

    async def take_all(self, end: bytes | None = None) -> None:
        """Read until the end, or until the server closes."""
        while end is None or not self.plain.endswith(end):
            if self.was_told or not await self.take(65536):
                break

    def close(self) -> None:
        self._socket.close()

    async def _flush(self) -> None:
        await self._loop.sock_sendall(self._socket, self._outgoing.read())
