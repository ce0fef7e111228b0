"""Variables without effect stop the start."""

import pytest

from gateway_core.config.errors import ConfigError
from gateway_core.config.settings import traits
from gateway_core.config.unsupported import REFUSED, SETTINGS, check_supported, without_effect


@pytest.mark.parametrize("name", REFUSED)
def test_a_variable_without_effect_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} has no effect: "):
        check_supported({name: "something"})


@pytest.mark.parametrize(
    ("name", "value"), [("ENABLE_REQUEST_LOGS", "False"), ("VALIDATE_OUTBOUND", "true")]
)
def test_what_is_the_case_anyway_may_be_said(name: str, value: str) -> None:
    assert without_effect({name: value}) == []


def test_a_variable_that_a_plugin_reads_is_its_own() -> None:
    assert without_effect({"HEADROOM_URL": "x"}, ["HEADROOM_URL"]) == []


def test_settings_without_effect_are_declared() -> None:
    assert traits().keys() >= set(SETTINGS)
