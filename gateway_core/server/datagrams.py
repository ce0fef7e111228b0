"""What datagrams are for: a connection that is there, a new one, or another worker's.

```text
socket ──▶ Datagrams ──known──▶ Http3
   inbox ──▶   │ ──first of a connection──▶ (Retry, while many are under way) ──▶ Http3
               └──another worker's──▶ its inbox
```
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import cast

from aioquic.buffer import Buffer
from aioquic.quic.configuration import SMALLEST_MAX_DATAGRAM_SIZE, QuicConfiguration
from aioquic.quic.packet import (
    QuicHeader,
    QuicPacketType,
    encode_quic_retry,
    encode_quic_version_negotiation,
    pull_quic_header,
)
from aioquic.quic.retry import QuicRetryTokenHandler

from .door import App, Door
from .http3 import Http3
from .quic_engine import CID, Quic
from .udp import Post, arrived
from .wide import Address, Wide, is_wide

log = logging.getLogger(__name__)

LONG_HEADER = 0x80
"""The bit that only packets have which belong to the beginning of a connection."""
UNPROVEN = 100
"""Handshakes that may be under way before clients must show that their address is theirs."""


class Datagrams(asyncio.DatagramProtocol):
    """All HTTP/3 connections of a worker."""

    def __init__(
        self, app: App, door: Door, post: Post, settings: Callable[[], QuicConfiguration]
    ) -> None:
        """``settings`` tells what a new connection begins with."""
        self._app, self._door, self._post, self._settings = app, door, post, settings
        self._connections: dict[bytes, Http3] = {}
        """By the names that clients call them by."""
        self._names: dict[Http3, set[bytes]] = {}
        self._serving: set[Http3] = set()
        self._unproven: set[Http3] = set()
        self._tokens = QuicRetryTokenHandler()
        self._is_closing = False
        self._transport: asyncio.DatagramTransport

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        own = self._post.incoming
        if is_wide(own):
            self.connection_made(Wide(own, self.datagram_received))
        else:
            await loop.create_datagram_endpoint(lambda: self, sock=own)
        loop.add_reader(self._post.inbox, self._take_passed_on)

    def close(self) -> None:
        """Take no new connections; those that are there are ended by the door.

        A client whose address has changed may be heard where another worker was, which stops too
        and passes nothing on any more.
        """
        self._is_closing = True
        loop = asyncio.get_running_loop()
        for each in self._post.others:
            loop.add_reader(each, self._take_from, each)
        self._close_if_empty()

    # What the network tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._take(data, addr, is_first_hand=True)

    def error_received(self, exc: Exception) -> None:
        log.debug("a datagram was not taken: %r", exc)

    def _take_passed_on(self) -> None:
        for data, address in self._post.passed_on():
            self._take(data, address, is_first_hand=False)

    def _take_from(self, other: socket.socket) -> None:
        for data, address in arrived(other):
            self._take(data, address, is_first_hand=True)

    def _take(self, data: bytes, address: Address, *, is_first_hand: bool) -> None:
        if not data:
            return
        if data[0] & LONG_HEADER:
            connection = self._known_or_new(data, address)
        else:
            name = data[1 : 1 + CID]
            connection = self._connections.get(name)
            if connection is None and is_first_hand and len(name) == CID:
                self._post.pass_on(name[0], data, address)
        if connection is not None:
            try:
                connection.datagram_received(data, address)
            except Exception:  # The others go on all the same.
                log.exception("an HTTP/3 connection failed")
                self._drop(connection)

    def _known_or_new(self, data: bytes, address: Address) -> Http3 | None:
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=CID)
        except ValueError:
            return None
        known = self._connections.get(header.destination_cid)
        if known is not None or len(data) < SMALLEST_MAX_DATAGRAM_SIZE:
            return known
        versions = self._settings().supported_versions
        if header.packet_type == QuicPacketType.VERSION_NEGOTIATION:
            return None
        if header.version not in versions:
            answer = encode_quic_version_negotiation(
                source_cid=header.destination_cid,
                destination_cid=header.source_cid,
                supported_versions=versions,
            )
            self._transport.sendto(answer, address)
            return None
        if header.packet_type != QuicPacketType.INITIAL or self._is_closing or self._door.is_full:
            return None
        return self._begun(header, address)

    def _begun(self, header: QuicHeader, address: Address) -> Http3 | None:
        """A new connection, if the client's address is its own as far as that matters."""
        if not (header.token or self._is_doubtful):
            return self._new(header.destination_cid, header.destination_cid, None)
        if not header.token:
            self._transport.sendto(self._retry(header, address), address)
            return None
        try:
            named = self._tokens.validate_token(
                address=address[:2],
                destination_cid=header.destination_cid,
                token=header.token,
                now=asyncio.get_running_loop().time(),
            )
        except ValueError:
            return None
        return self._new(header.destination_cid, named, header.destination_cid)

    @property
    def _is_doubtful(self) -> bool:
        """Whether so many handshakes are under way that they may be made up, and take the room of
        clients that are real."""
        most = min(UNPROVEN, self._door.limits.connections // 2)
        return len(self._unproven) >= most

    def _retry(self, header: QuicHeader, address: Address) -> bytes:
        """What a client has to come back with."""
        own = bytes([self._post.number % 256]) + os.urandom(CID - 1)
        token = self._tokens.create_token(
            address=address[:2],
            original_destination_connection_id=header.destination_cid,
            retry_source_connection_id=own,
            now=asyncio.get_running_loop().time(),
        )
        return encode_quic_retry(
            version=header.version or 0,
            source_cid=own,
            destination_cid=header.source_cid,
            original_destination_cid=header.destination_cid,
            retry_token=token,
        )

    def _new(self, called: bytes, named: bytes, retried: bytes | None) -> Http3:
        quic = Quic(self._settings(), self._post.number, named, retried)
        connection = Http3(self._app, self._door, quic, self)
        connection.connection_made(self._transport)
        connection._connection_id_issued_handler = partial(self._name, connection)
        connection._connection_id_retired_handler = partial(self._unname, connection)
        self._serving.add(connection)
        self._unproven.add(connection)
        self._names[connection] = set()
        for name in (called, quic.host_cid):
            self._name(connection, name)
        return connection

    # What the connections tell.

    def shaken(self, connection: Http3) -> None:
        self._unproven.discard(connection)

    def left(self, connection: Http3) -> None:
        self._unproven.discard(connection)
        self._serving.discard(connection)
        self._close_if_empty()

    def gone(self, connection: Http3) -> None:
        for name in self._names.pop(connection, ()):
            del self._connections[name]

    def _name(self, connection: Http3, name: bytes) -> None:
        if connection in self._names:
            self._connections[name] = connection
            self._names[connection].add(name)

    def _unname(self, connection: Http3, name: bytes) -> None:
        if connection in self._names and name in self._names[connection]:
            self._names[connection].remove(name)
            del self._connections[name]

    # The end.

    def _drop(self, connection: Http3) -> None:
        try:
            connection.abort()
        except Exception:
            log.exception("an HTTP/3 connection could not be ended")
        self.left(connection)
        self.gone(connection)

    def _close_if_empty(self) -> None:
        if self._is_closing and not self._serving and not self._transport.is_closing():
            for connection in self._names:
                connection.let_go()
            self._names.clear()
            self._connections.clear()
            self._transport.close()
            self._stop_reading()

    def _stop_reading(self) -> None:
        loop = asyncio.get_running_loop()
        for each in (self._post.inbox, *self._post.others):
            loop.remove_reader(each)
