"""Clients over TLS that take their time, with answers and with the end of a connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from certificates import Issued
from gateway_server_fast.http1.protocol import Http1Protocol
from gateway_server_fast.tls.listener import TlsHandshake
from gateway_server_fast.tls.transport import ClosingConnection
from gateway_server_fast.unsent import unsent_bytes
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, StreamEnded
from h2.settings import SettingCodes
from h2_apps import MIB, Send, say, settle, start, streams
from h2_peer import Place, place
from slow_reader import SlowReader

pytestmark = pytest.mark.anyio

SMALL = 16 * 1024
"""What the system keeps of an answer."""
PIECE = 32 * 1024
PIECES = 32
SERVERS = pytest.mark.parametrize("server", ["uvloop", "asyncio"])


class Long:
    """Answers with a mebibyte, piece by piece."""

    def __init__(self) -> None:
        self.begun = self.sent = 0

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        self.begun += 1
        await start(send, (b"content-length", b"%d" % MIB))
        for number in range(PIECES):
            await say(send, bytes([number]) * PIECE, more=number < PIECES - 1)
            self.sent += PIECE


BODY = b"".join(bytes([number]) * PIECE for number in range(PIECES))


@asynccontextmanager
async def received(
    here: Place, *, closes: bool = False, protocol: str = "http/1.1"
) -> AsyncIterator[SlowReader]:
    """A client that has asked over HTTP/1.1, or is about to ask over HTTP/2."""
    reader = await SlowReader.connected(here.port, here.issued.trusting(protocol))
    await settle(
        lambda: here.manager.connections and not isinstance(connection(here), TlsHandshake)
    )
    if protocol == "http/1.1":
        end = b"Connection: close\r\n\r\n" if closes else b"\r\n"
        await reader.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + end)
    try:
        yield reader
    finally:
        reader.close()


def connection(here: Place) -> Any:
    (found,) = here.manager.connections
    return found


async def stopped(here: Place) -> Http1Protocol:
    """The connection, once its client does not take more."""
    line: Http1Protocol = connection(here)
    await settle(lambda: line.flow.write_paused)
    return line


async def closing(here: Place, reader: SlowReader) -> ClosingConnection:
    """What stands for the connection once the answer is said, of which the client has a part."""
    while not isinstance(connection(here), ClosingConnection):
        assert await reader.take(2048)
    rest: ClosingConnection = connection(here)
    assert unsent_bytes(rest._transport)
    return rest


@SERVERS
async def test_an_answer_is_made_no_faster_than_it_is_taken(issued: Issued, server: str) -> None:
    app = Long()

    async with place(app, issued, server=server, buffer=SMALL) as here, received(here) as reader:
        await stopped(here)
        ahead = app.sent
        await reader.take_all(BODY)

    assert ahead < MIB // 2
    assert reader.plain.endswith(BODY)


@SERVERS
async def test_a_client_that_takes_nothing_is_given_up(issued: Issued, server: str) -> None:
    async with place(Long(), issued, server=server, buffer=SMALL) as here, received(here):
        await stopped(here)
        for second in (0, 29):
            here.pass_time(second)
        is_patient = not connection(here).transport.is_closing()
        here.pass_time(31)
        await settle(lambda: not here.manager.connections | here.manager.tasks)

    assert is_patient


@SERVERS
async def test_a_client_that_takes_little_is_waited_for(issued: Issued, server: str) -> None:
    async with (
        place(Long(), issued, server=server, buffer=8 * SMALL) as here,
        received(here) as reader,
    ):
        line = await stopped(here)
        waiting = line.transport._inner.get_write_buffer_size()  # type: ignore[attr-defined]
        here.pass_time(0)
        for turn in range(1, 5):
            before = unsent_bytes(line.transport)
            while unsent_bytes(line.transport) == before:
                await reader.take(1024)
            # All of it came out of the system's buffer.
            assert line.transport._inner.get_write_buffer_size() == waiting  # type: ignore
            here.pass_time(29 * turn)
        await reader.take_all(BODY)

    assert reader.plain.endswith(BODY)


@SERVERS
async def test_the_end_of_an_answer_that_closes_is_waited_for(issued: Issued, server: str) -> None:
    limits = {"buffer": SMALL, "linger": 0.05}

    async with (
        place(Long(), issued, server=server, **limits) as here,
        received(here, closes=True) as reader,
    ):
        await closing(here, reader)
        begun = asyncio.get_running_loop().time()
        here.pass_time(0)
        here.pass_time(29)
        await settle(lambda: asyncio.get_running_loop().time() > begun + 0.1)
        await reader.take_all()

    assert reader.plain.endswith(BODY)
    assert reader.was_told


@SERVERS
async def test_the_end_of_an_answer_that_nobody_takes_is_given_up(
    issued: Issued, server: str
) -> None:
    async with (
        place(Long(), issued, server=server, buffer=SMALL) as here,
        received(here, closes=True) as reader,
    ):
        await closing(here, reader)
        for second in (0, 31):
            here.pass_time(second)
        await settle(lambda: not here.manager.connections | here.manager.tasks)
        await reader.take_all()

    assert not reader.plain.endswith(BODY)


@SERVERS
async def test_a_client_need_not_say_that_it_closes(issued: Issued, server: str) -> None:
    async with (
        place(Long(), issued, server=server) as here,
        received(here, closes=True) as reader,
    ):
        await reader.take_all()
        await settle(lambda: not unsent_bytes(connection(here)._transport))
        for second in (0, 4):
            here.pass_time(second)
        is_patient = bool(here.manager.connections)
        here.pass_time(6)
        await settle(lambda: not here.manager.connections)

    assert is_patient
    assert reader.plain.endswith(BODY)


@SERVERS
async def test_what_comes_behind_an_answer_that_closes_is_not_served(
    issued: Issued, server: str
) -> None:
    app = Long()

    async with (
        place(app, issued, server=server, buffer=SMALL) as here,
        received(here, closes=True) as reader,
    ):
        await closing(here, reader)
        await reader.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.take_all()
        reader.close()
        await settle(lambda: not here.manager.connections | here.manager.tasks)

    assert app.begun == 1


@SERVERS
async def test_the_last_answer_of_a_connection_of_http_2_is_waited_for(
    issued: Issued, server: str
) -> None:
    client = H2Connection(H2Configuration(header_encoding=None))
    client.initiate_connection()
    client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 2 * MIB})
    client.increment_flow_control_window(2 * MIB)
    written = [
        (b":method", b"GET"),
        (b":scheme", b"https"),
        (b":path", b"/"),
        (b":authority", b"a"),
    ]
    client.send_headers(1, written, end_stream=True)

    async with (
        place(Long(), issued, server=server, buffer=SMALL) as here,
        received(here, protocol="h2") as reader,
    ):
        await reader.send(client.data_to_send())
        await settle(lambda: streams(here))
        while streams(here):
            await reader.take(2048)
        here.pass_time(16)
        rest: ClosingConnection = connection(here)
        waiting = unsent_bytes(rest._transport)
        for second in (16, 29):
            here.pass_time(second)
        await reader.take_all()

    events = client.receive_data(reader.plain)
    assert waiting
    assert b"".join(each.data for each in events if isinstance(each, DataReceived)) == BODY
    assert [type(each) for each in events[-2:]] == [StreamEnded, ConnectionTerminated]
