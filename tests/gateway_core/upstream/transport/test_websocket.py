"""WebSockets to vendors: over real proxies, with odd frames, slow vendors and vanishing ones."""

import asyncio
import base64
import hashlib
import struct

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_sockets

from gateway_core.contracts.errors import TransportError, UpstreamError
from gateway_core.contracts.exchange import SocketClosed, UpstreamRequest
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy, websocket
from gateway_core.upstream.transport.websocket import GUID, MESSAGE

CLOSE, MASK = 8, 4
"""An opcode, and the bytes of a mask."""


def request(url, **headers):
    return UpstreamRequest(method="GET", url=url, headers=headers)


async def echo(connection: ServerConnection):
    async for message in connection:
        await connection.send(message)


class Sockets:
    """A vendor's sockets, by the library that others write theirs with."""

    def __init__(self, handler=echo, tls=None, **options):
        self.handler, self.tls, self.options = handler, tls, options
        self.requests = []

    async def handle(self, connection):
        self.requests.append(connection.request)
        await self.handler(connection)

    async def __aenter__(self):
        self.server = await serve_sockets(self.handle, "127.0.0.1", 0, ssl=self.tls, **self.options)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *problem):
        self.server.close()
        await self.server.wait_closed()

    def url(self, path="/", host="127.0.0.1"):
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"


async def shake_hands(peer, **fields):
    """Upgrade the connection of a raw peer; what its client has sent."""
    head = await peer.head()
    key = next(
        line.partition(b": ")[2]
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"sec-websocket-key")
    )
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
    lines = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-accept": accept}
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    text = "".join(f"{name}: {value}\r\n" for name, value in {**lines, **named}.items())
    await peer.say(f"HTTP/1.1 101 Switching Protocols\r\n{text}\r\n".encode())
    return head


async def parted(peer):
    """Wait for the client's close frame; the vendor closes the connection then."""
    opcode = None
    while opcode != CLOSE:
        first, size = await peer.reader.readexactly(2)
        await peer.reader.readexactly(MASK + (size & 0x7F))  # control frames are short
        opcode = first & 0x0F


def frame(opcode, payload, *, fin=True):
    first = (0x80 if fin else 0) | opcode
    size = len(payload)
    if size < 126:
        return struct.pack("!BB", first, size) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", first, 126, size) + payload
    return struct.pack("!BBQ", first, 127, size) + payload


def test_messages_pass_both_ways(run, open_network):
    async def scenario():
        async with Sockets() as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url("/v1/x?model=a"), authorization="k"))
            for message in ("hällo", b"\x00\xff", "x" * MESSAGE, b"", ""):
                assert await socket.send(message)
                assert await socket.receive() == message
            await socket.close()

            (seen,) = vendor.requests
            assert seen.path == "/v1/x?model=a"
            assert seen.headers["authorization"] == "k"
            assert "sec-websocket-extensions" not in seen.headers

    run(scenario)


def test_sockets_go_through_proxies_and_over_tls(
    run, serve, proxy, certified, trusting, open_network
):
    async def scenario():
        async with (
            Sockets(tls=certified("a.test")) as vendor,
            serve(proxy) as middle,
            open_network(tls=trusting) as network,
        ):
            way = f"{proxy.scheme}://127.0.0.1:{middle.port}"
            socket = await network.connect(request(vendor.url(host="a.test")), way)
            await socket.send("hi")
            assert await socket.receive() == "hi"
            await socket.close()

            assert middle.accepted == 1

    run(scenario)


@pytest.mark.parametrize("vendor_tls", [False, True], ids=["ws", "wss"])
def test_sockets_go_through_a_proxy_that_speaks_tls_itself(
    run, serve, http_proxy, certified, trusting, open_network, vendor_tls
):
    async def scenario():
        async with (
            Sockets(tls=certified("a.test") if vendor_tls else None) as vendor,
            serve(http_proxy, certified("127.0.0.1")) as middle,
            open_network(tls=trusting) as network,
        ):
            way = f"https://us%20er:secret@127.0.0.1:{middle.port}"
            socket = await network.connect(request(vendor.url(host="a.test")), way)
            for message in ("hi", "x" * MESSAGE, b"\x00" * MESSAGE):
                async with asyncio.TaskGroup() as both:
                    both.create_task(socket.send(message))
                    received = both.create_task(socket.receive())
                assert received.result() == message
            await socket.close()

            (head,) = http_proxy.seen
            assert head.startswith(b"CONNECT a.test:" if vendor_tls else b"GET http://a.test:")
            assert b"proxy-authorization: basic dXMgZXI6c2VjcmV0" in head.replace(
                b"Proxy-Authorization: Basic", b"proxy-authorization: basic"
            )

    run(scenario)


