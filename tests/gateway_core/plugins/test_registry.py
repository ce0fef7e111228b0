"""What plugins answer, folded into tables: what is kept, and what is refused."""

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace
from parametrize_ids import parametrize_id
from plugin_registries import (
    OTHER,
    PLAIN,
    build_registry,
    endpoint,
    messages,
    plugin,
    record,
    registry_of,
    spec,
)

from gateway_core import Call, Kind, Model, ProviderSpec, WireFormat
from gateway_core.plugins import State, load
from gateway_core.plugins.registry import Registry, build


class Touchy:
    @property
    def name(self) -> str:
        raise RuntimeError("do not look")

    async def send(self, request: Any, credential: Any, transport: Any) -> Any: ...


@dataclass
class Watcher:
    order: int
    required: bool = False

    async def before(self, call: Call) -> Call:
        return call

    async def after(self, record: object) -> None: ...


def test_everything_sound_is_kept_as_it_is() -> None:
    acme = spec(alias="ac", aliases=("acm",), models=(Model("m"), Model("m", kind=Kind.IMAGE)))

    registry = build_registry(acme)

    assert registry.problems == ()
    assert registry.providers["acme"] == acme
    assert registry.formats["plain"] is PLAIN
    assert registry.names == {"acme": "acme", "ac": "acme", "acm": "acme"}
    assert registry.format_plugins["plain"] == "formats"
    assert registry.provider_plugins == {"acme": "vendor"}
    assert {plugin.state for plugin in registry.plugins} == {State.LOADED}


def test_the_tables_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        build_registry(spec()).providers["acme"] = spec()  # type: ignore[index]


def test_many_faults_are_told_in_one_problem() -> None:
    registry = build_registry(spec("A", format="absent", base_url="a/"))

    assert messages(registry)[0].count(";") == 3


def test_an_answer_that_raises_when_it_is_read_is_refused() -> None:
    registry = build_registry(spec(executor=Touchy()), spec("sound"))

    assert list(registry.providers) == ["sound"]
    assert messages(registry) == ["provider 'acme' is refused: reading it raised RuntimeError"]


@pytest.mark.parametrize("answer", [5, None, "acme", PLAIN, ProviderSpec], ids=parametrize_id)
def test_an_answer_of_another_type_is_refused(answer: object) -> None:
    registry = build_registry(answer, spec())

    assert list(registry.providers) == ["acme"]
    assert f"got {type(answer).__name__}" in messages(registry)[0]


def test_what_cannot_be_used_of_a_provider_is_left_out_and_told() -> None:
    registry = build_registry(spec(aliases=("ac", "a b"), models=(Model("m"), Model("m"))))

    assert registry.providers["acme"] == spec(aliases=("ac",), models=(Model("m"),))
    assert messages(registry) == [
        "provider 'acme': the alias 'a b' is left out: it may hold no slash and no space",
        "provider 'acme': the model 'm' is listed twice as llm",
    ]
    assert record(registry, "vendor").state is State.LOADED


def test_a_provider_of_a_format_that_no_vendor_speaks_is_refused() -> None:
    registry = build_registry(spec(format="client-only"), spec("sound"))

    assert list(registry.providers) == ["sound"]
    assert messages(registry)[0].startswith("provider 'acme' is refused: speaks the format")


def test_a_format_that_cannot_work_is_refused() -> None:
    registry = registry_of({"bad": plugin(formats=[WireFormat(id="x", dialect="x"), "plain"])})

    assert registry.formats == {}
    assert messages(registry, "bad") == [
        "format 'x' is refused: has neither a client nor a vendor side",
        "format is refused: expected a WireFormat, got str",
    ]
    assert record(registry, "bad").state is State.FAILED


def test_a_path_is_served_by_the_first_format_that_claims_it() -> None:
    mine, shared = endpoint("/v1/mine"), endpoint("/v1/shared")
    first = replace(PLAIN, endpoints=(shared,))
    second = replace(OTHER, endpoints=(mine, shared))

    registry = registry_of({"a": plugin(formats=[first]), "b": plugin(formats=[second])})

    assert registry.formats["plain"].endpoints == (shared,)
    assert registry.formats["other"].endpoints == (mine,)
    assert messages(registry, "b") == [
        "format 'other': the path /v1/shared is served by format 'plain' of plugin a"
    ]


def test_interceptors_are_sorted_by_their_order_then_by_plugin() -> None:
    last, first, tie = Watcher(9), Watcher(1), Watcher(9, required=True)

    registry = registry_of(
        {"b": plugin(interceptors=[tie]), "a": plugin(interceptors=[last, first])}
    )

    assert registry.interceptors == (first, last, tie)


def test_an_object_that_cannot_stand_on_the_path_is_refused() -> None:
    registry = registry_of({"a": plugin(interceptors=[object(), Watcher(1)])})

    assert registry.interceptors == (Watcher(1),)
    assert messages(registry, "a") == [
        "interceptor is refused: expected an Interceptor, got object"
    ]


def test_problems_of_loading_come_first() -> None:
    loaded = load(
        extra={"a": plugin(formats=["rubbish"])},
        entry_points=False,
        allowed=frozenset({"a", "absent"}),
    )

    assert [problem.plugin for problem in build(loaded).problems] == ["absent", "a"]


def test_plugins_that_were_not_loaded_keep_their_record() -> None:
    loaded = load(extra={"a": plugin()}, entry_points=False, blocked=frozenset({"a"}))

    assert build(loaded).plugins == loaded.plugins


def test_a_registry_can_be_built_from_nothing() -> None:
    assert build(load(entry_points=False)) == Registry()
