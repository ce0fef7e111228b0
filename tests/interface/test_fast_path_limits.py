"""Calls of limited keys on the fast path: counted once, and before the next call."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from own_stores import own_stores
from served_gateway import Served, serve_gateway
from surviving_rows import surviving_rows
from vendor_answers import WHOLE

from gateway_administration.stores.keys import KeyChange
from gateway_core import Auth, ProviderSpec
from gateway_core.pipeline.exchanges import PassThrough

GOOD, STREAM = "good", "stream"
FRAMES = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)


def script(received: ReceivedRequest) -> MockResponse:
    body = received.json()
    if body["model"] == "refuses":
        return MockResponse((b'{"error":{"message":"no"}}',), 400)
    if body.get("stream"):
        return MockResponse.stream(*FRAMES, pause=0.02)
    return MockResponse((WHOLE["openai"],))


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    url, keyless = vendors["any"].url, Auth(type="none")
    return [ProviderSpec(id="p", name="p", format="openai", base_url=url, auth=keyless)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("limits"), {"any": script}, specs=specs) as gateway:
        yield gateway


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    limits = httpx2.Limits(max_connections=1)
    with httpx2.Client(base_url=here.url, trust_env=False, limits=limits) as connected:
        yield connected


def new_key(here: Served, **policy: Any) -> tuple[str, str]:
    """A key's id and text."""

    async def make() -> tuple[str, str]:
        core = here.gateway.core
        mint = core.identity.keys.mint
        text = mint.new()
        change = KeyChange(name="limited", policy=policy)
        row = await own_stores(core).keys.create(
            text, mint.digest(text).hex(), mint.machine_id, change
        )
        await core.refresh()
        return row.id, text

    return here.do(make())


def ask(client: httpx2.Client, key: str, model: str = "m", **more: Any) -> httpx2.Response:
    body = {"model": f"p/{model}", "messages": [{"role": "user", "content": "hi"}], **more}
    return client.post(
        "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}
    )


def statuses(here: Served, key_id: str) -> list[str]:
    """What would be left of a key's usage after a kill."""
    return [row[1] for row in surviving_rows(here, key_id)]


@pytest.mark.parametrize("stream", [False, True])
def test_each_call_is_counted_once(
    here: Served, client: httpx2.Client, taken: list[bool], stream: bool
) -> None:
    _, key = new_key(here, rpmLimit=4)

    output = [ask(client, key, stream=stream).status_code for _ in range(6)]

    assert output == [200] * 4 + [429] * 2
    assert taken == [True] * 3 + [False] * 2


def test_a_call_that_a_task_takes_over_is_counted_once(
    here: Served, client: httpx2.Client, taken: list[bool]
) -> None:
    _, key = new_key(here, rpmLimit=3)

    output = [ask(client, key, model).status_code for model in ("m", "refuses", "m", "m")]

    assert output == [200, 400, 200, 429]
    assert taken == [True, True, False]


def test_a_call_without_a_free_connection_is_counted_once(
    here: Served, client: httpx2.Client, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, key = new_key(here, rpmLimit=3)
    ask(client, key)
    direct = here.gateway.core.network.direct
    monkeypatch.setattr(direct, "begin", lambda request: None)

    output = [ask(client, key).status_code for _ in range(3)]

    assert output == [200, 200, 429]
    assert taken == [False] * 3


@pytest.mark.parametrize("stream", [False, True])
def test_the_next_call_finds_the_last_one_counted_while_nothing_is_written(
    here: Served, client: httpx2.Client, taken: list[bool], stream: bool
) -> None:
    key_id, key = new_key(here, monthlyRequestLimit=3)
    ask(client, key, stream=stream)
    held = hold(here)
    try:
        output = [ask(client, key, stream=stream).status_code for _ in range(3)]
        rows = statuses(here, key_id)
    finally:
        held()

    assert output == [200, 200, 429]
    assert rows == ["ok", "ok", "ok", "error"]
    assert taken == [True, True, False]


def test_sums_that_are_read_anew_have_the_rows_that_wait(
    here: Served, client: httpx2.Client
) -> None:
    _, key = new_key(here, monthlyRequestLimit=2)
    output = []
    for _ in range(3):
        output.append(ask(client, key).status_code)
        here.loop.call_soon_threadsafe(here.gateway.core.limits.forget)

    assert output == [200, 200, 429]


def test_an_invalid_header_ends_a_call_whose_row_is_written(
    here: Served, client: httpx2.Client, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id, key = new_key(here, maxTokens=10**6)
    ask(client, key)
    two_lines = property(lambda _: "a/b\nc", lambda _, kind: None)
    client.timeout = httpx2.Timeout(5)
    with monkeypatch.context() as patch:
        patch.setattr(PassThrough, "media_type", two_lines, raising=False)
        response = ask(client, key)

    assert taken == [True]
    assert response.status_code == 500
    assert len(statuses(here, key_id)) == 2
    assert not here.gateway.core.in_flight


def hold(here: Served) -> Callable[[], None]:
    """Stop the ledger's writes until the returned function is called."""

    async def begin() -> asyncio.Event:
        resume, begun = asyncio.Event(), asyncio.Event()

        async def still() -> None:
            async with here.gateway.core.ledger.paused():
                begun.set()
                await resume.wait()

        tasks.append(asyncio.create_task(still()))
        await begun.wait()
        return resume

    tasks: list[asyncio.Task[None]] = []
    resume = here.do(begin())
    return lambda: here.loop.call_soon_threadsafe(resume.set) and None


def test_a_stop_writes_the_rows_that_wait_and_leaves_no_journal(
    tmp_path_factory: pytest.TempPathFactory, taken: list[bool]
) -> None:
    folder = tmp_path_factory.mktemp("stop")
    with (
        serve_gateway(folder, {"any": script}, specs=specs) as here,
        httpx2.Client(base_url=here.url, trust_env=False) as client,
    ):
        key_id, key = new_key(here, maxTokens=10**6)
        ask(client, key)
        held = hold(here)
        response = ask(client, key)
        here.loop.call_soon_threadsafe(here.stop.set)
        held()
    data_dir = here.gateway.core.data_dir
    with closing(sqlite3.connect(data_dir.database)) as database:
        rows = database.execute("SELECT status FROM usage WHERE api_key_id = ?", (key_id,))
        written = [status for (status,) in rows]

    assert taken == [True]
    assert response.content == WHOLE["openai"]
    assert written == ["ok", "ok"]
    assert list(data_dir.journal.iterdir()) == []
