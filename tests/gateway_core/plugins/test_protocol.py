"""Versions of the hook protocol: what a plugin says, and what it gets for it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.routing import Route
from two_protocols import speak_two_protocols

from gateway_cli.findings import findings
from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.operations import Guarded
from gateway_core.identity.access import Access
from gateway_core.pipeline.plugin_host import Host
from gateway_core.plugins import Loaded, Plugin, PluginFolder, State, load
from gateway_core.plugins.protocol import CURRENT, SUPPORTED, unsupported
from gateway_core.plugins.registry import build


def plugin(protocol: object = None, **hooks: Callable[..., object]) -> ModuleType:
    module = ModuleType("sample")
    if protocol is not None:
        module.GATEWAY_PROTOCOL = protocol  # type: ignore[attr-defined]
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return module


def loaded(sample: ModuleType) -> Loaded:
    return load(extra={"sample": sample}, entry_points=False)


def record(sample: ModuleType) -> Plugin:
    return loaded(sample).plugins[0]


def reported(sample: ModuleType) -> list[str]:
    return [problem.message for problem in loaded(sample).problems]


def no_routes() -> list[object]:
    return []


def routes_of_first(host: object) -> list[object]:
    return []


def routes_of_second(settings: object) -> list[object]:
    return []


def life_of_first(host: object) -> object: ...


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two made-up versions: ``host`` is an argument of the first, ``settings`` of the second."""
    speak_two_protocols(monkeypatch)


def test_there_is_one_version_and_it_is_the_current_one() -> None:
    assert SUPPORTED == (1,)
    assert CURRENT == 1


def test_a_plugin_that_says_nothing_speaks_the_first() -> None:
    assert record(plugin(register_routes=no_routes)).protocol == 1


@pytest.mark.parametrize("protocol", SUPPORTED)
def test_a_plugin_of_a_supported_version_is_loaded_without_a_word(protocol: int) -> None:
    sample = plugin(protocol, register_routes=no_routes)

    assert record(sample).state is State.LOADED
    assert record(sample).protocol == protocol
    assert reported(sample) == []


@pytest.mark.parametrize(
    ("protocol", "advice"),
    [(CURRENT + 1, "update the gateway"), (0, "install a newer version of the plugin")],
    ids=["newer", "older"],
)
def test_another_version_is_refused_with_what_to_do(protocol: int, advice: str) -> None:
    refused = record(plugin(protocol, register_routes=no_routes))

    assert refused.state is State.FAILED
    assert f"it speaks hook protocol {protocol}, and the gateway speaks 1:" in str(refused.error)
    assert advice in str(refused.error)


@pytest.mark.parametrize("written", ["2", 2.0, True, [2]], ids=repr)
def test_what_is_no_whole_number_is_refused(written: object) -> None:
    refused = record(plugin(written, register_routes=no_routes))

    assert refused.state is State.FAILED
    assert f"GATEWAY_PROTOCOL is to be a whole number, not {type(written).__name__}" in str(
        refused.error
    )


def test_a_plugin_whose_mark_raises_fails_alone() -> None:
    class Sample:
        @property
        def GATEWAY_PROTOCOL(self) -> int:
            raise RuntimeError("do not look")

    found = load(extra={"bad": Sample(), "good": plugin(1)}, entry_points=False)

    assert {each.name: each.state for each in found.plugins} == {
        "bad": State.FAILED,
        "good": State.LOADED,
    }


@pytest.mark.usefixtures("two")
def test_an_argument_of_the_older_version_works_and_is_told_once() -> None:
    sample = plugin(1, register_routes=routes_of_first, lifespan=life_of_first)

    assert record(sample).state is State.LOADED
    assert reported(sample) == [
        "speaks hook protocol 1, which goes when hook protocol 3 comes: "
        "host, asked for by lifespan and register_routes, goes with it; "
        "see docs/compatibility.md"
    ]
    assert not any(problem.fatal for problem in loaded(sample).problems)


@pytest.mark.usefixtures("two")
def test_what_is_only_told_makes_no_doctor_fail(tmp_path: Path) -> None:
    sample = plugin(1, register_routes=routes_of_first)

    reported = findings(build(loaded(sample)), PluginFolder.of(tmp_path))

    assert [(each.plugin, each.bad) for each in reported] == [("sample", False)]


@pytest.mark.usefixtures("two")
def test_an_older_plugin_that_takes_nothing_that_differs_is_not_bothered() -> None:
    assert reported(plugin(1, register_providers=no_routes)) == []


@pytest.mark.usefixtures("two")
def test_an_argument_of_the_older_version_is_refused_to_a_newer_plugin() -> None:
    refused = record(plugin(2, register_routes=routes_of_first))

    assert refused.state is State.FAILED
    assert "host, asked for by register_routes, is not in hook protocol 2" in str(refused.error)


@pytest.mark.usefixtures("two")
def test_an_argument_of_the_newer_version_works_without_the_mark_and_is_told() -> None:
    sample = plugin(None, register_routes=routes_of_second)

    assert record(sample).state is State.LOADED
    assert reported(sample) == [
        "settings, asked for by register_routes, came with hook protocol 2: "
        "say GATEWAY_PROTOCOL = 2; see docs/compatibility.md"
    ]


def test_the_refusal_names_what_another_gateway_speaks() -> None:
    assert unsupported(3, (4, 5)) == (
        "it speaks hook protocol 3, and the gateway speaks 4 and 5: "
        "install a newer version of the plugin"
    )


async def hello(request: Any) -> JSONResponse:
    return JSONResponse({})


@pytest.mark.anyio
@pytest.mark.usefixtures("two")
async def test_both_versions_serve_in_one_gateway(tmp_path: Path) -> None:
    seen: dict[str, object] = {}

    def first_routes(host: Host) -> list[Guarded]:
        seen["first routes"] = host
        return [Guarded(Route("/first", hello), Access.PUBLIC)]

    def second_routes(settings: object) -> list[Guarded]:
        seen["second routes"] = settings
        return [Guarded(Route("/second", hello), Access.PUBLIC)]

    @asynccontextmanager
    async def life(name: str, given: object) -> AsyncIterator[None]:
        seen[name] = given
        yield

    extra = {
        "first": plugin(1, register_routes=first_routes, lifespan=lambda host: life("1", host)),
        "second": plugin(
            2, register_routes=second_routes, lifespan=lambda settings: life("2", settings)
        ),
    }
    environment = from_environ({"DATA_DIR": str(tmp_path)})

    async with Gateway.open(environment, extra_plugins=extra, installed_plugins=False) as gateway:
        assert isinstance(seen["1"], Host)
        assert seen["first routes"] is seen["1"]
        assert seen["1"].core is gateway.core
        assert seen["second routes"] is seen["2"] is None
        assert {each.protocol for each in gateway.core.snapshot.registry.plugins} == {1, 2}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
