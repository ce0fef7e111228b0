"""Databases for gateways that are served."""

import json
from collections.abc import Callable

import pytest
from fake_vendor import MockResponse, ReceivedRequest
from postgres_servers import VERSIONS, empty_tables
from vendor_answers import STREAMED, WHOLE


@pytest.fixture
def vendor_answer() -> Callable[[ReceivedRequest], MockResponse]:
    def answer(received: ReceivedRequest) -> MockResponse:
        if json.loads(received.body).get("stream"):
            return MockResponse.stream(STREAMED["openai"])
        return MockResponse((WHOLE["openai"],))

    return answer


@pytest.fixture(params=VERSIONS)
def url(request: pytest.FixtureRequest, postgres: Callable[[str, str], str]) -> str:
    """Of a database that holds nothing but, perhaps, empty tables."""
    made = postgres(request.param, "served")
    empty_tables(made, "migrations")
    return made
