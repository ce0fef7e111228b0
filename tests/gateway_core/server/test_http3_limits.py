"""HTTP/3 at the edge: what a client may send, and what becomes of it if it sends more."""

import asyncio
from typing import Any

import pytest
from aioquic.h3.connection import FrameType, H3Connection, Setting, encode_frame, encode_settings
from certificates import Issued
from h2_apps import Held, echo, settle, streams
from h2_peer import Place, place
from h3_peer import Peer3, peer3

from gateway_core.server.flood import CREDIT, RESET_COST, TOLD
from gateway_core.server.http3 import Http3
from gateway_core.server.multiplexed import STREAMS, TABLE

pytestmark = pytest.mark.anyio

EXCESSIVE, REJECTED, MESSAGE_ERROR, REQUEST_INCOMPLETE = 0x107, 0x10B, 0x10E, 0x10D
FINE = 0x100


def connections(here: Place) -> list[Any]:
    return [each for each in here.door.visitors if isinstance(each, Http3)]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (b"/" + b"a" * 9000, [], 414),
        (b"/", [(b"a", b"b" * 9000)], 431),
        (b"/", [(b"a%d" % n, b"b") for n in range(101)], 431),
        (b"/", [(b"a%d" % n, b"b" * 4000) for n in range(9)], 431),
        (b"//elsewhere", [], 400),
        (b"no-path", [], 400),
        (b"/", [(b"upgrade", b"websocket"), (b"connection", b"upgrade")], None),
        (b"/", [(b"transfer-encoding", b"chunked")], None),
        (b"/", [(b"content-length", b"+1")], 400),
        (b"/", [(b"content-length", b"1_0")], None),
        (b"/", [(b"content-length", b"5")], None),
        (b"/", [(b"a", b"b\x01c")], 400),
        (b"/", [(b"a b", b"c")], None),
        (b"/", [(b"Upper", b"c")], None),
        (b"/", [(b"host", b"elsewhere")], 200),
        (None, [], None),
    ],
)
async def test_heads_are_checked(
    issued: Issued, path: bytes | None, headers: list[tuple[bytes, bytes]], status: int | None
) -> None:
    """``None`` is for what does not follow the protocol, and ends the connection."""
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request(path, *headers, body=b"a"))

    assert heard.status == (status or 0)
    assert peer.code == (None if status else MESSAGE_ERROR)


@pytest.mark.parametrize(("method", "status"), [(b"TRACE", 405), (b"get", 400), (b"G T", 400)])
async def test_methods_are_checked(issued: Issued, method: bytes, status: int) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request(method=method))

    assert heard.status == status


@pytest.mark.parametrize("host", [b"a b", b"a,b", b"127.0.0.1:99999999"])
async def test_hosts_are_checked(issued: Issued, host: bytes) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request(host=host))

    assert heard.status == 400


