"""A gateway, and a person with a browser before its dashboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard_browser import (
    VARIABLES,
    Person,
    acme,
    answer,
    ensure_built,
    forget,
    launched,
    person,
)
from playwright.sync_api import Browser
from served_gateway import Served, serve_gateway


# Not for the session: while Playwright runs, no asynchronous test can run in its process.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    ensure_built()
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway with a password, and the vendors ``acme`` (with a key) and ``open`` (without)."""
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": answer}, specs=acme, variables=VARIABLES) as running:
        yield running


@pytest.fixture
def own(browser: Browser, tmp_path: Path) -> Iterator[Served]:
    """The same for one test, which leaves behind what cannot be put back."""
    with serve_gateway(tmp_path, {"openai": answer}, specs=acme, variables=VARIABLES) as running:
        yield running


@pytest.fixture
def owner(browser: Browser, own: Served) -> Iterator[Person]:
    """Somebody who has signed in to it."""
    with person(browser, own) as owner:
        yield owner


@pytest.fixture
def here(shared: Served) -> Iterator[Served]:
    """The module's gateway, of which only the ledger remembers the tests before."""
    yield shared
    forget(shared)


@pytest.fixture
def someone(browser: Browser, here: Served) -> Iterator[Person]:
    """Somebody who has signed in."""
    with person(browser, here) as someone:
        yield someone