def test_a_proxy_whose_certificate_nobody_vouches_for_is_not_used(
    run, serve, http_proxy, certified, trusting, open_network
):
    async def scenario():
        async with (
            Sockets() as vendor,
            serve(http_proxy, certified("elsewhere.test")) as middle,
            open_network(tls=trusting) as network,
        ):
            with pytest.raises(TransportError) as caught:
                await network.connect(
                    request(vendor.url(host="a.test")), f"https://127.0.0.1:{middle.port}"
                )
            assert not caught.value.sent
            assert not vendor.requests

    run(scenario)


def test_an_address_that_may_not_be_dialled_is_not(run, open_network):
    async def scenario():
        async with Sockets() as vendor, open_network() as network:
            with pytest.raises(AddressForbidden):
                await network.connect(request(vendor.url()), policy=AddressPolicy.PUBLIC)
            assert not vendor.requests

    run(scenario)


def test_a_refused_handshake_says_why(run, serve, open_network):
    async def refuse(peer):
        await peer.head()
        body = b'{"error": {"message": "no such model"}}'
        await peer.say(
            b"HTTP/1.1 404 Not Found\r\nx-request-id: r1\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(body), body)
        )

    async def scenario():
        async with serve(refuse) as vendor, open_network() as network:
            with pytest.raises(UpstreamError, match="no such model") as caught:
                await network.connect(request(vendor.url()))
            assert (caught.value.status, caught.value.request_id) == (404, "r1")

    run(scenario)


