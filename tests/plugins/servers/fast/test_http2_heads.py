"""Heads over HTTP/2: what is refused, and what ends the connection."""

import json
import logging
from typing import Any

import pytest
from certificates import Issued
from h2.errors import ErrorCodes
from h2_apps import CALM, echo
from h2_peer import place

pytestmark = pytest.mark.anyio


def many(count: int, size: int) -> list[tuple[bytes, bytes]]:
    return [(b"a%d" % n, b"b" * size) for n in range(count)]


HEADS: dict[str, tuple[dict[str, Any], list[tuple[bytes, bytes]], int]] = {
    "a long path": ({"path": b"/" + b"a" * 9000}, [], 414),
    "a long header": ({}, [(b"a", b"b" * 8200)], 431),
    "too many headers": ({}, many(101, 1), 431),
    "headers too long together": ({}, many(5, 7000), 431),
    "a long cookie": ({}, [(b"cookie", b"a" * 17_000)], 431),
    "a control character": ({}, [(b"a", b"b\x01c")], 400),
    "a name that is no token": ({}, [(b"a(b", b"c")], 400),
    "a host that is none": ({"host": b"a/b"}, [], 400),
    "two slashes": ({"path": b"//a"}, [], 400),
    "a backslash": ({"path": b"/a\\b"}, [], 400),
    "a byte over ASCII": ({"path": b"/\xff"}, [], 400),
    "another origin": ({"path": b"https://other/"}, [], 400),
    "two lengths that agree": ({}, [(b"content-length", b"0")] * 2, 400),
    "a length without a body": ({}, [(b"content-length", b"5")], 400),
    "a star": ({"path": b"*"}, [], 400),
    "a small method": ({"method": b"get"}, [], 400),
    "TRACE": ({"method": b"TRACE"}, [], 405),
    "CONNECT": ({"method": b"CONNECT", "path": None}, [], 405),
}


@pytest.mark.parametrize(("given", "headers", "status"), HEADS.values(), ids=HEADS.keys())
async def test_a_bad_head_is_refused_and_the_rest_is_served(
    issued: Issued, given: dict[str, Any], headers: list[tuple[bytes, bytes]], status: int
) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        refused = await peer.answer(await peer.request(given.pop("path", b"/"), *headers, **given))
        served = await peer.answer(await peer.request())

    assert refused.status == status
    assert refused.reset is None
    assert list(json.loads(refused.body)) == ["error"]
    assert served.status == 200


async def test_a_body_must_be_as_long_as_announced_also_with_trailers(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        codes = []
        for length in (b"3", b"4"):
            announced = (b"content-length", length)
            number = await peer.request(b"/", announced, method=b"POST", ends=False)
            await peer.body(number, b"abc")
            peer.h2.send_headers(number, [(b"a", b"b")], end_stream=True)
            await peer.flush()
            heard = await peer.answer(number)
            codes.append((heard.body, heard.reset))

    assert codes == [(b"abc", None), (b"", ErrorCodes.PROTOCOL_ERROR)]


async def test_headers_are_not_written_to_the_log(
    issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = [(b"authorization", b"Bearer canary"), (b"cookie", b"auth_token=canary")]

    async with place(echo, issued) as here, here.peer() as peer:
        logging.getLogger("hpack").debug("is not written either")
        heard = await peer.answer(await peer.request(b"/", *secret))

    assert heard.status == 200
    assert "canary" not in caplog.text
    assert "is not written" not in caplog.text


FORBIDDEN: dict[str, list[tuple[bytes, bytes]]] = {
    "a large letter in a name": [(b"A", b"b")],
    "a line feed": [(b"a", b"b\nc: d")],
    "a NUL": [(b"a", b"b\0c")],
    "another framing": [(b"transfer-encoding", b"chunked")],
    "a connection header": [(b"connection", b"close")],
    "another host": [(b"host", b"other")],
    "a second method": [(b":method", b"POST")],
    "a WebSocket": [(b":protocol", b"websocket")],
    "two lengths": [(b"content-length", b"0"), (b"content-length", b"1")],
    "a length with a sign": [(b"content-length", b"+0")],
}


@pytest.mark.parametrize("headers", FORBIDDEN.values(), ids=FORBIDDEN.keys())
async def test_what_the_protocol_forbids_ends_the_connection(
    issued: Issued, headers: list[tuple[bytes, bytes]]
) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        await peer.request(b"/", *headers)
        code = await peer.end()

    assert code == ErrorCodes.PROTOCOL_ERROR


async def test_headers_that_unpack_to_too_much_end_the_connection(issued: Issued) -> None:
    # One long header in the table, named again and again in one byte each.
    bomb = [(b"a", b"b" * 3000)] * 200

    async with place(echo, issued) as here, here.peer() as peer:
        await peer.request(b"/", *bomb)
        code = await peer.end()

    assert code == CALM
