"""Which plugins have precedence, and which are trusted with the whole gateway."""

import pytest

from gateway_core.plugins import Origin, Plugin, State
from gateway_core.plugins.trust import has_precedence, is_trusted


def installed(distribution: str | None, origin: Origin = Origin.INSTALLED) -> Plugin:
    return Plugin(
        name="a", distribution=distribution, module="a", state=State.LOADED, origin=origin
    )


@pytest.mark.parametrize(
    ("plugin", "precedes", "trusted"),
    [
        (installed("model-gateway"), True, True),
        (installed("model-gateway-provider-openai"), True, False),
        (installed("model-gateway-provider-thief"), False, False),
        (installed("model-gateway", Origin.FOLDER), False, False),
        (installed("model-gateway-provider-openai", Origin.FOLDER), False, False),
        (installed(None, Origin.FILE), False, False),
        (installed(None, Origin.GIVEN), True, True),
    ],
)
def test_bundled_plugins_and_those_that_are_handed_over_have_precedence(
    plugin: Plugin, precedes: bool, trusted: bool
) -> None:
    assert (has_precedence(plugin), is_trusted(plugin, ())) == (precedes, trusted)
    assert is_trusted(plugin, ("a",))
