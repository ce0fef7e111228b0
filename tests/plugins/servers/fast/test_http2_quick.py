"""What our server offers beside ASGI, over HTTP/2: pieces and answers at once, and a last word."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from h2.settings import SettingCodes
from h2_apps import Send, say, start
from h2_wire import Pair
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.asgi import ON_DISCONNECT, PUSH, REPLY

KEYS = (PUSH, REPLY, ON_DISCONNECT)
LENGTH = (b"content-length", b"5")


class Offered:
    """An application that leaves what it was offered to the test, until it is told to end."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.sends: list[Send] = []
        self.go = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        self.scopes.append(scope)
        self.sends.append(send)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            await say(send)

    def push(self, piece: bytes, which: int = 0) -> bool:
        return bool(self.scopes[which][PUSH](piece))

    def reply(self, *headers: tuple[bytes, bytes], body: bytes = b"whole") -> bool:
        return bool(self.scopes[0][REPLY](200, headers, body))


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(main)


async def begun(method: str = "GET", *, window: int = 65_535) -> tuple[Offered, Pair, int]:
    app = Offered()
    pair = Pair(app, window=window)
    return app, pair, await pair.request(method)


def test_a_piece_of_a_stream_leaves_at_once() -> None:
    async def main() -> None:
        app, pair, number = await begun()
        await start(app.sends[0])
        pair.line.flush()
        pair.hear()

        assert app.push(b"one")
        assert app.push(b"a" * 40_000)
        assert pair.hear() == 2
        await say(app.sends[0], b"end")
        pair.hear()

        assert pair.body(number) == b"one" + b"a" * 40_000 + b"end"
        assert pair.has_ended(number)

    run(main())


def test_what_cannot_leave_at_once_is_left_to_send() -> None:
    async def main() -> None:
        app, pair, number = await begun(window=10)

        assert not app.push(b"before the head")
        await start(app.sends[0])
        assert not app.push(b"")
        assert not app.push(b"a" * 11)
        pair.line.pause_writing()
        assert not app.push(b"slow")
        pair.line.resume_writing()
        assert app.push(b"a" * 10)
        assert not app.push(b"b")
        await say(app.sends[0])
        assert not app.push(b"after the end")
        pair.hear()

        assert pair.body(number) == b"a" * 10

    run(main())


def test_nothing_is_pushed_past_a_piece_that_waits() -> None:
    async def main() -> None:
        app, pair, number = await begun(window=10)
        await start(app.sends[0])
        sending = asyncio.ensure_future(say(app.sends[0], b"a" * 15, more=True))
        await asyncio.sleep(0)
        pair.client.increment_flow_control_window(100, number)
        pair.tell()

        assert not app.push(b"b")
        await sending
        assert app.push(b"c")
        pair.hear()
        assert pair.body(number) == b"a" * 15 + b"c"

    run(main())


def test_nothing_is_pushed_while_another_stream_waits_for_its_turn() -> None:
    async def main() -> None:
        app, pair, number = await begun()
        other = await pair.request()
        for send in app.sends:
            await start(send)
        pair.client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 2**30})
        pair.tell()
        sending = asyncio.ensure_future(say(app.sends[0], b"a" * 2**21, more=True))
        await asyncio.sleep(0)
        pair.client.increment_flow_control_window(2**20)
        pair.tell()

        assert not app.push(b"b", which=1)
        await asyncio.sleep(0)
        pair.client.increment_flow_control_window(2**20)
        pair.tell()
        await sending
        assert app.push(b"b", which=1)
        pair.hear()
        assert (len(pair.body(number)), pair.body(other)) == (2**21, b"b")

    run(main())


def test_a_stream_whose_own_client_waits_holds_up_no_other() -> None:
    async def main() -> None:
        app, pair, number = await begun(window=10)
        other = await pair.request()
        for send in app.sends:
            await start(send)
        sending = asyncio.ensure_future(say(app.sends[0], b"a" * 15, more=True))
        await asyncio.sleep(0)

        assert app.push(b"b", which=1)
        pair.client.increment_flow_control_window(100, number)
        pair.tell()
        await sending
        pair.hear()
        assert (pair.body(number), pair.body(other)) == (b"a" * 15, b"b")

    run(main())


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_what_has_no_body_takes_no_piece(method: str, status: int) -> None:
    async def main() -> None:
        app, pair, number = await begun(method)
        await start(app.sends[0], status=status)

        assert not app.push(b"a")
        await say(app.sends[0], b"a")
        pair.hear()
        assert pair.body(number) == b""

    run(main())


