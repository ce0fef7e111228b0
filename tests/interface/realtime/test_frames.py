"""Odd frames at every server: what is wrong closes one socket, and nothing else."""

import asyncio
from urllib.parse import urlsplit

import pytest
from realtime_client import MODEL, SERVERS, Session
from served_gateway import Served
from ws_cases import REFUSED
from ws_peer import CLOSE, PING, PONG, TEXT, Frame, WsPeer, close_frame, frame, socket_to

TARGET = f"/v1/realtime?model={MODEL}".encode()
BAD = {name: case for name, case in REFUSED.items() if case[1] != 1009}
"""Those that have nothing to do with the longest message."""
OTHER_WAYS = ("6.4.1", "7.9 close code", "a length in more bytes", "a length of 2**63")
"""Cases that the library of uvicorn reads in another way."""


def port_of(here: Served) -> int:
    port = urlsplit(here.url).port
    assert port is not None
    return port


async def created(peer: WsPeer) -> None:
    first = await peer.frame()
    assert first is not None
    assert b"session.created" in first.payload


@pytest.mark.parametrize("name", BAD)
def test_a_bad_frame_closes_the_socket(
    here: Served, name: str, request: pytest.FixtureRequest
) -> None:
    sent, code = BAD[name]
    server = request.node.callspec.params["here"]
    # hypercorn tells the application of a disconnect, and keeps the connection without a word.
    is_closed = "hypercorn" not in server

    async def main() -> int | None:
        async with socket_to(port_of(here), TARGET) as peer:
            await created(peer)
            await peer.send(*sent)
            return await peer.closing() if is_closed else code

    if server in SERVERS[:2] or not name.startswith(OTHER_WAYS):
        assert asyncio.run(main()) == code
    with Session(here) as session:
        session.event("session.created")


def test_pings_are_answered_amid_a_session(here: Served) -> None:
    async def main() -> list[Frame | None]:
        async with socket_to(port_of(here), TARGET) as peer:
            await created(peer)
            await peer.send(frame(PING, b"are you there"), frame(TEXT, b"{", first=0))
            await peer.send(frame(PING, b""), frame(0, b"}"))
            heard: list[Frame | None] = []
            while len(heard) < 3:
                each = await peer.frame()
                if each != Frame(PING, b""):  # hypercorn begins with one.
                    heard.append(each)
            await peer.send(close_frame(4321))
            return [*heard, *await peer.rest()]

    first, second, error, *rest = asyncio.run(main())

    assert first == Frame(PONG, b"are you there")
    assert second == Frame(PONG, b"")
    assert error is not None
    assert b"invalid_request_error" in error.payload
    assert [each.opcode for each in rest if each is not None] == [CLOSE]
