"""An executor that breaks while requests run, in whatever way."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from admin_gateway import opened
from broken_plugins import Broken, cancelled, plugin_of, raising, spec
from collaborators import replace_collaborator

from gateway_core.contracts.errors import UpstreamError

pytestmark = pytest.mark.anyio


class Lost(BaseException):
    """An error that hardly anybody catches."""


async def lost() -> None:
    raise Lost


@pytest.mark.parametrize("how", [cancelled, lost])
async def test_what_looks_like_an_end_is_a_failure_of_one_request(tmp_path: Path, how: Any) -> None:
    class Ends:
        name = "ends"

        async def send(self, *given: Any) -> Any:
            await how()

    plugin = plugin_of(spec("ends", executor=Ends()))
    async with opened(tmp_path, {}, more={"ends": plugin}) as admin:
        answer = await admin.chat("ends/m")

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")


async def test_an_answer_that_cannot_be_closed_is_none(tmp_path: Path) -> None:
    answer = SimpleNamespace(status=200, headers={}, next=Broken(lambda: b""))
    plugin = plugin_of(spec("open", executor=Answering(answer)))
    async with opened(tmp_path, {}, more={"open": plugin}) as admin:
        reported = await admin.chat("open/m")

        assert (reported.status_code, reported.json()["error"]["code"]) == (502, "plugin_failed")


class Answering:
    """Gives the same answer to everybody."""

    name = "answering"

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def send(self, *given: Any) -> Any:
        return self._answer


@pytest.mark.parametrize("how", [cancelled, lost])
@pytest.mark.parametrize("stream", [False, True])
async def test_what_reading_an_answer_raises_is_a_failure_of_one_request(
    tmp_path: Path, how: Any, stream: bool
) -> None:
    class Ends:
        status, headers = 200, {"content-type": "application/json"}

        async def next(self) -> bytes:
            await how()
            return b""

        async def aclose(self) -> None:
            return

    plugin = plugin_of(spec("ends", executor=Answering(Ends())))
    async with opened(tmp_path, {}, more={"ends": plugin}) as admin:
        received = {"model": "ends/m", "messages": [{"role": "user", "content": "x"}]}
        path = "/v1/chat/completions"

        answer = await admin.client.post(path, json={**received, "stream": stream})

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")


async def test_an_executor_that_never_answers_is_cut(tmp_path: Path) -> None:
    class Endless:
        name = "endless"

        async def send(self, *given: Any) -> Any:
            await asyncio.Event().wait()

    plugin = plugin_of(spec("slow", executor=Endless()))
    async with opened(tmp_path, {}, more={"slow": plugin}) as admin:
        replace_collaborator(admin.core, "whole_timeout", 0.05)

        answer = await admin.chat("slow/m")

        assert answer.status_code == 504


async def test_an_executors_own_refusal_counts_as_the_vendors(tmp_path: Path) -> None:
    refusal = UpstreamError("No more today", status=429, retry_after=60)
    plugin = plugin_of(spec("spent", executor=Broken(raising(refusal))))
    async with opened(tmp_path, {}, more={"spent": plugin}) as admin:
        answer = await admin.chat("spent/m")

        assert answer.status_code == 429
        assert admin.core.cooldowns.find("spent:public", "m") is not None
