"""Documents and queries made to break parsers (S24, S28)."""

import gc
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gateway_format_gemini
import msgspec
import pytest
from admin_gateway import REPLY, AdminGateway, opened
from caller_kinds import SECRET
from credentials import operations
from fake_vendor import MockResponse

from gateway_core.http.operations import STREAM, RouteOperation
from gateway_core.identity.access import Access

pytestmark = pytest.mark.anyio
DEEP = 100_000
QUICK = 0.3
"""Seconds of this process's CPU time, which other load does not change."""
JSON = {"content-type": "application/json"}
RUBBISH = {
    "lists": b"[" * DEEP,
    "objects": b'{"a":' * DEEP,
    "in a member": b'{"model":"acme/large","messages":' + b"[" * DEEP,
    "number": b'{"model":"acme/large","max_tokens":' + b"9" * DEEP + b"}",
    "constant": b'{"model":"acme/large","temperature":NaN}',
    "infinity": b'{"model":"acme/large","temperature":Infinity}',
    "bytes": b'{"model":"acme/large","messages":"\xff\xfe"}',
    "surrogate": b'{"model":"acme/large","messages":"\\ud800"}',
    "nothing": b"",
    "cut": b'{"model":"acme/large"',
    "two": b'{"model":"acme/large"}{}',
}
DROPPED = ("number", "bytes")
"""Placed in members of a chat body, which management routes ignore."""
LEGAL = b"[" * 2000 + b"]" * 2000
"""Valid, and nested far deeper than any client's documents."""
MESSAGES = b'[{"role":"user","content":"Hello"}]'
UNREAD = ("count_tokens", "/api/chat", "/api/generate")
STEADY = (Access.ISOLATED, Access.PROTECTED, Access.LOCAL)


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """Freeze the test run's heap: collecting it would count as the gateway's time."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {"format-gemini": gateway_format_gemini}
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more=more) as here:
        yield here


def writing(admin: AdminGateway) -> Iterator[RouteOperation]:
    """Every operation that reads a document."""
    for each in operations(admin):
        if each.access in STEADY or each.method not in ("POST", "PUT", "PATCH"):
            continue
        if each.body is not None or each.access is Access.INFERENCE:
            yield each


def filled(path: str) -> str:
    """A path of an operation, with models that answer."""
    path = path.replace("{model}", "acme/large")
    return "/".join("x" if part.startswith("{") else part for part in path.split("/"))


async def reported(admin: AdminGateway, method: str, path: str, body: bytes) -> int:
    """The status of an answer that came quickly, in JSON."""
    begun = time.process_time()
    answer = await admin.client.request(method, path, content=body, headers=JSON)
    spent = time.process_time() - begun
    assert spent < QUICK, (path, spent)
    msgspec.json.decode(answer.content)
    return answer.status_code


@pytest.mark.parametrize("name", RUBBISH)
async def test_every_route_refuses_invalid_documents(admin: AdminGateway, name: str) -> None:
    await admin.connect()
    process = os.getpid()
    for each in writing(admin):
        status = await reported(admin, each.method, filled(each.path), RUBBISH[name])
        # These estimate the size of a request, or load a model where there is nothing to answer.
        reads = each.access is Access.INFERENCE and not each.path.endswith(UNREAD)
        is_dropped = name in DROPPED and not reads
        assert 400 <= status < 500 or (is_dropped and status < 300), (each.path, status)

    assert os.getpid() == process
    assert name in DROPPED or not admin.vendor.received
    assert (await admin.chat("acme/large")).status_code == 200


async def test_a_deep_valid_document_causes_no_error(admin: AdminGateway) -> None:
    await admin.connect()
    deep = b'{"model":"acme/large","messages":%b,"contents":[],"x":%b}' % (MESSAGES, LEGAL)
    for each in writing(admin):
        status = await reported(admin, each.method, filled(each.path), deep)
        assert status < 500, (each.method, each.path, status)
    for member in (b"messages", b"tools", b"input", b"metadata", b"system", b"contents"):
        body = b'{"model":"acme/large","max_tokens":9,"%b":%b}' % (member, LEGAL)
        for each in writing(admin):
            if each.access is Access.INFERENCE:
                status = await reported(admin, each.method, filled(each.path), body)
                assert 400 <= status < 500 or status == 200, (each.path, member, status)

    assert (await admin.chat("acme/large")).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/api/settings", "/api/keys", "/api/combos", "/api/providers", "/api/provider-nodes"],
)
async def test_a_stored_document_is_not_too_deep_to_be_shown_again(
    admin: AdminGateway, path: str
) -> None:
    depths = (10, 100, 900, 5000)
    members: dict[str, Any] = {"name": "n", "machineId": "any", "provider": "acme", "apiKey": "k"}
    members |= {"prefix": "nn", "baseUrl": f"{admin.vendor.url}/v1", "models": ["acme/large"]}
    rest = msgspec.json.encode(members)[:-1]
    method = "PATCH" if path == "/api/settings" else "POST"
    for depth in depths:
        deep = b'{"a":' * depth + b"1" + b"}" * depth
        for member in (b"custom", b"policy", b"capabilities", b"providerSpecificData"):
            status = await reported(admin, method, path, b'%b,"%b":%b}' % (rest, member, deep))
            assert status < 500, (depth, member, status)

        assert (await admin.client.get(path)).status_code == 200
    await admin.core.refresh()
    assert (await admin.client.get("/v1/models")).status_code == 200


ANSWERS = {
    "lists": b"[" * DEEP,
    "objects": b'{"choices":' * DEEP,
    "in place": REPLY.replace(b'"Hi"', b"[" * DEEP),
    "legal": REPLY.replace(b'"Hi"', LEGAL),
    "list": b"[]",
    "nothing": b"",
    "bytes": b"\xff\xfe\x00",
}
CALLS = {
    "openai": ("/v1/chat/completions", b'{"model":"acme/large","messages":%b}' % MESSAGES),
    "claude": ("/v1/messages", b'{"model":"acme/large","max_tokens":9,"messages":%b}' % MESSAGES),
    "openai-responses": ("/v1/responses", b'{"model":"acme/large","input":"Hello"}'),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("call", CALLS)
async def test_an_invalid_vendor_answer_is_a_bad_gateway(
    admin: AdminGateway, call: str, answer: str
) -> None:
    await admin.connect()
    admin.vendor.script = lambda received: MockResponse((ANSWERS[answer],))
    path, body = CALLS[call]

    assert await reported(admin, "POST", path, body) == 502

    admin.vendor.script = admin.vendor.answer
    admin.core.cooldowns.clear([a.id for a in admin.core.snapshot.accounts["acme"]], "__all")
    assert (await admin.chat("acme/large")).status_code == 200


@pytest.mark.parametrize("rubbish", [name for name in ANSWERS if name != "nothing"])
@pytest.mark.parametrize("call", CALLS)
async def test_invalid_data_in_a_vendor_stream_ends_in_an_error(
    admin: AdminGateway, call: str, rubbish: str
) -> None:
    await admin.connect()
    event = b"data: %b\n\n" % ANSWERS[rubbish]
    admin.vendor.script = lambda received: MockResponse((event,), content_type="text/event-stream")
    path, body = CALLS[call]
    begun = time.process_time()

    answer = await admin.client.post(
        path, content=body[:-1] + b',"stream":true}', headers=JSON, timeout=20
    )

    assert time.process_time() - begun < QUICK
    assert answer.status_code == 502 or b"error" in answer.content
    assert b"[DONE]" not in answer.content
    assert b'"stop_reason":"end_turn"' not in answer.content


async def test_a_very_long_name_is_truncated(admin: AdminGateway) -> None:
    for name in ("m" * 1_000_000, "acme/" + "m" * 1_000_000, "acme/large"):
        await admin.chat(name)
    await admin.core.ledger.flush()

    rows = (await admin.core.stores.usage.page(limit=9)).rows
    assert [len(row.model_asked) for row in rows] == [len("acme/large"), 512, 512]


NASTY = (
    *("-1", "1e9", "1;select", "9223372036854775808", "NaN", "a\x00b", "' OR '1'='1", "{}", "٣"),
    *("%" * 10_000, "../../etc/passwd", "2027-13-45", "9999-12-31T23:59:59Z"),
)


def questions(admin: AdminGateway) -> Iterator[tuple[RouteOperation, str]]:
    """Every reading operation, with each name of its query."""
    for each in operations(admin):
        if each.method != "GET" or each.access in STEADY or each.media == STREAM:
            continue
        names = each.query.__struct_encode_fields__ if each.query is not None else ("limit",)
        for name in names:
            yield each, name


async def test_no_query_causes_an_error(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.chat("acme/large")
    await admin.core.ledger.flush()
    for each, name in questions(admin):
        for value in NASTY:
            begun = time.process_time()
            text = f"{filled(each.path)}?{name}={quote(value)}"
            answer = await admin.client.get(text)
            assert answer.status_code < 500, (text, answer.text)
            assert time.process_time() - begun < QUICK, text
    for each, name in questions(admin):
        path = filled(each.path)
        for query in (
            f"{name}=1&{name}=2",
            f"{name}[]=1",
            f"{name}[a]=1",
            f"{name}",
            f"{name}=%zz",
        ):
            assert (await admin.client.get(f"{path}?{query}")).status_code < 500, (path, query)


async def test_no_path_segment_causes_an_error(admin: AdminGateway) -> None:
    for each in operations(admin):
        if "{" not in each.path or each.access in STEADY:
            continue
        for value in NASTY:
            parts = each.path.split("/")
            path = "/".join(quote(value, safe="") if p.startswith("{") else p for p in parts)
            answer = await admin.client.request(each.method, path, json=each.example or {})
            assert answer.status_code < 500 or answer.status_code in (501, 507), (path, answer.text)
