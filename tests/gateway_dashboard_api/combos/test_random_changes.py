"""Combos in any order of acts, against a dictionary that says what each leads to."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from admin_gateway import AdminGateway, opened
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

T = TypeVar("T")
PATH = "/api/combos"
NAMES = ("one", "two", "three", "four")
MODELS = ("acme/large", "acme/small", "open/large")
MEMBERS = (*MODELS, *NAMES, "nobody/m")
DEEPEST = 8

Chains = dict[str, tuple[str, ...]]


class SharedGateway:
    """One gateway for all examples."""

    admin: AdminGateway

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def open(self, folder: Path) -> None:
        self.admin = await self.stack.enter_async_context(opened(folder, {}))
        await self.admin.connect()
        self.admin.vendor.key = None

    def call(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        return self.do(self.admin.client.request(method, path, json=body))


SHARED = SharedGateway()


@pytest.fixture(scope="module", autouse=True)
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with SHARED.runner:
        SHARED.do(SHARED.open(tmp_path_factory.mktemp("data")))
        yield
        SHARED.do(SHARED.stack.aclose())


def leads_round(chains: Chains, name: str, path: tuple[str, ...] = ()) -> bool:
    """Whether a combo can be followed back to itself."""
    if name in path:
        return True
    return any(leads_round(chains, m, (*path, name)) for m in chains[name] if m in chains)


def targets(chains: Chains, name: str) -> list[str]:
    """The models a combo leads to, in order."""
    found: list[str] = []
    for member in chains[name]:
        found += targets(chains, member) if member in chains else [member] * (member in MODELS)
    return found


def is_sound(chains: Chains, name: str, kept: tuple[str, ...] = ()) -> bool:
    """Whether a combo may be saved; members that were there before may mean nothing."""
    known = all(m in chains or m in MODELS or m in kept for m in chains[name])
    return known and not any(leads_round(chains, each) for each in chains)


class Combos(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.chains: Chains = {}
        self.ids: dict[str, str] = {}

    @initialize()
    def begin_with_none(self) -> None:
        for combo in SHARED.call("GET", PATH).json()["combos"]:
            SHARED.call("DELETE", f"{PATH}/{combo['id']}")

    @rule(name=st.sampled_from(NAMES), models=st.lists(st.sampled_from(MEMBERS), max_size=3))
    def create(self, name: str, models: list[str]) -> None:
        after = {**self.chains, name: tuple(models)}
        allowed = name not in self.chains and is_sound(after, name)

        written = SHARED.call("POST", PATH, {"name": name, "models": models})

        assert written.status_code == (201 if allowed else 400), written.text
        if allowed:
            self.chains, self.ids[name] = after, written.json()["id"]

    @rule(name=st.sampled_from(NAMES), models=st.lists(st.sampled_from(MEMBERS), max_size=3))
    def change(self, name: str, models: list[str]) -> None:
        identity = self.ids.get(name, "nobody")
        after = {**self.chains, name: tuple(models)}
        allowed = name in self.chains and is_sound(after, name, self.chains[name])

        written = SHARED.call("PUT", f"{PATH}/{identity}", {"models": models})

        wanted = 404 if name not in self.chains else 200 if allowed else 400
        assert written.status_code == wanted, written.text
        if allowed:
            self.chains = after

    @rule(name=st.sampled_from(NAMES), to=st.sampled_from(NAMES))
    def rename(self, name: str, to: str) -> None:
        if name not in self.chains:
            return
        after = {to if each == name else each: chain for each, chain in self.chains.items()}
        allowed = (to == name or to not in self.chains) and is_sound(after, to, self.chains[name])

        written = SHARED.call("PUT", f"{PATH}/{self.ids[name]}", {"name": to})

        assert written.status_code == (200 if allowed else 400), written.text
        if allowed:
            self.chains, self.ids[to] = after, self.ids.pop(name)

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: str) -> None:
        written = SHARED.call("DELETE", f"{PATH}/{self.ids.get(name, 'nobody')}")

        assert written.status_code == (200 if name in self.chains else 404)
        self.chains.pop(name, None)
        self.ids.pop(name, None)

    @rule(name=st.sampled_from(NAMES))
    def call(self, name: str) -> None:
        """The first model that a combo leads to answers."""
        if name not in self.chains:
            return
        admin, wanted = SHARED.admin, targets(self.chains, name)
        before = len(admin.vendor.calls("/chat/completions"))

        written = SHARED.do(admin.chat(name))

        received = admin.vendor.calls("/chat/completions")[before:]
        assert written.status_code == (200 if wanted else 503), written.text
        assert [f"{call.json()['model']}" for call in received] == [
            name.partition("/")[2] for name in wanted[:1]
        ]

    @invariant()
    def the_list_is_what_was_saved(self) -> None:
        listed = SHARED.call("GET", PATH).json()["combos"]

        assert {combo["name"]: tuple(combo["models"]) for combo in listed} == self.chains


TestCombos = Combos.TestCase
TestCombos.settings = settings(
    settings.get_profile("house"), max_examples=12, stateful_step_count=15
)
