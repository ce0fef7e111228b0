"""Fixtures of the black-box tests."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from own_stores import own_stores
from served_gateway import Served

from gateway_administration.stores.combos import ComboChange
from gateway_core.pipeline import fast_path
from gateway_core.pipeline.fast_path.driver import Driver
from gateway_core.storage.stores.connection import NewConnection


@pytest.fixture
def http() -> Any:
    with httpx2.Client(trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture
def add_account() -> Callable[..., str]:
    """Adds an account to a served gateway and returns its id."""

    def add(here: Served, provider: str, key: str, **data: Any) -> str:
        async def work() -> str:
            core = here.gateway.core
            new = NewConnection(provider=provider, name=key, data={"apiKey": key, **data})
            connection = await core.stores.connections.create(new)
            await core.refresh()
            return connection.id

        return here.do(work())

    return add


@pytest.fixture
def add_combo() -> Callable[..., None]:
    """Adds a combo to a served gateway, with its strategy."""

    def add(here: Served, name: str, *models: str, members: Any = None, **strategy: Any) -> None:
        async def work() -> None:
            core = here.gateway.core
            change = ComboChange(name=name, models=models, members=members)
            await own_stores(core).combos.create(change)
            if strategy:
                await core.stores.settings.patch({"comboStrategies": {name: strategy}})
            await core.refresh()

        here.do(work())

    return add


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each request with a repeated head: whether it took the fast path."""
    ways: list[bool] = []
    begin = fast_path.begin

    def noted(*words: Any) -> Any:
        found = begin(*words)
        ways.append(found is not None)
        return found

    monkeypatch.setattr(fast_path, "begin", noted)
    return ways


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each request that a task took over from the fast path: whether it was late."""
    found: list[bool] = []
    hand_over = Driver.hand_over

    def noted(self: Driver) -> None:
        found.append(self._run.is_late)
        hand_over(self)

    monkeypatch.setattr(Driver, "hand_over", noted)
    return found
