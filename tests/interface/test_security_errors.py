"""Error texts contain no credential and no internals (7)."""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import gateway_format_gemini
import pytest
from admin_gateway import KEY, AdminGateway, opened
from caller_kinds import SECRET
from credentials import address, operations
from fake_vendor import MockResponse, ReceivedRequest

from gateway_core.http.operations import STREAM
from gateway_core.identity.access import Access

pytestmark = pytest.mark.anyio
CONTENT = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n'
)
FAILED = b'data: {"error":{"message":"%b","type":"server_error","code":null}}\n\n'
MESSAGES = [{"role": "user", "content": "Hello"}]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"messages": MESSAGES}),
    "claude": ("/v1/messages", {"messages": MESSAGES, "max_tokens": 9}),
    "openai-responses": ("/v1/responses", {"input": "Hello"}),
    "ollama": ("/v1/api/chat", {"messages": MESSAGES}),
    "gemini": (
        "/v1beta/models/acme/large:streamGenerateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
    ),
}
SKIPPED = (Access.ISOLATED, Access.PROTECTED)
INSIDES = (
    *("traceback", "select ", "insert ", "sqlite", "no such table", "apsw", "gateway_core"),
    *("/work/", "/home/", "pytest-of", ".py", "line "),
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {"format-gemini": gateway_format_gemini}
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more=more) as here:
        yield here


async def output(admin: AdminGateway, wire: str) -> str:
    path, body = CALLS[wire]
    answer = await admin.client.post(path, json={"model": "acme/large", "stream": True, **body})
    return answer.text


def every_byte(root: Path) -> bytes:
    return b"".join(each for path in root.rglob("*") for each in content_of(path))


def content_of(path: Path) -> Iterator[bytes]:
    # The gateway is running: a file of the journal or the database may be removed at any time.
    with suppress(FileNotFoundError):
        if path.is_file():
            yield path.read_bytes()


async def written(admin: AdminGateway) -> None:
    """Wait until all pending rows are written."""
    await admin.core.ledger.flush()
    await admin.core.stores.connections.note(admin.core.cooldowns.take_changes())


def breaking_off(message: str) -> MockResponse:
    return MockResponse((CONTENT, FAILED % message.encode()), content_type="text/event-stream")


def repeated(received: ReceivedRequest) -> MockResponse:
    """A stream that breaks off and repeats the credential it was shown."""
    return breaking_off(f"No quota for {received.headers['authorization']}, {KEY}!")


@pytest.mark.parametrize("wire", CALLS)
async def test_a_credential_repeated_in_a_stream_is_masked_everywhere(
    admin: AdminGateway, tmp_path: Path, wire: str, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.connect()
    admin.vendor.script = repeated
    with caplog.at_level(logging.DEBUG):
        first = await output(admin, wire)
        second = await output(admin, wire)
    await written(admin)
    row = (await admin.call("GET", "/api/providers"))["connections"][0]

    assert "No quota for" in first
    for text in (first, second, str(row), caplog.text, str(admin.core.cooldowns.all_active())):
        assert KEY not in text
    assert row["lastError"].startswith("No quota for")
    assert KEY.encode() not in every_byte(tmp_path)


@pytest.mark.parametrize("status", [400, 401, 500])
@pytest.mark.parametrize("wire", CALLS)
async def test_a_credential_repeated_in_an_error_is_masked_everywhere(
    admin: AdminGateway, tmp_path: Path, wire: str, status: int
) -> None:
    await admin.connect(providerSpecificData={"clientSecret": "other-canary-9"})
    words = f'{{"error":{{"message":"No {KEY} or other-canary-9","type":"x","code":null}}}}'
    admin.vendor.script = lambda received: MockResponse((words.encode(),), status)

    reported = [await output(admin, wire) for _ in range(2)]

    assert "canary" not in "".join(reported)
    await written(admin)
    assert b"canary" not in every_byte(tmp_path)


async def test_an_unexpected_error_contains_no_internals(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.connect()
    database = admin.core.stores.database
    for table in await database.fetch("SELECT name FROM sqlite_master WHERE type = 'table'"):
        await database.execute(f"ALTER TABLE {table['name']} RENAME TO gone_{table['name']}")
    failed = set()
    for operation in operations(admin):
        if operation.access in SKIPPED or operation.path.endswith("oidc/test"):
            continue
        if operation.media == STREAM:  # Its head is sent before anything can fail.
            continue
        answer = await admin.client.request(
            operation.method, address(operation.path), json=operation.example or {}
        )
        if answer.status_code != 500:
            continue
        failed.add(operation.path)
        reported = answer.text.lower()
        assert not [word for word in INSIDES if word in reported], (operation.path, reported)
        assert answer.headers["x-request-id"] in caplog.text, operation.path
    assert len(failed) > 20


async def test_a_request_that_fails_is_logged_once(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.core.stores.database.execute("ALTER TABLE combos RENAME TO gone")
    caplog.clear()

    answer = await admin.client.get("/api/combos")

    assert answer.status_code >= 500
    about = [r for r in caplog.records if answer.headers["x-request-id"] in r.getMessage()]
    assert len(about) <= 1