@pytest.mark.parametrize(
    "fields",
    [
        {"sec_websocket_accept": "bm8="},
        {"sec_websocket_extensions": "permessage-deflate"},
        {"sec_websocket_protocol": "unheard-of"},
        {"upgrade": "h2c"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_handshake_that_is_none_is_refused(run, serve, open_network, fields):
    async def handler(peer):
        await shake_hands(peer, **fields)
        await peer.gone()

    async def scenario():
        async with serve(handler) as vendor, open_network() as network:
            with pytest.raises(TransportError, match="no WebSocket handshake"):
                await network.connect(request(vendor.url()), subprotocols=("realtime",))

    run(scenario)


def test_the_vendor_chooses_a_subprotocol_that_is_offered(run, open_network):
    async def scenario():
        async with (
            Sockets(subprotocols=["realtime"]) as vendor,
            open_network() as network,
        ):
            socket = await network.connect(
                request(vendor.url()), subprotocols=("other", "realtime")
            )
            assert socket.subprotocol == "realtime"
            await socket.close()

    run(scenario)


def test_pieces_of_a_message_become_one(run, serve, open_network):
    async def handler(peer):
        await shake_hands(peer)
        snow = "☃".encode()
        await peer.say(frame(1, b"a" + snow[:1], fin=False))
        await peer.say(frame(9, b"ping"), frame(0, snow[1:], fin=False), frame(0, b"z"))
        await parted(peer)

    async def scenario():
        async with serve(handler) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            assert await socket.receive() == "a☃z"
            await socket.close()

    run(scenario)


def test_pings_are_answered(run, open_network):
    alive = asyncio.Event()

    async def ping(connection):
        await (await connection.ping())
        alive.set()
        await connection.wait_closed()

    async def scenario():
        alive.clear()
        async with Sockets(ping) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            receiving = asyncio.create_task(socket.receive())
            await alive.wait()
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)
            await socket.close()

    run(scenario)


def test_a_vendor_that_gives_no_sign_of_life_is_gone(run, serve, open_network, monkeypatch):
    monkeypatch.setattr(websocket, "QUIET", 0.02)

    async def mute(peer):
        await shake_hands(peer)
        await peer.gone()

    async def scenario():
        async with serve(mute) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            assert await socket.receive() == SocketClosed(1006, "The provider is gone")
            await socket.close()

    run(scenario)


@pytest.mark.parametrize("way", ["close", "reset"])
def test_a_vendor_that_vanishes_is_noticed(run, serve, open_network, way):
    async def handler(peer):
        await shake_hands(peer)
        await peer.say(frame(1, b"last"))
        await peer.reader.readexactly(1)
        getattr(peer, way)()

    async def scenario():
        async with serve(handler) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            assert await socket.receive() == "last"
            await socket.send("go")
            closed = await socket.receive()
            assert isinstance(closed, SocketClosed)
            assert closed.code == 1006
            assert await socket.send("late")
            await socket.close()

    run(scenario)


def test_the_vendors_close_frame_is_read_and_answered(run, open_network):
    codes = []

    async def leave(connection):
        await connection.close(4321, "enough")
        codes.append((connection.close_code, connection.close_reason))

    async def scenario():
        async with Sockets(leave) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            assert await socket.receive() == SocketClosed(4321, "enough")
            await socket.close()

    run(scenario)
    assert codes[-1] == (4321, "enough")


def test_a_close_frame_reaches_the_vendor(run, open_network):
    codes = []

    async def stay(connection):
        await connection.wait_closed()
        codes.append((connection.close_code, connection.close_reason))

    async def scenario():
        async with Sockets(stay) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            await socket.close(1001, "bye")
            await socket.close()
            assert await socket.receive() == SocketClosed(1001, "bye")

    run(scenario)
    assert codes[-1] == (1001, "bye")


@pytest.mark.parametrize(
    "parts",
    [
        [frame(1, b"x" * (MESSAGE + 1))],
        [frame(2, b"x" * MESSAGE, fin=False), frame(0, b"x")],
        [frame(1, "☃".encode() * (MESSAGE // 3 + 1))],
    ],
    ids=["one frame", "two frames", "text of three bytes each"],
)
def test_a_message_that_is_too_long_closes_the_socket(run, serve, open_network, parts):
    async def handler(peer):
        await shake_hands(peer)
        await peer.say(*parts)
        await parted(peer)

    async def scenario():
        async with serve(handler) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            closed = await socket.receive()
            assert isinstance(closed, SocketClosed)
            assert closed.code == 1013

    run(scenario)


@pytest.mark.parametrize(
    "data",
    [frame(3, b"?"), frame(1, b"\xff"), frame(0, b"?"), b"\xc1\x00", b"\x81\x81aaaa?"],
    ids=["opcode", "utf-8", "no beginning", "reserved bit", "mask"],
)
def test_a_vendor_that_breaks_the_protocol_is_left(run, serve, open_network, data):
    async def handler(peer):
        await shake_hands(peer)
        await peer.say(data)
        await parted(peer)

    async def scenario():
        async with serve(handler) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            closed = await socket.receive()
            assert isinstance(closed, SocketClosed)
            assert (closed.code, closed.reason) == (1006, "The provider broke the protocol")

    run(scenario)


def test_a_vendor_that_answers_no_close_frame_is_left(run, serve, open_network, monkeypatch):
    monkeypatch.setattr(websocket, "FAREWELL", 0.05)

    async def rude(peer):
        await shake_hands(peer)
        await peer.say(frame(3, b"?"))
        await peer.gone()

    async def scenario():
        async with serve(rude) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            closed = await socket.receive()
            assert (closed.code, closed.reason) == (1006, "The provider broke the protocol")

    run(scenario)


def test_a_vendor_that_takes_nothing_slows_its_sender_down(run, serve, open_network, monkeypatch):
    monkeypatch.setattr(websocket, "STALLED", 0.2)
    release = asyncio.Event()

    async def lazy(peer):
        await shake_hands(peer)
        await release.wait()

    async def scenario():
        release.clear()
        async with serve(lazy) as vendor, open_network() as network:
            socket = await network.connect(request(vendor.url()))
            sent = 0
            while await socket.send(b"x" * MESSAGE):
                sent += 1
                assert sent < 64
            release.set()
            await socket.close()

    run(scenario)


def test_a_vendor_that_says_nothing_is_not_waited_for_long(run, serve, open_network, monkeypatch):
    monkeypatch.setattr(websocket, "HANDSHAKE", 0.05)

    async def mute(peer):
        await peer.gone()

    async def scenario():
        async with serve(mute) as vendor, open_network() as network:
            with pytest.raises(TransportError) as caught:
                await network.connect(request(vendor.url()))
            assert caught.value.status == 504

    run(scenario)


def test_a_network_that_closes_ends_its_sockets(run, serve, open_network):
    async def handler(peer):
        await shake_hands(peer)
        await peer.gone()

    async def scenario():
        async with serve(handler) as vendor:
            async with open_network() as network:
                socket = await network.connect(request(vendor.url()))
                receiving = asyncio.create_task(socket.receive())
                await asyncio.sleep(0)
            closed = await receiving
            assert isinstance(closed, SocketClosed)
            await socket.close()

    run(scenario)
