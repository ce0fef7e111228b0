import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from parametrize_ids import parametrize_id

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.stores.connection import (
    Connection,
    ConnectionChange,
    DuplicateConnection,
    NewConnection,
)
from gateway_core.storage.stores.connections import GROUP, STATE_GROUP, ConnectionStore
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
SECRETS = {
    "apiKey": "canary-api",
    "accessToken": "canary-access",
    "refreshToken": "canary-refresh",
    "idToken": "canary-id",
    "sessionToken": "canary-session",
}
DATA: dict[str, Any] = {
    **SECRETS,
    "defaultModel": "m",
    "providerSpecificData": {
        "region": "eu",
        "clientSecret": "canary-client",
        "webCookie": "canary-cookie",
        "connectionProxyUrl": "http://me:canary-proxy@proxy:1",
    },
}


@pytest.fixture
def store(
    database: Database, vault: Vault, clock: Callable[[], float], new_id: Callable[[], str]
) -> ConnectionStore:
    return ConnectionStore(database, vault, clock=clock, new_id=new_id)


def acme(name: str, **fields: Any) -> NewConnection:
    return NewConnection(provider="acme", name=name, **fields)


async def order(store: ConnectionStore, provider: str = "acme") -> list[tuple[str | None, int]]:
    return [(one.name, one.priority) for one in await store.list(provider)]


