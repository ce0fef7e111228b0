"""A connection on a transport that only takes notes."""

import asyncio
import math

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.transport.connection import SLICE, UpstreamConnection
from gateway_core.upstream.transport.failures import Stale
from gateway_core.upstream.transport.heads import RequestBytes
from gateway_core.upstream.transport.limits import TransportLimits


class Notes(asyncio.Transport):
    """Takes ``room`` writes, then closes or asks for a pause."""

    def __init__(self, room=math.inf, then=None):
        super().__init__()
        self.written = []
        self.room = room
        self.then = then
        self.closing = False

    def write(self, data):
        self.written.append(bytes(data))
        if len(self.written) == self.room:
            self.then()

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True

    def abort(self):
        self.closing = True

    def get_extra_info(self, name, default=None):
        return default


def message(body):
    return RequestBytes(b"HEAD", body, 10.0, 10.0, bodiless=False)


async def begun(transport, body):
    connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
    connection.connection_made(transport)
    task = asyncio.create_task(connection.exchange(message(body)))
    await asyncio.sleep(0)
    return connection, task


def test_a_small_request_is_one_write(run):
    async def scenario():
        transport = Notes()
        connection, task = await begun(transport, b"body")

        connection.connection_lost(None)

        assert transport.written == [b"HEADbody"]
        with pytest.raises(TransportError, match="before it answered"):
            await task

    run(scenario)


def test_a_large_body_follows_as_fast_as_it_is_taken(run):
    body = bytes(range(256)) * (5 * SLICE // 256 + 1)

    async def scenario():
        transport = Notes(room=3)
        transport.then = lambda: connection.pause_writing()
        connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
        connection.connection_made(transport)
        task = asyncio.create_task(connection.exchange(message(body)))
        await asyncio.sleep(0)
        before = len(transport.written)

        connection.resume_writing()
        connection.connection_lost(None)

        assert before == 3
        assert b"".join(transport.written) == b"HEAD" + body
        assert max(map(len, transport.written)) == SLICE
        with pytest.raises(TransportError):
            await task

    run(scenario)


def test_a_server_that_takes_a_request_slowly_is_not_given_up(run):
    async def scenario():
        transport = Notes(room=3)
        transport.then = lambda: connection.pause_writing()
        connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
        connection.connection_made(transport)
        large = RequestBytes(b"HEAD", b"x" * 5 * SLICE, 0.5, 10.0, bodiless=False)
        task = asyncio.create_task(connection.exchange(large))

        for _ in range(2):
            await asyncio.sleep(0.3)
            connection.resume_writing()
            connection.pause_writing()

        # By now more time has passed than it has to answer.
        assert not task.done()
        connection.connection_lost(None)
        with pytest.raises(TransportError):
            await task

    run(scenario)


def test_nothing_is_written_to_a_transport_that_has_failed(run):
    async def scenario():
        transport = Notes(room=2)
        transport.then = transport.close
        connection, task = await begun(transport, b"x" * 20 * SLICE)

        connection.connection_lost(ConnectionResetError())

        assert len(transport.written) == 2
        with pytest.raises(TransportError):
            await task

    run(scenario)


def test_a_closing_connection_takes_no_request(run):
    async def scenario():
        transport = Notes()
        connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
        connection.connection_made(transport)
        transport.closing = True

        with pytest.raises(Stale) as caught:
            await connection.exchange(message(b""))

        assert caught.value.sent is False
        assert transport.written == []

    run(scenario)


def test_an_end_of_the_stream_retires_the_connection_at_once(run):
    retired = []

    class Owner:
        def take_back(self, connection):
            raise AssertionError("it is not free")

        def retire(self, connection):
            retired.append(connection)

        def lose(self, connection):
            raise AssertionError("it has not closed yet")

    async def scenario():
        connection = UpstreamConnection(asyncio.get_running_loop(), TransportLimits())
        connection.connection_made(Notes())
        connection.owner = Owner()

        connection.eof_received()

        assert retired == [connection]
        assert connection.closed

    run(scenario)