async def test_an_application_never_sees_a_refused_request(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        await peer.answer(peer.request(b"//elsewhere"))

    assert not held.begun


async def test_a_head_without_an_end_is_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.quic.get_next_available_stream_id()
        peer.quic.send_stream_data(number, b"\x01" + b"\x80\x10\x00\x00" + bytes(200_000))
        peer.transmit()
        code = await peer.end()

    assert code == EXCESSIVE


async def test_settings_without_an_end_are_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        unknown = {0x1000 + n: 1 for n in range(100)}
        many = b"".join(encode_settings({key: 1}) for key in unknown) * 200
        number = peer.quic.get_next_available_stream_id(is_unidirectional=True)
        peer.quic.send_stream_data(number, b"\x00\x04\x80\x10\x00\x00" + many)
        peer.transmit()
        code = await peer.end()

    assert code in (EXCESSIVE, 0x103)  # A second control stream is wrong by itself.


async def test_more_settings_than_there_are_are_cut_off(
    issued: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = H3Connection._get_local_settings

    def many(own: H3Connection) -> dict[int, int]:
        mine = {0x1000 + number: 1 for number in range(TOLD + 1)}
        return {**usual(own), **(mine if own._is_client else {})}

    monkeypatch.setattr(H3Connection, "_get_local_settings", many)
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        peer.transmit()
        code = await peer.end()

    assert code == EXCESSIVE


async def test_a_head_that_trickles_is_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.quic.get_next_available_stream_id()
        peer.quic.send_stream_data(number, b"\x01\x40")
        peer.transmit()
        await settle(lambda: connections(here)[0].heads.next)
        here.pass_time(9)
        patient = bool(connections(here))
        here.pass_time(11)
        code = await peer.end()

    assert patient
    assert code == EXCESSIVE


async def test_a_stream_without_anything_holds_nobody_up(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        peer.quic._local_next_stream_id_bidi = 12  # Those below it are open, and silent.
        number = peer.request(method=b"POST", body=b"a")
        heard = await peer.answer(number)
        here.pass_time(11)
        other = await peer.answer(peer.request(method=b"POST", body=b"b"))

    assert (heard.body, other.body) == (b"a", b"b")


async def test_requests_may_begin_in_any_order(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        peer.quic._local_next_stream_id_bidi = 8
        later = await peer.answer(peer.request(method=b"POST", body=b"later"))
        peer.quic._local_next_stream_id_bidi = 0
        earlier = await peer.answer(peer.request(method=b"POST", body=b"earlier"))

    assert (later.body, earlier.body) == (b"later", b"earlier")


async def test_trailers_end_a_request(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", body=b"body", ends=False)
        peer.h3.send_headers(number, [(b"some", b"trailer")], True)
        peer.transmit()
        heard = await peer.answer(number)

    assert heard.body == b"body"


async def test_a_request_that_ends_before_its_head_is_not_served(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.quic.get_next_available_stream_id()
        peer.quic.send_stream_data(number, encode_frame(0x21, b"reserved"), end_stream=True)
        peer.transmit()
        heard = await peer.answer(number)
        late = connections(here)[0].heads.is_late(here.door.now + 100, 10)

    assert heard.reset == REQUEST_INCOMPLETE
    assert not late
    assert not held.begun


async def test_more_requests_than_may_run_wait_for_their_turn(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        numbers = [peer.request() for _ in range(STREAMS + 5)]
        await settle(lambda: held.begun == STREAMS)
        await peer.ping()
        begun = held.begun
        held.go.set()
        served = [await peer.answer(number) for number in numbers]

    assert begun == STREAMS
    assert {each.body for each in served} == {b"held"}


async def test_requests_given_up_count_until_the_application_lets_go(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for number in [peer.request() for _ in range(STREAMS)]:
            await settle(lambda number=number: held.begun > number // 4)
            peer.give_up(number, sending=False)
        await settle(lambda: not streams(here))
        rejected = await peer.answer(peer.request())
        held.go.set()
        await settle(lambda: held.ended == STREAMS and not here.door.tasks)
        served = await peer.answer(peer.request())

    assert rejected.reset == REJECTED
    assert served.body == b"held"


async def test_requests_of_all_connections_are_counted(issued: Issued) -> None:
    held = Held()

    serving = place(held, issued, http3=True, connections=2)
    async with serving as here, peer3(here.port, issued) as one, peer3(here.port, issued) as other:
        numbers = [one.request(), one.request()]
        await settle(lambda: held.begun == 2)
        rejected = await other.answer(other.request())
        held.go.set()
        served = [await one.answer(number) for number in numbers]

    assert rejected.reset == REJECTED
    assert {each.body for each in served} == {b"held"}


async def test_requests_given_up_without_end_are_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for _ in range(CREDIT // RESET_COST + 50):
            if peer.code is not None:
                break
            number = peer.request(method=b"POST", ends=False)
            await settle(lambda number=number: peer.code is not None or streams(here))
            peer.give_up(number, hearing=False)
            await settle(lambda: peer.code is not None or not streams(here))
        code = peer.code

    assert code == EXCESSIVE


async def test_a_client_that_ends_no_handshake_is_forgotten(issued: Issued) -> None:
    class Mute(Peer3):
        def datagram_received(self, data: Any, addr: Any) -> None:
            """Hears nothing."""

    async with place(echo, issued, http3=True) as here:
        joining = asyncio.create_task(enter(peer3(here.port, issued, Mute)))
        await settle(lambda: connections(here))
        here.pass_time(9)
        patient = bool(connections(here))
        here.pass_time(11)
        left = connections(here)
        joining.cancel()
        await asyncio.wait([joining])

    assert patient
    assert not left


async def enter(joined: Any) -> None:
    async with joined:
        await asyncio.sleep(0)


async def test_a_connection_that_rests_is_ended(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        await peer.answer(peer.request(method=b"POST", body=b"a"))
        await settle(lambda: not connections(here)[0].on_the_way())
        here.pass_time(14)
        patient = bool(connections(here))
        here.pass_time(16)
        code = await peer.end()

    assert patient
    assert code == FINE


async def test_little_is_remembered_of_headers(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        await peer.answer(peer.request(method=b"POST", body=b"a"))
        offered = peer.h3.received_settings

    assert offered[Setting.QPACK_MAX_TABLE_CAPACITY] == 0
    assert offered[Setting.QPACK_BLOCKED_STREAMS] == 0
    assert Setting.ENABLE_CONNECT_PROTOCOL not in offered
    assert offered[Setting.MAX_FIELD_SECTION_SIZE] > 32 * 1024


async def test_a_client_that_offers_a_large_table_gets_a_small_one(
    issued: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = H3Connection._get_local_settings

    def generous(own: H3Connection) -> dict[int, int]:
        mine = {Setting.QPACK_MAX_TABLE_CAPACITY: 1 << 30, Setting.QPACK_BLOCKED_STREAMS: 1000}
        return {**usual(own), **(mine if own._is_client else {})}

    monkeypatch.setattr(H3Connection, "_get_local_settings", generous)
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        heard = await peer.answer(peer.request(method=b"POST", body=b"a"))
        (connection,) = connections(here)
        taken = connection.http.received_settings

    assert heard.body == b"a"
    assert taken[Setting.QPACK_MAX_TABLE_CAPACITY] == TABLE
    assert taken[Setting.QPACK_BLOCKED_STREAMS] == 16


@pytest.mark.parametrize("kind", [FrameType.SETTINGS, FrameType.GOAWAY, FrameType.PUSH_PROMISE])
async def test_frames_out_of_place_end_the_connection(issued: Issued, kind: FrameType) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", ends=False)
        await settle(lambda: held.begun)
        peer.quic.send_stream_data(number, encode_frame(kind, b"\x00"))
        peer.transmit()
        code = await peer.end()
        await settle(lambda: not streams(here))
        left = connections(here)

    assert code == 0x105
    assert not left