async def test_a_connection_comes_back_as_it_was_made(store: ConnectionStore) -> None:
    made = await store.create(acme("main", email="me@here", data=DATA))

    assert made == Connection(
        id="id-1",
        provider="acme",
        auth_type="apikey",
        name="main",
        email="me@here",
        priority=1,
        is_active=True,
        data={
            "defaultModel": "m",
            "providerSpecificData": {
                "region": "eu",
                "connectionProxyUrl": "http://me:canary-proxy@proxy:1",
            },
        },
        secrets={
            **SECRETS,
            "providerSpecificData": {"clientSecret": "canary-client", "webCookie": "canary-cookie"},
        },
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get("id-1") == made
    assert await store.list() == (made,)
    assert made.provider_data == DATA["providerSpecificData"]


async def test_no_secret_is_stored_in_the_clear(store: ConnectionStore, database: Database) -> None:
    await store.create(acme("main", data=DATA))

    rows = await database.fetch("SELECT * FROM connections")
    assert "canary" not in str(rows)


async def test_no_secret_is_in_the_repr(store: ConnectionStore) -> None:
    made = await store.create(acme("main", data=DATA))

    shown = (made, acme("main", data=DATA), ConnectionChange(data=DATA))
    assert "canary" not in repr(shown) + str(made.__rich_repr__())


async def test_a_missing_connection_is_none(store: ConnectionStore) -> None:
    assert await store.get("nobody") is None
    assert await store.list("nowhere") == ()


async def test_a_connection_without_secrets_seals_nothing(
    store: ConnectionStore, database: Database
) -> None:
    await store.create(NewConnection(provider="local", auth_type="none", data={"a": None, "b": 1}))

    assert await database.fetch("SELECT data, secrets FROM connections") == [
        {"data": '{"b":1}', "secrets": None}
    ]


async def test_a_second_key_of_the_same_name_is_refused(store: ConnectionStore) -> None:
    await store.create(acme("main"))

    with pytest.raises(DuplicateConnection) as caught:
        await store.create(acme("main"))

    assert (caught.value.status, caught.value.code) == (
        409,
        "PROVIDER_CONNECTION_ALREADY_EXISTS",
    )
    assert await order(store) == [("main", 1)]


async def test_names_repeat_across_providers_and_other_logins(store: ConnectionStore) -> None:
    await store.create(acme("main"))
    await store.create(NewConnection(provider="other", name="main"))
    await store.create(acme("main", auth_type="oauth"))
    await store.create(acme("main", auth_type="oauth"))

    assert len(await store.list()) == 4


async def test_renaming_to_a_taken_name_is_refused(store: ConnectionStore) -> None:
    await store.create(acme("main"))
    second = await store.create(acme("second"))

    with pytest.raises(DuplicateConnection):
        await store.update(second.id, ConnectionChange(name="main"))

    assert await store.get(second.id) == second


async def test_new_connections_go_to_the_end_or_to_their_place(store: ConnectionStore) -> None:
    for name, priority in (("a", None), ("b", None), ("c", 1), ("d", 3), ("e", 1 << 80)):
        await store.create(acme(name, priority=priority))

    assert await order(store) == [("c", 1), ("a", 2), ("d", 3), ("b", 4), ("e", 5)]


async def test_parallel_creates_get_priorities_of_their_own(store: ConnectionStore) -> None:
    await asyncio.gather(*(store.create(acme(f"n{n}")) for n in range(20)))

    assert [priority for _, priority in await order(store)] == list(range(1, 21))


async def test_a_connection_moves_to_a_priority(store: ConnectionStore) -> None:
    made = [await store.create(acme(name)) for name in "abcd"]

    await store.update(made[3].id, ConnectionChange(priority=2))

    assert await order(store) == [("a", 1), ("d", 2), ("b", 3), ("c", 4)]


async def test_those_behind_a_deleted_one_move_up(store: ConnectionStore) -> None:
    made = [await store.create(acme(name)) for name in "abc"]

    await store.delete(made[0].id)

    assert await order(store) == [("b", 1), ("c", 2)]


async def test_reordering_takes_the_whole_list(store: ConnectionStore) -> None:
    a, b, c = [(await store.create(acme(name))).id for name in "abc"]

    await store.reorder("acme", [c, a, b])

    assert await order(store) == [("c", 1), ("a", 2), ("b", 3)]


@pytest.mark.parametrize(
    "ids", [["id-1"], ["id-1", "id-1"], ["id-1", "id-9"], []], ids=parametrize_id
)
async def test_reordering_with_another_set_changes_nothing(
    store: ConnectionStore, ids: list[str]
) -> None:
    await store.create(acme("a"))
    await store.create(acme("b"))

    with pytest.raises(BadRequest):
        await store.reorder("acme", ids)

    assert await order(store) == [("a", 1), ("b", 2)]


async def test_an_update_changes_what_it_names(store: ConnectionStore, clock: Any) -> None:
    made = await store.create(acme("main", data=DATA))
    clock.now += 60

    after = await store.update(
        made.id,
        ConnectionChange(
            is_active=False,
            email=None,
            data={
                "apiKey": "new",
                "idToken": None,
                "defaultModel": None,
                "providerSpecificData": {"region": "us", "webCookie": None, "cx": 1},
            },
        ),
    )

    assert (after.name, after.email, after.is_active) == ("main", None, False)
    assert after.data == {
        "providerSpecificData": {
            "region": "us",
            "cx": 1,
            "connectionProxyUrl": "http://me:canary-proxy@proxy:1",
        }
    }
    kept = {name: value for name, value in SECRETS.items() if name != "idToken"}
    assert after.secrets == {
        **kept,
        "apiKey": "new",
        "providerSpecificData": {"clientSecret": "canary-client"},
    }
    assert after.created_at < after.updated_at == "2027-01-15T08:01:00.000Z"
    assert await store.get(made.id) == after


async def test_a_change_without_secrets_leaves_the_seal_alone(
    store: ConnectionStore, database: Database
) -> None:
    made = await store.create(acme("main", data=DATA))
    before = await database.fetch("SELECT secrets FROM connections")

    await store.update(made.id, ConnectionChange(name="other", data={"defaultModel": "n"}))

    assert await database.fetch("SELECT secrets FROM connections") == before


async def test_clearing_the_last_secret_clears_the_seal(
    store: ConnectionStore, database: Database
) -> None:
    made = await store.create(acme("main", data={"apiKey": "k"}))

    after = await store.update(made.id, ConnectionChange(data={"apiKey": None}))

    assert after.secrets == {}
    assert await database.fetch("SELECT secrets FROM connections") == [{"secrets": None}]


async def test_changing_or_deleting_what_is_not_there_is_not_found(store: ConnectionStore) -> None:
    for attempt in (store.update("nobody", ConnectionChange(name="x")), store.delete("nobody")):
        with pytest.raises(NotFound, match="Connection not found"):
            await attempt


async def test_how_an_account_fares_is_noted_in_one_call(store: ConnectionStore) -> None:
    made = await store.create(acme("main", data=DATA))
    state = {"testStatus": "unavailable", "backoffLevel": 2, "modelLock_acme-token": "2027"}

    await store.note({made.id: state, "gone": state})
    await store.note({made.id: {"backoffLevel": None}})

    after = await store.get(made.id)
    assert after is not None
    assert after.data == {
        **made.data,
        "testStatus": "unavailable",
        "modelLock_acme-token": "2027",
    }
    assert (after.secrets, after.updated_at) == (made.secrets, made.updated_at)


async def test_a_secret_cannot_be_noted(store: ConnectionStore) -> None:
    made = await store.create(acme("main"))

    with pytest.raises(ValueError, match="a secret is not part"):
        await store.note({made.id: {"apiKey": "k"}})


async def test_versions_tell_configuration_from_state(
    store: ConnectionStore, database: Database
) -> None:
    made = await store.create(acme("main"))
    await store.update(made.id, ConnectionChange(name="other"))
    await store.reorder("acme", [made.id])
    await store.note({made.id: {"backoffLevel": 1}})
    await store.delete(made.id)

    assert await read_versions(database) == {GROUP: 4, STATE_GROUP: 1}


async def swap_seals(database: Database) -> None:
    rows = await database.fetch("SELECT id, secrets FROM connections ORDER BY id")
    for row, other in ((rows[0], rows[1]), (rows[1], rows[0])):
        await database.execute(
            "UPDATE connections SET secrets = :secrets WHERE id = :id",
            secrets=other["secrets"],
            id=row["id"],
        )


async def test_a_swapped_seal_breaks_both_rows_and_no_other(
    store: ConnectionStore, database: Database
) -> None:
    for name in "abc":
        await store.create(acme(name, data={"apiKey": f"key-{name}", "defaultModel": "m"}))
    await swap_seals(database)

    found = await store.list()

    assert [(one.broken, dict(one.secrets)) for one in found] == [
        (True, {}),
        (True, {}),
        (False, {"apiKey": "key-c"}),
    ]
    assert found[0].data == {"defaultModel": "m"}


async def test_a_broken_seal_is_never_overwritten(
    store: ConnectionStore, database: Database
) -> None:
    made = await store.create(acme("main", data=DATA))
    await database.execute("UPDATE connections SET secrets = 'v1.AAAA'")

    with pytest.raises(SealBroken) as caught:
        await store.update(made.id, ConnectionChange(data={"apiKey": "new"}))
    after = await store.update(made.id, ConnectionChange(name="other", data={"note": 1}))
    await store.note({made.id: {"testStatus": "error"}})

    assert f"connections/{made.id}" in caught.value.message
    assert (after.broken, after.name, after.data["note"]) == (True, "other", 1)
    assert await database.fetch("SELECT secrets FROM connections") == [{"secrets": "v1.AAAA"}]


async def test_a_broken_connection_can_be_deleted(
    store: ConnectionStore, database: Database
) -> None:
    made = await store.create(acme("main", data=DATA))
    await database.execute("UPDATE connections SET secrets = 'v1.AAAA'")

    await store.delete(made.id)

    assert await store.list() == ()