def test_a_whole_answer_leaves_in_one_write() -> None:
    async def main() -> None:
        app, pair, number = await begun()

        assert app.reply(LENGTH)
        assert not app.reply(LENGTH)
        assert pair.hear() == 1
        assert pair.headers(number)[b":status"] == b"200"
        assert pair.headers(number)[b"content-length"] == b"5"
        assert pair.body(number) == b"whole"
        assert pair.has_ended(number)
        assert not pair.line.streams

    run(main())


def test_a_whole_answer_that_has_no_body_says_none() -> None:
    async def main() -> None:
        app, pair, number = await begun()

        assert app.scopes[0][REPLY](304, [], b"ignored")
        pair.hear()
        assert pair.body(number) == b""
        assert pair.has_ended(number)

    run(main())


def test_an_answer_that_is_no_plain_one_is_left_to_send() -> None:
    async def main() -> None:
        app, pair, number = await begun("HEAD")
        assert not app.reply(LENGTH)

        app, pair, number = await begun(window=4)
        assert not app.reply(LENGTH)
        assert not app.reply(body=b"a" * 100_000)

        app, pair, number = await begun()
        await start(app.sends[0])
        assert not app.reply(LENGTH)

        app, pair, number = await begun()
        pair.client.reset_stream(number)
        pair.tell()
        assert not app.reply(LENGTH)

        app, pair, number = await begun()
        with pytest.raises(RuntimeError, match="control"):
            app.reply((b"a", b"b\r\nc: d"))
        pair.hear()
        assert not pair.headers(number)

    run(main())


@pytest.mark.parametrize("how", ["reset", "lost", "given up"])
def test_who_asks_is_told_that_the_client_leaves(how: str) -> None:
    async def main() -> None:
        reported: list[str] = []
        app, pair, number = await begun()
        app.scopes[0][ON_DISCONNECT](lambda: reported.append("left"))
        assert not reported

        if how == "reset":
            pair.client.reset_stream(number)
            pair.tell()
        elif how == "lost":
            pair.line.connection_lost(None)
        else:
            pair.line.data_received(b"nonsense" * 10)
        app.scopes[0][ON_DISCONNECT](lambda: reported.append("has left"))

        assert reported == ["left", "has left"]

    run(main())


def test_a_client_that_leaves_after_the_answer_is_no_news() -> None:
    async def main() -> None:
        reported: list[str] = []
        app, pair, _ = await begun()
        app.scopes[0][ON_DISCONNECT](lambda: reported.append("left"))
        app.reply(LENGTH)
        pair.line.connection_lost(None)

        assert not reported

    run(main())


def test_an_application_that_fails_is_not_told_of_its_own_end() -> None:
    async def main() -> None:
        reported: list[str] = []

        async def fail(scope: Any, receive: Any, send: Send) -> None:
            scope[ON_DISCONNECT](lambda: reported.append("left"))
            await start(send)
            raise ValueError("a test")

        pair = Pair(fail)
        number = await pair.request()
        pair.hear()

        assert pair.reset(number)
        assert not reported

    run(main())


def test_nothing_of_a_stream_stays_in_its_scope() -> None:
    async def main() -> None:
        app, _, _ = await begun()
        assert all(key in app.scopes[0] for key in KEYS)

        app.go.set()
        for _ in range(3):
            await asyncio.sleep(0)

        assert not any(key in app.scopes[0] for key in KEYS)

    run(main())


SIZES = st.sampled_from([0, 1, 9, 16_384, 16_385, 50_000])
STEPS = st.lists(
    st.tuples(st.sampled_from(["push", "send", "room", "room of all", "turn"]), SIZES), max_size=15
)


@given(STEPS)
def test_a_body_comes_in_order_however_it_is_sent(steps: list[tuple[str, int]]) -> None:
    async def main() -> None:
        app, pair, number = await begun(window=20_000)
        await start(app.sends[0])
        sending: list[asyncio.Future[None]] = []
        whole = b""
        for turn, (step, size) in enumerate(steps):
            piece = bytes([turn]) * size
            if step == "room" and size:
                pair.client.increment_flow_control_window(size, number)
            elif step == "room of all" and size:
                pair.client.increment_flow_control_window(size)
            elif step == "turn":
                await asyncio.sleep(0)
            elif step == "push" and app.push(piece):
                whole += piece
            elif step == "send" and (not sending or sending[-1].done()):
                whole += piece
                sending.append(asyncio.ensure_future(say(app.sends[0], piece, more=True)))
                await asyncio.sleep(0)
            pair.tell()
        pair.client.increment_flow_control_window(2**20, number)
        pair.client.increment_flow_control_window(2**20)
        pair.tell()
        await asyncio.gather(*sending)
        await say(app.sends[0])
        pair.hear()

        assert pair.body(number) == whole
        assert pair.has_ended(number)

    run(main())
