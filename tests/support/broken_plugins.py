"""Plugins that fail, in many ways."""

import asyncio
from types import SimpleNamespace
from typing import Any

from gateway_core import Auth, ProviderSpec, WireFormat, hookimpl


class Broken:
    """Fails on any attribute or call; ``how`` causes the failure."""

    name = "broken"

    def __init__(self, how: Any) -> None:
        self.how = how

    def __call__(self, *given: Any) -> Any:
        return self.how()

    async def send(self, *given: Any) -> Any:
        return self.how()


def raising(error: BaseException) -> Any:
    def how() -> Any:
        raise error

    return how


def spec(id: str, **fields: Any) -> ProviderSpec:
    usual = {"base_url": "http://127.0.0.1:1", "passthrough_models": True}
    return ProviderSpec(**{"id": id, "name": id, "auth": Auth(type="none"), **usual, **fields})


def plugin_of(*specs: ProviderSpec, formats: tuple[WireFormat, ...] = ()) -> Any:
    return SimpleNamespace(
        register_formats=hookimpl(lambda: formats), register_providers=hookimpl(lambda: specs)
    )


async def cancelled() -> None:
    """The error of a task that awaits a cancelled task of its own."""
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task
