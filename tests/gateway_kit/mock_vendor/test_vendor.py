"""The mock vendor over a socket: it speaks the path's format and serves every fault."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest
from click.testing import CliRunner
from gateway_kit.commands import register_commands
from gateway_kit.mock_vendor import (
    DIALECTS,
    MENU,
    DialectScript,
    MockVendor,
    UnknownFault,
    apply_fault,
)
from gateway_kit.mock_vendor.answer import MockAnswer

pytestmark = pytest.mark.anyio
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
    "ollama": "/api/chat",
    "bedrock": "/model/m/converse",
    "cohere": "/v2/chat",
}
HASTY = [name for name in MENU if name not in ("slow", "stall")]
QUESTION: dict[str, Any] = {"model": "m", "stream": False, "messages": []}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def served(answering: DialectScript) -> AsyncIterator[httpx2.AsyncClient]:
    vendor = MockVendor(answering)
    await vendor.open()
    try:
        async with httpx2.AsyncClient(base_url=vendor.url, trust_env=False) as client:
            yield client
    finally:
        await vendor.aclose()


@pytest.mark.parametrize("wire", PATHS)
async def test_the_path_decides_the_format(wire: str) -> None:
    async with served(DialectScript()) as client:
        answer = await client.post(PATHS[wire], json=QUESTION)

    scene = MockAnswer(dialect=DIALECTS[wire], model="m")
    assert answer.content == scene.body()


async def test_a_body_may_begin_with_a_line_break() -> None:
    async with served(DialectScript()) as client:
        answer = await client.post(PATHS["openai"], content=b'\n{"model":"m","stream":true}')

    assert answer.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("body", [b'{"model":"\xff"}', b"{"])
async def test_a_body_that_is_a_broken_object_is_refused(body: bytes) -> None:
    async with served(DialectScript()) as client:
        answer = await client.post(PATHS["openai"], content=body)

    assert answer.status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        b"junk\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\na: " + b"x" * 70_000,
    ],
)
async def test_what_is_no_request_ends_the_connection_and_nothing_else(sent: bytes) -> None:
    troubles: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, reported: troubles.append(reported)
    )
    vendor = MockVendor(DialectScript())
    await vendor.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", vendor.port)

    writer.write(sent)
    written = await reader.read()

    writer.close()
    await vendor.aclose()
    assert (written, troubles) == (b"", [])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", PATHS)
async def test_every_fault_is_served_in_every_format(wire: str, stream: bool) -> None:
    answering = DialectScript(dialect=DIALECTS[wire])
    async with served(answering) as client:
        for fault in HASTY:
            answering.fault = fault
            try:
                answer = await client.post("/", json={**QUESTION, "stream": stream})
            except httpx2.RemoteProtocolError:
                assert fault == "cut"
                continue
            assert fault != "cut"
            assert answer.status_code == (int(fault[:3]) if fault[:3].isdigit() else 200)


async def test_a_slow_vendor_lets_its_client_wait() -> None:
    async with served(DialectScript(fault="slow:60")) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.post("/v1/chat/completions", json=QUESTION, timeout=0.05)


async def test_a_stalled_vendor_says_the_beginning_and_no_more() -> None:
    async with (
        served(DialectScript(fault="stall:9")) as client,
        client.stream("POST", "/", json=QUESTION, timeout=0.2) as answer,
    ):
        pieces = answer.aiter_bytes()
        seen = await anext(pieces)
        with pytest.raises(httpx2.ReadTimeout):
            await anext(pieces)

    assert len(seen) == 9


async def test_models_are_listed() -> None:
    async with served(DialectScript()) as client:
        paths = ("/v1/models", "/api/tags", "/v1beta/models")
        answers = await asyncio.gather(*(client.get(path) for path in paths))

    assert all("model-1" in answer.text for answer in answers)


def test_a_fault_that_is_not_on_the_menu_is_named() -> None:
    with pytest.raises(UnknownFault, match="there is no fault 'flood'"):
        apply_fault(MockAnswer(dialect=DIALECTS["openai"]), "flood")


def command(*arguments: str) -> Any:
    group = click.Group()
    register_commands(group)
    return CliRunner().invoke(group, ["mock-vendor", *arguments])


def test_the_menu_names_every_fault() -> None:
    written = command("--menu").output

    assert all(f"  {name} " in written for name in MENU)


@pytest.mark.parametrize(
    "wrong", [("--fault", "flood"), ("--fault", "cut:x"), ("--format", "morse"), ("--says", "no")]
)
def test_a_wrong_word_is_refused_before_serving(wrong: tuple[str, str]) -> None:
    written = command(*wrong)

    assert written.exit_code == 2
    assert wrong[1].partition(":")[0] in written.output


def test_the_page_on_conformance_has_the_whole_menu() -> None:
    page = (Path(__file__).parents[3] / "docs" / "conformance.md").read_text()

    assert all(f"| `{fault.name}` | {fault.description} |" in page for fault in MENU.values())
