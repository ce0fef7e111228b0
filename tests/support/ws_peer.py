"""A WebSocket client that sends whatever frames a test wants, right or wrong."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

PATIENCE = 10.0
"""Seconds after which a test fails instead of waiting on."""
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
FIN, RSV1, RSV2, RSV3 = 0x80, 0x40, 0x20, 0x10
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""Key and answer of RFC 6455, section 1.3."""
UPGRADE = (
    b"upgrade: websocket",
    b"connection: Upgrade",
    b"sec-websocket-version: 13",
    b"sec-websocket-key: " + KEY,
)


class Frame(NamedTuple):
    opcode: int
    payload: bytes
    is_final: bool = True


def frame(opcode: int, payload: bytes = b"", *, first: int = FIN, mask: bool = True) -> bytes:
    """A frame of a client; ``first`` holds the bits beside the opcode."""
    size = len(payload)
    bit = 0x80 if mask else 0
    head = bytes([first | opcode])
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + size.to_bytes(2, "big")
    else:
        head += bytes([bit | 127]) + size.to_bytes(8, "big")
    if not mask:
        return head + payload
    key = os.urandom(4)
    whole = (key * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")
    return head + key + masked.to_bytes(size, "big")


def close_frame(code: int | None = 1000, reason: bytes = b"") -> bytes:
    return frame(CLOSE, (b"" if code is None else code.to_bytes(2, "big")) + reason)


def handshake(target: bytes, *headers: bytes, own: tuple[bytes, ...] = UPGRADE) -> bytes:
    lines = b"".join(header + b"\r\n" for header in (*own, *headers))
    return b"GET " + target + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n" + lines + b"\r\n"


class WsPeer:
    """One socket, over streams of any kind."""

    def __init__(
        self,
        read: Callable[[int], Awaitable[bytes]],
        write: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self.read, self._write = read, write
        self.head = b""
        """Of the response to the handshake."""

    async def send(self, *frames: bytes) -> None:
        """Send, as far as the server wants it."""
        with suppress(ConnectionError):
            for each in frames:
                await self._write(each)

    async def shake(self, target: bytes, *headers: bytes, own: tuple[bytes, ...] = UPGRADE) -> int:
        """The status of the response."""
        await self.send(handshake(target, *headers, own=own))
        return await self.read_head()

    async def read_head(self) -> int:
        while not self.head.endswith(b"\r\n\r\n"):
            self.head += await self._exactly(1)
        return int(self.head.split()[1])

    async def frame(self) -> Frame | None:
        """The next frame; ``None`` once the server has closed."""
        try:
            first, second = await self._exactly(2)
            size = second & 0x7F
            assert not second & 0x80, "a server must not mask"
            assert not first & 0x70, "no extension was negotiated"
            if size > 125:
                size = int.from_bytes(await self._exactly(2 if size == 126 else 8), "big")
            return Frame(first & 0xF, await self._exactly(size), bool(first & FIN))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def rest(self) -> list[Frame]:
        """Every frame until the server has closed."""
        frames = []
        while (each := await self.frame()) is not None:
            frames.append(each)
        return frames

    async def closing(self) -> int | None:
        """The code with which the server closes; ``None`` without a close frame."""
        codes = [code_of(each) for each in await self.rest() if each.opcode == CLOSE]
        return codes[0] if codes else None

    async def _exactly(self, size: int) -> bytes:
        async with asyncio.timeout(PATIENCE):
            data = b""
            while len(data) < size:
                piece = await self.read(size - len(data))
                if not piece:
                    raise asyncio.IncompleteReadError(data, size)
                data += piece
            return data


def code_of(closing: Frame) -> int:
    return int.from_bytes(closing.payload[:2], "big") if closing.payload else 1005


@asynccontextmanager
async def connected(port: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[WsPeer]:
    """A connection without a handshake."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    try:
        yield WsPeer(reader.read, write)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def socket_to(port: int, target: bytes = b"/", *headers: bytes) -> AsyncIterator[WsPeer]:
    """An open socket."""
    async with connected(port) as peer:
        status = await peer.shake(target, *headers)
        assert status == 101, peer.head
        yield peer
