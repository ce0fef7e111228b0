"""What a plugin breaks when the gateway begins: its lifespan and its answers."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from admin_gateway import opened
from broken_plugins import raising, spec
from msgspec import Struct

from gateway_core import hookimpl
from gateway_core.plugins import State

pytestmark = pytest.mark.anyio


class Reported(Struct, frozen=True, kw_only=True):
    api_key: str = "canary-of-settings"


async def test_a_lifespan_that_fails_tells_no_secret_of_its_settings(tmp_path: Path) -> None:
    @asynccontextmanager
    async def running(host: Any) -> AsyncIterator[None]:
        raise RuntimeError(f"refused: {host.settings.api_key}")
        yield

    plugin = SimpleNamespace(
        GATEWAY_PROTOCOL=1,
        register_settings=hookimpl(lambda: Reported),
        lifespan=hookimpl(lambda host: running(host)),
    )
    async with opened(tmp_path, {}, more={"dull": plugin}) as admin:
        [problem] = admin.core.snapshot.registry.problems

        assert problem.message == "lifespan failed: RuntimeError: refused: ••••••••"


class Unwilling:
    """Fails by whatever it is asked for."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("a bug")

    def __repr__(self) -> str:
        raise RuntimeError("a bug")


@pytest.mark.parametrize("hook", ["register_providers", "register_formats", "register_routes"])
async def test_an_answer_that_cannot_be_looked_at_is_left_out(tmp_path: Path, hook: str) -> None:
    plugin = SimpleNamespace(**{hook: hookimpl(lambda: [Unwilling()])})
    async with opened(tmp_path, {}, more={"dull": plugin}) as admin:
        [problem] = admin.core.snapshot.registry.problems

        assert (problem.plugin, "raised RuntimeError" in problem.message) == ("dull", True)
        await admin.call("GET", "/api/health")


@pytest.mark.parametrize(
    "context",
    [object(), None, "raise"],
    ids=["no context manager", "nothing", "raises"],
)
async def test_a_lifespan_that_does_not_begin_is_a_problem_of_its_plugin(
    tmp_path: Path, context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def lifespan() -> Any:
        return raising(RuntimeError("a bug"))() if context == "raise" else context

    plugin = SimpleNamespace(
        register_providers=hookimpl(lambda: [spec("kept")]), lifespan=hookimpl(lifespan)
    )
    with caplog.at_level(logging.WARNING):
        async with opened(tmp_path, {}, more={"dull": plugin}) as admin:
            [record] = [p for p in admin.core.snapshot.registry.plugins if p.name == "dull"]
            await admin.connect()

            assert record.state is State.FAILED
            assert "lifespan failed" in (record.error or "")
            assert "kept" in admin.core.snapshot.registry.providers
            assert (await admin.chat("ac/large")).status_code == 200
            again = [p for p in admin.core.snapshot.registry.plugins if p.name == "dull"]
            assert again == [record]
