"""Frames of WebSocket clients, by the cases of Autobahn's test suite, and what is to come of them.

https://github.com/crossbario/autobahn-testsuite has the cases that the numbers name.
"""

from typing import Any

from gateway_server_fast.websocket.messages import MAX_FRAGMENTS
from ws_peer import (
    BINARY,
    CLOSE,
    CONTINUATION,
    FIN,
    PING,
    PONG,
    RSV1,
    RSV2,
    RSV3,
    TEXT,
    Frame,
    close_frame,
    frame,
)

CAP = 4096
"""Bytes of the longest message that these cases are for."""
KIB = 1024


async def echo(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "websocket"
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({**message, "type": "websocket.send"})


def text(payload: bytes, **more: Any) -> bytes:
    return frame(TEXT, payload, **more)


EURO = "κόσμε€".encode()
ECHOED: dict[str, tuple[list[bytes], list[Frame]]] = {
    "1.1.1 empty text": ([text(b"")], [Frame(TEXT, b"")]),
    "1.1.2 text of 125": ([text(b"*" * 125)], [Frame(TEXT, b"*" * 125)]),
    "1.1.3 text of 126": ([text(b"*" * 126)], [Frame(TEXT, b"*" * 126)]),
    "1.1.5 text of 128": ([text(b"*" * 128)], [Frame(TEXT, b"*" * 128)]),
    "1.2.1 empty binary": ([frame(BINARY)], [Frame(BINARY, b"")]),
    "1.2.3 binary of 126": ([frame(BINARY, b"\xfe" * 126)], [Frame(BINARY, b"\xfe" * 126)]),
    "the longest message": ([text(b"*" * CAP)], [Frame(TEXT, b"*" * CAP)]),
    "the longest message in characters of two bytes": (
        [text("é".encode() * (CAP // 2))],
        [Frame(TEXT, "é".encode() * (CAP // 2))],
    ),
    "2.1 empty ping": ([frame(PING)], [Frame(PONG, b"")]),
    "2.2 ping": ([frame(PING, b"Hello")], [Frame(PONG, b"Hello")]),
    "2.3 binary ping": ([frame(PING, b"\x00\xff\xfe\xfd")], [Frame(PONG, b"\x00\xff\xfe\xfd")]),
    "2.4 ping of 125": ([frame(PING, b"\xfe" * 125)], [Frame(PONG, b"\xfe" * 125)]),
    "2.7 unsolicited pong": ([frame(PONG), text(b"a")], [Frame(TEXT, b"a")]),
    "2.8 unsolicited pong with payload": ([frame(PONG, b"b"), text(b"a")], [Frame(TEXT, b"a")]),
    "2.10 ten pings": (
        [frame(PING, b"%d" % n) for n in range(10)],
        [Frame(PONG, b"%d" % n) for n in range(10)],
    ),
    "5.3 two fragments": (
        [text(b"frag", first=0), frame(CONTINUATION, b"ment")],
        [Frame(TEXT, b"fragment")],
    ),
    "5.6 a ping between fragments": (
        [text(b"frag", first=0), frame(PING, b"p"), frame(CONTINUATION, b"ment")],
        [Frame(PONG, b"p"), Frame(TEXT, b"fragment")],
    ),
    "6.1.2 empty fragments": (
        [text(b"", first=0), frame(CONTINUATION, first=0), frame(CONTINUATION)],
        [Frame(TEXT, b"")],
    ),
    "6.1.3 empty fragments around text": (
        [text(b"", first=0), frame(CONTINUATION, b"m", first=0), frame(CONTINUATION)],
        [Frame(TEXT, b"m")],
    ),
    "6.2.1 valid UTF-8": ([text(EURO)], [Frame(TEXT, EURO)]),
    "6.2.3 UTF-8 in fragments of one byte": (
        [
            text(EURO[:1], first=0),
            *(frame(CONTINUATION, EURO[n : n + 1], first=0) for n in range(1, len(EURO))),
            frame(CONTINUATION),
        ],
        [Frame(TEXT, EURO)],
    ),
}
REFUSED: dict[str, tuple[list[bytes], int]] = {
    "2.5 ping of 126": ([frame(PING, b"\xfe" * 126)], 1002),
    "3.1 first reserved bit": ([text(b"a", first=FIN | RSV1)], 1002),
    "3.2 second reserved bit": ([text(b"a", first=FIN | RSV2)], 1002),
    "3.3 third reserved bit": ([text(b"a", first=FIN | RSV3)], 1002),
    "3.5 reserved bits of a ping": ([frame(PING, b"a", first=FIN | RSV1 | RSV3)], 1002),
    "3.6 reserved bits of a close": ([frame(CLOSE, first=FIN | RSV2)], 1002),
    **{f"4.1 opcode {n}": ([frame(n, b"a")], 1002) for n in (3, 4, 5, 6, 7)},
    **{f"4.2 opcode {n}": ([frame(n, b"a")], 1002) for n in (11, 12, 13, 14, 15)},
    "5.1 fragmented ping": ([frame(PING, b"a", first=0), frame(CONTINUATION, b"b")], 1002),
    "5.2 fragmented pong": ([frame(PONG, b"a", first=0), frame(CONTINUATION, b"b")], 1002),
    "5.9 continuation of nothing": ([frame(CONTINUATION, b"a")], 1002),
    "5.12 continuation of nothing, not final": ([frame(CONTINUATION, b"a", first=0)], 1002),
    "5.18 a new message amid fragments": ([text(b"a", first=0), text(b"b")], 1002),
    "6.3.1 invalid UTF-8": ([text(EURO + b"\xed\xa0\x80edited")], 1007),
    "6.3.2 invalid UTF-8 in a fragment": (
        [text(EURO, first=0), frame(CONTINUATION, b"\xed\xa0\x80")],
        1007,
    ),
    "6.4.1 invalid UTF-8 before the end": ([text(b"\xf4\x90\x80\x80", first=0)], 1007),
    "6.6.1 incomplete UTF-8": ([text(b"\xce")], 1007),
    "6.12 overlong UTF-8": ([text(b"\xc0\xaf")], 1007),
    "7.3.2 close of one byte": ([frame(CLOSE, b"a")], 1002),
    "7.3.6 close of 126": ([close_frame(1000, b"*" * 124)], 1002),
    "7.5.1 close with invalid UTF-8": ([close_frame(1000, b"\xce\xba\xe1\xbd\xed\xa0\x80")], 1007),
    **{
        f"7.9 close code {code}": ([close_frame(code)], 1002)
        for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535)
    },
    "an unmasked text": ([text(b"a", mask=False)], 1002),
    "an unmasked ping": ([frame(PING, mask=False)], 1002),
    "a length in more bytes than needed": ([b"\x81\xfe\x00\x01\0\0\0\0a"], 1002),
    "a length of 2**63": ([b"\x81\xff\x80\0\0\0\0\0\0\0"], 1002),
    "a byte more than the longest message": ([text(b"*" * (CAP + 1))], 1009),
    "the longest message in fragments, and a byte": (
        [text(b"*" * CAP, first=0), frame(CONTINUATION, b"*")],
        1009,
    ),
    "too many bytes in few characters": ([text("é".encode() * CAP)], 1009),
    "an announced length of 2**62": (
        [b"\x81\xff\x40\0\0\0\0\0\0\0\0\0\0\0" + b"*" * (CAP + 1)],
        1009,
    ),
    "too many fragments": (
        [text(b"", first=0), *[frame(CONTINUATION, first=0)] * MAX_FRAGMENTS],
        1009,
    ),
}
CLOSED: dict[str, tuple[bytes, int]] = {
    "7.3.1 without a code": (close_frame(None), 1005),
    "7.3.3 with a code": (close_frame(1000), 1000),
    "7.3.5 with a reason of 123": (close_frame(1000, b"*" * 123), 1000),
    **{
        f"7.7 with {code}": (close_frame(code), code)
        for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
    },
}
