"""Packets of an HTTP/3 client as they go over the wire, with frames that no client would send."""

from typing import Any

from aioquic.buffer import encode_uint_var
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType
from aioquic.quic.packet_builder import QuicPacketBuilder
from aioquic.tls import Epoch

MOST = 1100
"""Bytes of frames that fit into a packet."""
PING = b"\x01"


def packet(
    quic: QuicConnection,
    frames: bytes,
    epoch: Epoch = Epoch.ONE_RTT,
    kind: QuicPacketType = QuicPacketType.ONE_RTT,
) -> bytes:
    """A datagram with these frames, and a ping before them."""
    builder = QuicPacketBuilder(
        host_cid=quic.host_cid,
        peer_cid=quic._peer_cid.cid,
        version=quic._version or 0,
        is_client=True,
        max_datagram_size=1200,
        packet_number=quic._packet_number,
    )
    builder.start_packet(kind, quic._cryptos[epoch])
    builder.start_frame(PING[0]).push_bytes(frames)
    (datagram,), _ = builder.flush()
    quic._packet_number = builder.packet_number
    return datagram


def send(peer: Any, *frames: bytes) -> None:
    """Send frames in as few packets as they fit into."""
    gathered = b""
    for each in [*frames, b""]:
        if not each or len(gathered) + len(each) > MOST:
            peer._transport.sendto(packet(peer.quic, gathered), peer.quic._network_paths[0].addr)
            gathered = b""
        gathered += each


def stream_frame(number: int, offset: int, data: bytes, *, ends: bool = False) -> bytes:
    head = b"".join(map(encode_uint_var, (number, offset, len(data))))
    return bytes([0x0E | ends]) + head + data


def crypto_frame(offset: int, data: bytes) -> bytes:
    return b"\x06" + encode_uint_var(offset) + encode_uint_var(len(data)) + data


def stop_sending(number: int) -> bytes:
    return b"\x05" + encode_uint_var(number) + encode_uint_var(0x10C)
