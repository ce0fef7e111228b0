"""MCP servers as programs of this machine."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest
from mcp_gateway import McpGateway, mcp_gateway

pytestmark = pytest.mark.anyio
ALLOWED = {"commands": [sys.executable]}


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        await asyncio.sleep(0.02)


async def written(file: Path) -> int:
    """The process id that a program writes once it runs."""
    while not (text := _text(file)):
        await asyncio.sleep(0.02)
    return int(text)


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


async def test_a_program_runs_only_where_the_operator_has_named_it(here: McpGateway) -> None:
    await here.add_program("tool", "good")

    refused = await here.use("tool__add", a=1, b=2)
    await here.settings(**ALLOWED)

    assert "setting commands" in refused["message"]
    assert await here.use("tool__add", a=1, b=2) == "3"


async def test_a_program_stays_for_the_next_call_and_ends_with_the_gateway(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    async with mcp_gateway(tmp_path / "data") as here:
        await here.settings(**ALLOWED)
        await here.add_program("tool", "noisy", str(note))
        for number in range(3):
            assert await here.use("tool__add", a=number, b=1) == str(number + 1)
        pid = await written(note)
        assert psutil.pid_exists(pid)
    await asyncio.wait_for(gone(pid), 20)


async def test_a_program_gets_its_own_variables_and_none_of_the_gateways(
    here: McpGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    await here.settings(**ALLOWED)
    await here.add_program("tool", "good", env={"TOOL_MODE": "of the tool"})

    assert await here.use("tool__variable", name="TOOL_MODE") == "of the tool"
    assert await here.use("tool__variable", name="OPENAI_API_KEY") == ""
    assert await here.use("tool__variable", name="JWT_SECRET") == ""
    assert (await here.row("tool"))["envNames"] == ["TOOL_MODE"]


async def test_a_program_that_dies_is_started_anew(here: McpGateway) -> None:
    await here.settings(**ALLOWED)
    await here.add_program("tool", "good")
    await here.use("tool__add", a=1, b=1)

    died = await here.use("tool__die")

    assert died["code"] == -32000
    assert await here.use("tool__add", a=1, b=2) == "3"


@pytest.mark.parametrize("way", ["endless", "huge", "silent", "stubborn"])
async def test_a_bad_program_is_killed_with_its_children(
    here: McpGateway, tmp_path: Path, way: str
) -> None:
    await here.settings(**ALLOWED, startSeconds=8, callSeconds=2, maxAnswerMegabytes=1)
    note = tmp_path / "pid"
    await here.add_program("bad", way, str(note))

    called = await here.use("bad__anything")

    assert called["code"] == -32000
    await asyncio.wait_for(gone(await written(note)), 20)
    if way == "stubborn":
        await asyncio.wait_for(gone(await written(tmp_path / "pid.child")), 20)


async def test_an_answer_that_is_too_long_ends_the_program(here: McpGateway) -> None:
    await here.settings(**ALLOWED, maxAnswerMegabytes=1)
    await here.add_program("tool", "good")

    long = await here.use("tool__flood", kilobytes=4096)

    assert long["code"] == -32000
    assert await here.use("tool__add", a=1, b=2) == "3"


async def test_programs_are_bounded_in_number(here: McpGateway) -> None:
    await here.settings(**ALLOWED, mostProcesses=1)
    await here.add_program("one", "good")
    await here.add_program("two", "good")
    await here.use("one__add", a=1, b=2)

    second = await here.use("two__add", a=1, b=2)

    assert "mostProcesses" in second["message"]
    assert await here.use("one__add", a=1, b=2) == "3"


async def test_a_program_that_nobody_uses_is_ended(here: McpGateway, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    await here.settings(**ALLOWED, idleSeconds=1)
    await here.add_program("tool", "good", str(note))
    await here.use("tool__add", a=1, b=2)

    await asyncio.wait_for(gone(await written(note)), 20)

    assert await here.use("tool__add", a=2, b=2) == "4"


async def test_a_program_that_was_disabled_or_deleted_is_ended(
    here: McpGateway, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    await here.settings(**ALLOWED)
    await here.add_program("tool", "good", str(note))
    await here.use("tool__add", a=1, b=2)

    await here.admin.call("PATCH", "/api/mcp-gateway/instances/tool", {"enabled": False})

    await asyncio.wait_for(gone(await written(note)), 20)
    assert (await here.use("tool__add", a=2, b=2))["code"] == -32601


async def test_a_command_that_is_not_there_is_said_to_be(here: McpGateway) -> None:
    await here.settings(commands=["/nothing/here"])
    await here.add("tool", kind="command", command="/nothing/here")

    called = await here.use("tool__add")

    assert called["code"] == -32000
    assert "could not be reached" in called["message"]
