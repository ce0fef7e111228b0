"""An interceptor that fails is passed over, and left out when it goes on failing."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from admin_gateway import opened
from broken_plugins import cancelled, raising
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Call, Kind, hookimpl

pytestmark = pytest.mark.anyio


class Faulty:
    """An interceptor that fails when it is told to."""

    order = 1

    def __init__(self, *, required: bool = False) -> None:
        self.required = required
        self.how: Any = None

    async def before(self, call: Any) -> Any:
        found = call if self.how is None else self.how(call)
        return await found if asyncio.iscoroutine(found) else found

    async def after(self, record: Mapping[str, Any]) -> None:
        return None


def changed(**fields: Any) -> Any:
    return lambda call: replace(call, **fields)


def spoilt(call: Any) -> Any:
    call.model = "nobody/m"
    call.body = b"spoilt"
    raise RuntimeError("a bug")


CALLS = {
    "awaits what was cancelled": lambda call: cancelled(),
    "raises": lambda call: 1 / 0,
    "ends the process": lambda call: raising(SystemExit(3))(),
    "spoils and raises": spoilt,
    "gives nothing": lambda call: None,
    "gives another type": lambda call: {"model": "m"},
    "spoils a field": changed(members=7),
    "changes the format": changed(format="claude"),
    "changes the kind of answer": changed(stream=True),
}


@pytest.mark.parametrize("how", CALLS.values(), ids=CALLS)
async def test_a_broken_interceptor_is_passed_over(tmp_path: Path, how: Any) -> None:
    faulty = Faulty()
    faulty.how = how
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as admin:
        await admin.connect()

        assert (await admin.chat("ac/large")).status_code == 200


async def test_only_failures_in_a_row_switch_an_interceptor_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = Faulty()
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as admin:
        await admin.connect()
        for how in [CALLS["raises"]] * 4 + [None] + [CALLS["raises"]] * 4:
            faulty.how = how
            await admin.chat("ac/large")
        assert len(admin.core.interceptors.active) == 1

        faulty.how = CALLS["raises"]
        await admin.chat("ac/large")

        assert admin.core.interceptors.active == ()
        reported = "interceptor Faulty failed 5 times in a row and is left out"
        assert [p.message for p in admin.core.snapshot.registry.problems] == [reported]
        assert f"plugin faulty: {reported} until the next start" in caplog.text


async def test_one_that_many_calls_are_with_is_left_out_once(tmp_path: Path) -> None:
    faulty, gate, arrived = Faulty(), asyncio.Event(), list[Any]()

    async def wait(call: Any) -> None:
        arrived.append(call)
        await gate.wait()
        raise RuntimeError("a bug")

    faulty.how = wait
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as admin:
        await admin.connect()
        calls = [asyncio.create_task(admin.chat("ac/large")) for _ in range(9)]
        while len(arrived) < len(calls):
            await asyncio.sleep(0)
        gate.set()

        answers = await asyncio.gather(*calls)

        assert {each.status_code for each in answers} == {200}
        assert len(admin.core.snapshot.registry.problems) == 1


async def test_what_an_interceptor_keeps_of_a_call_changes_nothing_later(tmp_path: Path) -> None:
    kept: list[Any] = []
    faulty = Faulty()
    faulty.how = lambda call: kept.append(call) or call
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"keeper": plugin}) as admin:
        given = Call(
            kind=Kind.LLM, format="openai", model="m", stream=False, body=b"", members={"a": Raw()}
        )

        made = await admin.core.interceptors.before(given)
        kept[0].members.clear()

        assert (dict(made.members), dict(given.members)) == ({"a": Raw()}, {"a": Raw()})


async def test_a_required_one_goes_on_refusing(tmp_path: Path) -> None:
    faulty = Faulty(required=True)
    faulty.how = CALLS["raises"]
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as admin:
        await admin.connect()

        answers = [(await admin.chat("ac/large")).status_code for _ in range(7)]

        assert answers == [500] * 7


async def test_a_required_one_stands_before_counting_too(tmp_path: Path) -> None:
    faulty = Faulty(required=True)
    faulty.how = CALLS["raises"]
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as admin:
        await admin.connect()
        body = {"model": "ac/large", "messages": [{"role": "user", "content": "Hello"}]}

        answer = await admin.client.post("/v1/messages/count_tokens", json=body)

        assert answer.status_code == 500
        assert admin.vendor.calls() == []


class Restless(Faulty):
    """Tells its order once."""

    received = 0

    @property
    def order(self) -> int:  # type: ignore[override]
        self.received += 1
        if self.received > 2:
            raise SystemExit(3)
        return 1


async def test_an_interceptor_that_does_not_tell_its_order_is_left_out(tmp_path: Path) -> None:
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [Restless()]))
    async with opened(tmp_path, {}, more={"restless": plugin}) as admin:
        [problem] = admin.core.snapshot.registry.problems

        assert problem.message == "interceptor is refused: reading it raised SystemExit"
