"""Three gateways that count together in Valkey."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gateway_trio import Trio, gateway_trio
from postgres_servers import VERSIONS, empty_tables
from valkey_server import valkey_server

BODY = b'{"model":"echo/echo","messages":[{"role":"user","content":"hi"}]}'
LIMIT = 1000
AT_ONCE = 3000


@pytest.fixture
def database(postgres: Callable[[str, str], str]) -> str:
    url = postgres(VERSIONS[0], "shared_limits")
    empty_tables(url, "migrations")
    return url


async def status_of(url: str, key: str, go: asyncio.Event, ready: asyncio.Semaphore) -> int:
    """Send a request on a connection of its own, at the moment in which all are sent."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\n"
        f"authorization: Bearer {key}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(BODY)}\r\nconnection: close\r\n\r\n"
    )
    writer.write(head.encode())
    ready.release()
    await go.wait()
    writer.write(BODY)
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1])


async def statuses(trio: Trio, key: str, count: int) -> Counter[int]:
    """The answers to requests that are sent at once, to each gateway the same number."""
    go, ready = asyncio.Event(), asyncio.Semaphore(0)
    urls = [each.url for each in trio.members]
    calls = [
        asyncio.create_task(status_of(urls[number % len(urls)], key, go, ready))
        for number in range(count)
    ]
    for _ in calls:
        await ready.acquire()
    go.set()
    return Counter(await asyncio.gather(*calls))


@pytest.mark.timeout(300)
def test_exactly_as_many_requests_pass_as_the_limit_says(tmp_path: Path, database: str) -> None:
    with valkey_server(tmp_path) as server:
        variables = {"GATEWAY_PG_URL": database, "GATEWAY_VALKEY_URL": server.url}
        with gateway_trio(tmp_path, variables) as trio:
            key = trio.add_key("limited", rpmLimit=LIMIT)
            assert trio.is_sharing()

            answers = asyncio.run(statuses(trio, key, AT_ONCE))

            assert trio.is_sharing()

    assert answers == {200: LIMIT, 429: AT_ONCE - LIMIT}
