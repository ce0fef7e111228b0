"""Streams whose server can send at once: the client is told the same, whichever way it goes."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from admin_gateway import AdminGateway, opened
from fake_vendor import MockResponse

from gateway_core.contracts.asgi import PUSH, Push
from gateway_core.identity.credentials import CLI_HEADER

pytestmark = pytest.mark.anyio

ASKED = msgspec.json.encode(
    {"model": "acme/large", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {}) as here:
        yield here


def frame(**choice: Any) -> bytes:
    chunk = {"id": "c", "created": 1, "model": "large", "choices": [{"index": 0, **choice}]}
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


FRAMES = [
    *(frame(delta={"content": word}) for word in ("one", "two", "three", "four", "five")),
    frame(delta={}, finish_reason="stop"),
    b"data: [DONE]\n\n",
]


class Reported:
    """What a client of a server that can push is told, and what of it was pushed."""

    def __init__(self, takes: Callable[[int], bool]) -> None:
        self._takes = takes
        self.offers = 0
        self.body = b""
        self.pushed: list[bytes] = []
        self.is_ended = False

    def push(self, piece: bytes) -> bool:
        self.offers += 1
        if not self._takes(self.offers):
            return False
        self.body += piece
        self.pushed.append(piece)
        return True

    async def send(self, message: Any) -> None:
        self.body += message.get("body", b"")
        self.is_ended = message.get("more_body") is False


async def streamed(admin: AdminGateway, reported: Reported, push: Push | None) -> None:
    """Ask as a server does that offers to push."""
    headers = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        CLI_HEADER: admin.core.identity.cli_token,
    }
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "headers": [(n.encode(), v.encode()) for n, v in headers.items()],
    }
    if push is not None:
        scope[PUSH] = push

    async def receive() -> Any:
        return {"type": "http.request", "body": ASKED, "more_body": False}

    await admin.gateway.app(scope, receive, reported.send)


@pytest.mark.parametrize(
    "takes",
    [lambda offer: True, lambda offer: False, lambda offer: offer % 2 == 0],
    ids=["quick", "slow", "sometimes slow"],
)
async def test_a_client_is_told_the_same_whether_it_is_quick_or_slow(
    admin: AdminGateway, takes: Callable[[int], bool]
) -> None:
    await admin.connect()
    admin.vendor.written["/chat/completions"] = MockResponse.stream(*FRAMES, pause=0.001)
    plain, reported = Reported(takes), Reported(takes)

    await streamed(admin, plain, None)
    await streamed(admin, reported, reported.push)

    assert reported.body == plain.body == b"".join(FRAMES)
    assert reported.is_ended
    assert reported.offers > 0


async def test_what_a_client_uses_is_counted_where_it_flows(admin: AdminGateway) -> None:
    await admin.connect()
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":12}}\n\n'
    frames = (*FRAMES[:-1], usage, FRAMES[-1])
    admin.vendor.written["/chat/completions"] = MockResponse.stream(*frames, pause=0.001)
    reported = Reported(lambda offer: True)

    await streamed(admin, reported, reported.push)
    await admin.core.ledger.flush()
    row = (await admin.core.stores.usage.page()).rows[0]

    assert reported.pushed
    assert (row.input_tokens, row.output_tokens, row.estimated) == (30, 12, False)


@pytest.mark.parametrize("more", [{"cut": True}, {}], ids=["cut off", "an error in the middle"])
async def test_a_stream_that_breaks_where_it_flows_ends_with_an_error(
    admin: AdminGateway, more: Any
) -> None:
    await admin.connect()
    last = [] if more else [b'data: {"error":{"message":"overloaded"}}\n\n']
    admin.vendor.written["/chat/completions"] = MockResponse.stream(
        *FRAMES[:3], *last, pause=0.001, **more
    )
    reported = Reported(lambda offer: True)

    await streamed(admin, reported, reported.push)

    assert reported.body.startswith(b"".join(FRAMES[:3]))
    assert reported.body.count(b'"error"') == 1
    assert reported.is_ended
