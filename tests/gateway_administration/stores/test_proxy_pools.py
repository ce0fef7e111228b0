from collections.abc import Callable

import pytest

from gateway_administration.stores.proxy_pools import NewProxyPool, ProxyPoolChange, ProxyPoolEditor
from gateway_core.contracts.errors import NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.stores.proxy_pools import ProxyPool
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
URL = "http://me:canary@proxy.example:3128"
NEW = NewProxyPool(name="office", proxy_url=URL, no_proxy="a.b", strict_proxy=True)


@pytest.fixture
def store(
    database: Database, vault: Vault, clock: Callable[[], float], new_id: Callable[[], str]
) -> ProxyPoolEditor:
    return ProxyPoolEditor(database, vault, clock=clock, new_id=new_id)


async def test_a_pool_comes_back_as_it_was_made(store: ProxyPoolEditor) -> None:
    made = await store.create(NEW)

    assert made == ProxyPool(
        id="id-1",
        name="office",
        type="http",
        proxy_url=URL,
        no_proxy="a.b",
        is_active=True,
        strict_proxy=True,
        test_status=None,
        last_tested_at=None,
        last_error=None,
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get("id-1") == made
    assert await store.list() == (made,)
    assert "canary" not in repr((made, NEW))


async def test_the_address_is_sealed(store: ProxyPoolEditor, database: Database) -> None:
    made = await store.create(NEW)
    await store.update(made.id, ProxyPoolChange(proxy_url="http://u:canary2@other"))

    rows = await database.fetch("SELECT * FROM proxy_pools")

    assert "canary" not in str(rows)
    assert (await store.list())[0].proxy_url == "http://u:canary2@other"


async def test_a_change_leaves_what_it_does_not_name(store: ProxyPoolEditor) -> None:
    made = await store.create(NEW)

    after = await store.update(
        made.id, ProxyPoolChange(is_active=False, test_status="error", last_error="no")
    )

    assert (after.is_active, after.test_status, after.last_error) == (False, "error", "no")
    assert (after.proxy_url, after.name, after.strict_proxy) == (URL, "office", True)
    assert await store.get(made.id) == after


async def test_an_address_that_cannot_be_opened_is_marked_until_a_new_one_comes(
    store: ProxyPoolEditor, database: Database
) -> None:
    one, two = await store.create(NEW), await store.create(NEW)
    await database.execute(
        "UPDATE proxy_pools SET proxy_url = (SELECT proxy_url FROM proxy_pools WHERE id = :two) "
        "WHERE id = :one",
        one=one.id,
        two=two.id,
    )

    broken = await store.update(one.id, ProxyPoolChange(name="renamed"))
    mended = await store.update(one.id, ProxyPoolChange(proxy_url=URL))

    assert (broken.name, broken.broken, broken.proxy_url) == ("renamed", True, "")
    assert (mended.broken, mended.proxy_url) == (False, URL)


async def test_a_pool_that_is_not_there_is_said_to_be_missing(store: ProxyPoolEditor) -> None:
    made = await store.create(NEW)
    await store.delete(made.id)

    assert await store.get(made.id) is None
    with pytest.raises(NotFound, match="Proxy pool not found"):
        await store.delete(made.id)
    with pytest.raises(NotFound, match="Proxy pool not found"):
        await store.update(made.id, ProxyPoolChange(name="x"))


async def test_every_write_is_counted(store: ProxyPoolEditor, database: Database) -> None:
    made = await store.create(NEW)
    await store.update(made.id, ProxyPoolChange(name="x"))
    await store.delete(made.id)

    assert await read_versions(database) == {"proxy_pools": 3}
