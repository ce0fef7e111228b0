"""A process variable that two plugins want goes to the house, or to nobody."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from snapshots import provider

from gateway_core import ProviderSpec
from gateway_core.plugins.claims import is_reserved, without_lost_variables


def variables_of(
    specs: Mapping[str, ProviderSpec], first: frozenset[str] = frozenset()
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """Of each provider, by its plugin; and what was told."""
    reported: list[tuple[str, str]] = []
    providers = {spec.id: spec for spec in specs.values()}
    owners = {spec.id: plugin for plugin, spec in specs.items()}
    for spec in without_lost_variables(
        providers, owners, first, lambda *each: reported.append(each)
    ):
        providers[spec.id] = spec
    names = {
        owners[id]: (*spec.environment, *spec.environment_data) for id, spec in providers.items()
    }
    return names, reported


def wanting(id: str, *variables: str, **data: str) -> ProviderSpec:
    return provider(id, environment=variables, environment_data=data)


def test_two_strangers_both_go_without() -> None:
    specs = {"one": wanting("a", "KEY", "A_KEY"), "two": wanting("b", "B_KEY", KEY="region")}

    names, reported = variables_of(specs)

    assert names == {"one": ("A_KEY",), "two": ("B_KEY",)}
    assert reported == [
        (
            "one",
            "provider 'a': no account is made from KEY: plugin two claims it too; "
            "add a connection instead",
        ),
        (
            "two",
            "provider 'b': no account is made from KEY: plugin one claims it too; "
            "add a connection instead",
        ),
    ]


def test_who_goes_first_keeps_its_own() -> None:
    specs = {"house": wanting("a", "KEY"), "stranger": wanting("b", "KEY")}

    names, _ = variables_of(specs, frozenset({"house"}))

    assert names == {"house": ("KEY",), "stranger": ()}


def test_two_of_the_house_may_share() -> None:
    specs = {"one": wanting("a", "KEY"), "two": wanting("b", "KEY")}

    names, reported = variables_of(specs, frozenset({"one", "two"}))

    assert (names, reported) == ({"one": ("KEY",), "two": ("KEY",)}, [])


@pytest.mark.parametrize("variable", ["JWT_SECRET", "API_KEY_SECRET", "PLUGIN_OTHER_TOKEN"])
def test_the_gateways_own_variables_are_nobodys_key(variable: str) -> None:
    names, reported = variables_of({"one": wanting("a", variable)})

    assert names == {"one": ()}
    assert reported[0][1].endswith("it is the gateway's own")


@pytest.mark.parametrize(
    ("id", "plugin", "expected"),
    [("openai", "stranger", True), ("openai", "openai", False), ("acme", "stranger", False)],
)
def test_ids_of_the_house_are_kept(id: str, plugin: str, expected: bool) -> None:
    assert is_reserved(id, plugin, frozenset({"openai"})) is expected


def test_read_only_tables_will_do() -> None:
    assert (
        list(without_lost_variables(MappingProxyType({}), {}, frozenset(), lambda *each: None))
        == []
    )
