"""Variables without effect stop the start."""

from pathlib import Path

import pytest

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import ConfigError
from gateway_core.config.settings import traits
from gateway_core.config.unsupported import REFUSED, SETTINGS, check_supported, without_effect


@pytest.mark.parametrize("name", REFUSED)
def test_a_variable_without_effect_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} has no effect: "):
        check_supported({name: "something"})


@pytest.mark.parametrize(
    ("name", "value"), [("GATEWAY_DATABASE_ENGINE", "SQLite"), ("VALIDATE_OUTBOUND", "true")]
)
def test_what_is_the_case_anyway_may_be_said(name: str, value: str) -> None:
    assert without_effect({name: value}) == []


def test_a_variable_that_a_plugin_reads_is_its_own() -> None:
    assert without_effect({"HEADROOM_URL": "x"}, ["HEADROOM_URL"]) == []


def test_settings_without_effect_are_declared() -> None:
    assert traits().keys() >= set(SETTINGS)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["GATEWAY_PG_URL", "GATEWAY_PG_SSLMODE", "GATEWAY_DATABASE_ENGINE"]
)
async def test_the_start_refuses_a_database_that_is_not_there(tmp_path: Path, name: str) -> None:
    environment = from_environ({"DATA_DIR": str(tmp_path), name: "postgres"})

    with pytest.raises(ConfigError, match="the only database is SQLite"):
        async with Gateway.open(environment, installed_plugins=False):
            pass
