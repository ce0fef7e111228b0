"""Responses for one caller are not cached and not given to others (S06, S30)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gateway_format_gemini
import pytest
from admin_gateway import REPLY, AdminGateway, opened
from caller_kinds import SECRET, new_key, with_key, with_session, without_credentials
from credentials import address, operations
from fake_vendor import MockResponse

from gateway_core.http.operations import STREAM
from gateway_core.identity.access import CLIENT, Access

pytestmark = pytest.mark.anyio
MESSAGES = [{"role": "user", "content": "Hello"}]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"messages": MESSAGES}),
    "claude": ("/v1/messages", {"messages": MESSAGES, "max_tokens": 9}),
    "openai-responses": ("/v1/responses", {"input": "Hello"}),
    "ollama": ("/v1/api/chat", {"messages": MESSAGES, "stream": False}),
}
LAST = ("/api/shutdown", "/api/version/shutdown", "/api/auth/oidc/test")
ORIGINS = ("https://evil.example", "null", "http://127.0.0.1.evil.example", "http://127.0.0.1:1")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {"format-gemini": gateway_format_gemini}
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more=more) as here:
        yield here


def is_private(reported: str) -> bool:
    return "no-store" in reported or "private" in reported


async def walk(here: AdminGateway, headers: dict[str, str], *, shows_key: bool) -> dict[str, int]:
    """Request every route and return the status of each cacheable response.

    A client path's answer to a key is for pages of any origin; no other one is.
    """
    kept = {}
    for each in operations(here):
        if each.access in (Access.PUBLIC, Access.ISOLATED) or each.path in LAST:
            continue
        if each.media == STREAM:  # It has no end.
            continue
        body = None if each.method == "GET" else each.example or {}
        path = address(each.path)
        answer = await here.client.request(each.method, path, json=body, headers=headers)
        is_shared = shows_key and (each.access in CLIENT or path.startswith("/v1"))
        shown = answer.headers.get("access-control-allow-origin")
        assert shown == ("*" if is_shared else None), each.path
        assert "access-control-allow-credentials" not in answer.headers, each.path
        if not is_private(answer.headers.get("cache-control", "")):
            kept[f"{each.method} {each.path}"] = answer.status_code
    return kept


async def test_no_authenticated_response_may_be_cached(admin: AdminGateway) -> None:
    async with with_key(admin) as key, with_session(admin) as session:
        for here in (admin, key, session):
            assert await walk(here, {}, shows_key=here is key) == {}


@pytest.mark.parametrize("origin", ORIGINS)
async def test_no_answer_may_be_read_by_another_site(admin: AdminGateway, origin: str) -> None:
    async with with_key(admin) as key, with_session(admin) as session:
        for here in (admin, key, session):
            assert await walk(here, {"origin": origin}, shows_key=here is key) == {}
    async with without_credentials(admin) as here:
        manifest = await here.client.get("/v1/provider-plugin-manifest", headers={"origin": origin})
    assert manifest.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in manifest.headers


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("call", CALLS)
async def test_a_vendors_answer_may_not_be_cached(
    admin: AdminGateway, call: str, stream: bool
) -> None:
    await admin.connect()
    if stream:
        admin.vendor.written["/chat/completions"] = MockResponse(
            (
                b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
                b'"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
                b"data: [DONE]\n\n",
            ),
            content_type="text/event-stream",
        )
    path, body = CALLS[call]

    answer = await admin.client.post(path, json={"model": "acme/large", **body, "stream": stream})

    assert answer.status_code == 200
    assert is_private(answer.headers.get("cache-control", ""))


async def test_equal_requests_of_different_callers_are_sent_separately(admin: AdminGateway) -> None:
    await admin.connect()
    keys = [await new_key(admin) for _ in range(2)]
    replies = []
    for number, key in enumerate(keys * 2):
        written = MockResponse((REPLY.replace(b'"Hi"', b'"Hi %d"' % number),))
        admin.vendor.written["/chat/completions"] = written
        replies.append((await admin.chat("acme/large", authorization=f"Bearer {key}")).text)

    assert len(set(replies)) == 4
    assert len(admin.vendor.calls("/chat/completions")) == 4
