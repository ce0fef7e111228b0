"""Databases for gateways that are served."""

import json
from collections.abc import Callable

import pytest
from fake_vendor import Asked, Said
from postgres_servers import VERSIONS, empty_tables
from vendor_answers import STREAMED, WHOLE


@pytest.fixture
def vendor_answer() -> Callable[[Asked], Said]:
    def answer(asked: Asked) -> Said:
        if json.loads(asked.body).get("stream"):
            return Said.stream(STREAMED["openai"])
        return Said((WHOLE["openai"],))

    return answer


@pytest.fixture(params=VERSIONS)
def url(request: pytest.FixtureRequest, postgres: Callable[[str, str], str]) -> str:
    """Of a database that holds nothing but, perhaps, empty tables."""
    made = postgres(request.param, "served")
    empty_tables(made, "migrations")
    return made
