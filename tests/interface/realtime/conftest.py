"""Gateways that several tests open sessions at."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from own_stores import own_stores
from realtime_client import SERVERS, place
from served_gateway import Served

from gateway_administration.stores.keys import KeyChange

SIGNING = {"JWT_SECRET": "a text that is long enough to sign with"}


@pytest.fixture(scope="module", params=SERVERS)
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A gateway in each of the servers."""
    with place(request.param, tmp_path_factory.mktemp("data"), variables=SIGNING) as served:
        yield served


@pytest.fixture
def new_key() -> Callable[..., tuple[str, str]]:
    """Makes a key of a gateway, and gives its id and text."""

    def new_key(here: Served, **policy: Any) -> tuple[str, str]:
        async def make() -> tuple[str, str]:
            core = here.gateway.core
            mint = core.identity.keys.mint
            text = mint.new()
            change = KeyChange(name=text[-6:], policy=policy)
            digest = mint.digest(text).hex()
            row = await own_stores(core).keys.create(text, digest, mint.machine_id, change)
            await core.refresh()
            return row.id, text

        return here.do(make())

    return new_key


@pytest.fixture
def keys_required() -> Callable[[Served, bool], None]:
    """Says whether a gateway wants a key from everybody."""

    def require(here: Served, wanted: bool) -> None:
        async def work() -> None:
            await here.gateway.core.stores.settings.patch({"requireApiKey": wanted})
            await here.gateway.core.refresh()

        here.do(work())

    return require
