"""Engines are found by their entry points."""

import pytest

from gateway_core.config.errors import DatabaseUnusable
from gateway_core.storage.engines import load_engine


def test_the_engine_for_postgresql_is_installed_with_the_gateway() -> None:
    assert load_engine("postgres").__module__ == "gateway_postgres.engine"


def test_an_engine_that_is_not_installed_is_named() -> None:
    with pytest.raises(DatabaseUnusable, match="no engine for oracle databases"):
        load_engine("oracle")
