"""Of two that claim one name: who wins, and what is said about it."""

from types import ModuleType

from hypothesis import given
from msgspec.structs import replace
from plugin_registries import (
    PLAIN,
    build_registry,
    endpoint,
    messages,
    plugin,
    record,
    registry_of,
    spec,
    specs,
)

from gateway_core import ProviderSpec
from gateway_core.plugins import Origin, State, load
from gateway_core.plugins.registry import Registry, build, with_providers


def test_an_alias_may_repeat_the_id() -> None:
    assert build_registry(spec(alias="acme", aliases=("acme",))).problems == ()


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
    registry = build_registry(spec("one", alias="two", aliases=("uno",)), spec("two"))

    assert registry.names == {"one": "one", "two": "two", "uno": "one"}
    assert registry.providers["one"].alias is None
    assert registry.providers["one"].aliases == ("uno",)
    assert messages(registry) == [
        "provider 'one': the alias is left out: "
        "'two' already stands for provider 'two' of plugin vendor"
    ]


def test_of_two_equal_aliases_the_first_stays() -> None:
    registry = build_registry(spec("one", alias="o"), spec("two", aliases=("o", "t")))

    assert registry.names["o"] == "one"
    assert registry.providers["two"].aliases == ("t",)
    assert "'o' already stands for provider 'one'" in messages(registry)[0]


@given(specs, specs)
def test_names_always_lead_to_a_provider_that_claims_them(
    first: list[ProviderSpec], later: list[ProviderSpec]
) -> None:
    registry = with_providers(build_registry(*first), later)

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
