"""What plugins answer, folded into tables: who wins, what is refused and what is said about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from naming import named

from gateway_core import (
    Call,
    Endpoint,
    Intake,
    Kind,
    Model,
    ProviderSpec,
    WireFormat,
    hookimpl,
)
from gateway_core.plugins import Origin, Plugin, Problem, State, load
from gateway_core.registry import RUNTIME, Registry, build, with_problems, with_providers


class Client:
    """Has what a client side must have."""

    def nothing(self, *given: object) -> Any: ...

    read_request = write_reply = stream_writer = write_error = nothing


class Vendor:
    """Has what a vendor side must have."""

    def nothing(self, *given: object) -> Any: ...

    write_request = read_reply = stream_reader = read_error = path = relay = nothing


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


def endpoint(path: str) -> Endpoint:
    return Endpoint(path=path, read=lambda path, headers, members: Intake("m", False))


PLAIN = WireFormat(id="plain", dialect="plain", client=Client(), vendor=Vendor())
OTHER = replace(PLAIN, id="other")
CLIENT_ONLY = WireFormat(id="client-only", dialect="plain", client=Client())


def spec(id: str = "acme", **fields: Any) -> ProviderSpec:
    return ProviderSpec(**{"id": id, "name": "Acme", "format": "plain", **fields})


def plugin(**answers: Any) -> ModuleType:
    """A plugin whose hooks give these answers; a function is the hook itself."""
    module = ModuleType("in_process")
    for hook, answer in answers.items():
        function = answer if callable(answer) else _giving(answer)
        setattr(module, f"register_{hook}", hookimpl(function))
    return module


def _giving(answer: object) -> Callable[[], object]:
    return lambda: answer


def registry_of(plugins: dict[str, ModuleType], *, limit: float = 5) -> Registry:
    return build(load(extra=plugins, entry_points=False), limit=limit)


def built(*specs: Any) -> Registry:
    """One plugin ``vendor`` beside the formats ``plain``, ``other`` and ``client-only``."""
    formats = plugin(formats=[PLAIN, OTHER, CLIENT_ONLY])
    return registry_of({"formats": formats, "vendor": plugin(providers=list(specs))})


def messages(registry: Registry, name: str = "vendor") -> list[str]:
    return [problem.message for problem in registry.problems if problem.plugin == name]


def record(registry: Registry, name: str) -> Plugin:
    return next(plugin for plugin in registry.plugins if plugin.name == name)


def test_everything_sound_is_kept_as_it_is() -> None:
    acme = spec(alias="ac", aliases=("acm",), models=(Model("m"), Model("m", kind=Kind.IMAGE)))

    registry = built(acme)

    assert registry.problems == ()
    assert registry.providers["acme"] == acme
    assert registry.formats["plain"] is PLAIN
    assert registry.names == {"acme": "acme", "ac": "acme", "acm": "acme"}
    assert registry.format_plugins["plain"] == "formats"
    assert registry.provider_plugins == {"acme": "vendor"}
    assert {plugin.state for plugin in registry.plugins} == {State.LOADED}


def test_the_tables_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        built(spec()).providers["acme"] = spec()  # type: ignore[index]


def test_an_alias_may_repeat_the_id() -> None:
    assert built(spec(alias="acme", aliases=("acme",))).problems == ()


def test_many_faults_are_told_in_one_problem() -> None:
    registry = built(spec("A", format="absent", base_url="a/"))

    assert messages(registry)[0].count(";") == 3


def test_an_answer_that_raises_when_it_is_read_is_refused() -> None:
    registry = built(spec(executor=Touchy()), spec("sound"))

    assert list(registry.providers) == ["sound"]
    assert messages(registry) == ["provider 'acme' is refused: reading it raised RuntimeError"]


@pytest.mark.parametrize("answer", [5, None, "acme", PLAIN, ProviderSpec], ids=named)
def test_an_answer_of_another_type_is_refused(answer: object) -> None:
    registry = built(answer, spec())

    assert list(registry.providers) == ["acme"]
    assert f"got {type(answer).__name__}" in messages(registry)[0]


def test_what_cannot_be_used_of_a_provider_is_left_out_and_told() -> None:
    registry = built(spec(aliases=("ac", "a b"), models=(Model("m"), Model("m"))))

    assert registry.providers["acme"] == spec(aliases=("ac",), models=(Model("m"),))
    assert messages(registry) == [
        "provider 'acme': the alias 'a b' is left out: it may hold no slash and no space",
        "provider 'acme': the model 'm' is listed twice as llm",
    ]
    assert record(registry, "vendor").state is State.LOADED


def test_a_provider_of_a_format_that_no_vendor_speaks_is_refused() -> None:
    registry = built(spec(format="client-only"), spec("sound"))

    assert list(registry.providers) == ["sound"]
    assert messages(registry)[0].startswith("provider 'acme' is refused: speaks the format")


def test_of_two_providers_with_one_id_the_first_plugin_wins_and_both_are_named() -> None:
    registry = registry_of(
        {
            "formats": plugin(formats=[PLAIN]),
            "z": plugin(providers=[spec(name="Second"), spec("own")]),
            "g": plugin(providers=[spec(name="First")]),
        }
    )

    assert registry.providers["acme"].name == "First"
    assert messages(registry, "z") == [
        "provider 'acme' is refused: 'acme' already stands for provider 'acme' of plugin g"
    ]
    assert list(registry.providers) == ["acme", "own"]


def test_of_two_formats_with_one_id_the_first_plugin_wins_and_both_are_named() -> None:
    second = replace(PLAIN, dialect="second")

    registry = registry_of({"b": plugin(formats=[second]), "a": plugin(formats=[PLAIN])})

    assert registry.formats["plain"] is PLAIN
    assert messages(registry, "b") == ["format 'plain' is refused: plugin a already brings it"]
    assert record(registry, "b").state is State.FAILED
    assert record(registry, "b").error == messages(registry, "b")[0]


def test_an_id_wins_over_an_alias_whatever_the_order() -> None:
    registry = built(spec("one", alias="two", aliases=("uno",)), spec("two"))

    assert registry.names == {"one": "one", "two": "two", "uno": "one"}
    assert registry.providers["one"].alias is None
    assert registry.providers["one"].aliases == ("uno",)
    assert messages(registry) == [
        "provider 'one': the alias is left out: "
        "'two' already stands for provider 'two' of plugin vendor"
    ]


def test_of_two_equal_aliases_the_first_stays() -> None:
    registry = built(spec("one", alias="o"), spec("two", aliases=("o", "t")))

    assert registry.names["o"] == "one"
    assert registry.providers["two"].aliases == ("t",)
    assert "'o' already stands for provider 'one'" in messages(registry)[0]


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


def broken() -> Iterable[object]:
    raise RuntimeError("no")


def no_routes() -> list[object]:
    return []


def test_a_plugin_that_fails_in_one_hook_is_switched_off_as_a_whole() -> None:
    extra = {
        "good": plugin(formats=[OTHER]),
        "half": plugin(formats=[PLAIN], providers=broken, routes=no_routes),
    }
    loaded = load(extra=extra, entry_points=False)

    registry = build(loaded)

    assert list(registry.formats) == ["other"]
    assert registry.problems == (
        Problem("half", "register_providers failed: RuntimeError: no", fatal=True),
    )
    assert record(registry, "half").state is State.FAILED
    assert record(registry, "half").error == "register_providers failed: RuntimeError: no"
    assert loaded.manager.hook.register_routes.get_hookimpls() == []


def test_a_plugin_that_failed_once_is_not_asked_again() -> None:
    asked: list[str] = []

    registry_of({"half": plugin(formats=broken, providers=lambda: asked.append("again"))})

    assert asked == []


def test_a_plugin_with_other_work_is_not_failed_by_a_refused_answer() -> None:
    registry = registry_of({"a": plugin(formats=["rubbish"], routes=no_routes)})

    assert record(registry, "a").state is State.LOADED
    assert len(registry.problems) == 1


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


def test_providers_can_be_added_while_the_gateway_runs() -> None:
    before = built(spec())
    node = spec("node-1", alias="MyNode")

    after = with_providers(before, [node])

    assert after.providers["node-1"] == node
    assert after.names["MyNode"] == "node-1"
    assert after.provider_plugins["node-1"] == RUNTIME
    assert after.plugins == before.plugins
    assert "node-1" not in before.providers
    assert "MyNode" not in before.names
    assert after.formats == before.formats


@pytest.mark.parametrize("name", ["acme", "ac"])
def test_an_added_provider_takes_no_name_that_a_plugin_has(name: str) -> None:
    before = built(spec(alias="ac"))

    after = with_providers(before, [spec(name, name="Intruder")])

    assert after.providers == before.providers
    assert after.names == before.names
    assert messages(after, RUNTIME) == [
        f"provider {name!r} is refused: "
        f"{name!r} already stands for provider 'acme' of plugin vendor"
    ]


def test_an_added_provider_is_checked_like_any_other() -> None:
    after = with_providers(built(), [spec("node", format="absent")])

    assert "node" not in after.providers
    assert "speaks the format 'absent'" in messages(after, RUNTIME)[0]


names = st.sampled_from(["a", "b", "c", "d", "e"])
specs = st.lists(
    st.builds(spec, names, alias=st.none() | names, aliases=st.lists(names, max_size=3).map(tuple)),
    max_size=8,
)


@given(specs, specs)
def test_names_always_lead_to_a_provider_that_claims_them(
    first: list[ProviderSpec], later: list[ProviderSpec]
) -> None:
    registry = with_providers(built(*first), later)

    claimed = {
        name: id
        for id, provider in registry.providers.items()
        for name in (id, provider.alias, *provider.aliases)
        if name is not None
    }
    assert registry.names == claimed
    assert registry.provider_plugins.keys() == registry.providers.keys()


def strangers_first(**plugins: ModuleType) -> Registry:
    """As if those whose names begin with ``a`` were strangers' and the others the house's."""
    loaded = load(extra=plugins, entry_points=False)
    records = tuple(
        replace(each, origin=Origin.FILE) if each.name.startswith("a") else each
        for each in loaded.plugins
    )
    return build(replace(loaded, plugins=records))


def test_a_strangers_name_never_hides_that_of_the_house() -> None:
    stranger = plugin(
        formats=[replace(PLAIN, endpoints=(endpoint("/v1/chat"),))],
        providers=[spec("acme"), spec("mine", alias="theirs")],
    )
    house = plugin(formats=[PLAIN], providers=[spec("acme"), spec("other", alias="theirs")])

    registry = strangers_first(aaa=stranger, house=house)

    assert registry.format_plugins == {"plain": "house"}
    assert registry.provider_plugins["acme"] == "house"
    assert registry.names["theirs"] == "other"
    assert registry.providers["mine"].alias is None


def test_what_is_registered_cannot_be_changed_afterwards() -> None:
    headers, options = {"x-title": "a"}, {"tools": True}
    registry = built(spec(headers=headers, options=options))
    given: Any = registry.providers["acme"]

    headers["x-title"], options["tools"] = "b", False

    assert (given.headers, given.options) == ({"x-title": "a"}, {"tools": True})
    with pytest.raises(TypeError):
        given.options["tools"] = False


def test_what_goes_wrong_later_is_told_with_the_rest() -> None:
    before = built(spec())
    told = Problem("vendor", "lifespan failed", fatal=True)

    after = with_problems(before, [told, Problem("formats", "a note")])

    assert after.problems[-2:] == (told, Problem("formats", "a note"))
    assert record(after, "vendor").state is State.FAILED
    assert record(after, "formats").state is State.LOADED
    assert after.providers == before.providers


def test_models_that_begin_alike_stay_with_whoever_came_first() -> None:
    """Also where the later id would come first by the alphabet."""
    first = plugin(formats=[PLAIN], providers=[spec("acme", beginnings=("gpt-", ""))])
    later = plugin(providers=[spec("zeta", beginnings=("gpt-", "gpt-oss", ""))])

    registry = registry_of({"a": first, "b": later})

    assert registry.providers["acme"].beginnings == ("gpt-", "")
    assert registry.providers["zeta"].beginnings == ("gpt-oss",)
    assert [problem.message for problem in registry.problems] == [
        f"provider 'zeta': models that begin with {beginning!r} belong to provider 'acme'"
        for beginning in ("gpt-", "")
    ]
