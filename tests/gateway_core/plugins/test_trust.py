"""Who goes first, and who is trusted."""

from pathlib import Path

import pytest
from plugin_folders import folders, specs_of

from gateway_core.plugins import Origin, Plugin, State
from gateway_core.plugins.trust import (
    HOUSE_EXTENSIONS,
    HOUSE_FORMATS,
    HOUSE_PROVIDERS,
    has_precedence,
    is_trusted,
)

ROOT = Path(__file__).parents[3]


def found(distribution: str | None, origin: Origin = Origin.INSTALLED) -> Plugin:
    return Plugin(
        name="a", distribution=distribution, module="a", state=State.LOADED, origin=origin
    )


@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        ("formats", HOUSE_FORMATS),
        ("providers", HOUSE_PROVIDERS),
        ("extensions", HOUSE_EXTENSIONS),
    ],
)
def test_the_list_of_the_house_is_what_its_folders_are(kind: str, listed: tuple[str, ...]) -> None:
    there = {each.parent.name for each in (ROOT / "plugins" / kind).glob("*/pyproject.toml")}

    assert set(listed) == there


def test_each_vendor_of_the_house_has_its_plugins_name() -> None:
    ids = {spec.id for folder in folders("provider") for spec in specs_of(folder)}

    assert ids >= set(HOUSE_PROVIDERS)


@pytest.mark.parametrize(
    ("plugin", "first", "trusted"),
    [
        (found("model-gateway"), True, True),
        (found("model-gateway-provider-openai"), True, False),
        (found("model-gateway-provider-thief"), False, False),
        (found("model-gateway", Origin.FOLDER), False, False),
        (found("model-gateway-provider-openai", Origin.FOLDER), False, False),
        (found(None, Origin.FILE), False, False),
        (found(None, Origin.GIVEN), True, True),
    ],
)
def test_the_house_and_what_is_handed_over_go_first(
    plugin: Plugin, first: bool, trusted: bool
) -> None:
    assert (has_precedence(plugin), is_trusted(plugin, ())) == (first, trusted)
    assert is_trusted(plugin, ("a",))
