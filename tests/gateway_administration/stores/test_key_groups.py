from collections.abc import Callable

import pytest
from manual_clock import Clock

from gateway_administration.stores.key_groups import (
    GroupNameTaken,
    KeyGroup,
    KeyGroupChange,
    KeyGroupStore,
)
from gateway_administration.stores.keys import KeyChange, KeyEditor
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database, clock: Clock, new_id: Callable[[], str]) -> KeyGroupStore:
    return KeyGroupStore(database, clock=clock, new_id=new_id)


@pytest.fixture
async def keys(database: Database, vault: Vault, clock: Clock) -> KeyEditor:
    """Three keys: ``a``, ``b`` and ``c``, in this order."""
    names = iter("abcdefgh")
    store = KeyEditor(database, vault, clock=clock, new_id=lambda: next(names))
    for number in range(3):
        await store.create(f"sk-{number}", str(number), "m", KeyChange(name=str(number)))
    return store


def change(name: str, *key_ids: str) -> KeyGroupChange:
    return KeyGroupChange(name=name, key_ids=key_ids)


@pytest.mark.usefixtures("keys")
async def test_a_group_comes_back_as_it_was_made(store: KeyGroupStore) -> None:
    made = await store.create(KeyGroupChange(name="team", color="red", key_ids=("c", "a", "c")))

    assert made == KeyGroup(
        id="id-1",
        name="team",
        color="red",
        key_ids=("a", "c"),
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get("id-1") == made
    assert await store.list() == (made,)
    assert await store.labels() == {"a": ("team",), "c": ("team",)}


@pytest.mark.usefixtures("keys")
async def test_a_change_leaves_what_it_does_not_name(store: KeyGroupStore) -> None:
    made = await store.create(KeyGroupChange(name="team", color="red", key_ids=("a",)))

    renamed = await store.update(made.id, KeyGroupChange(name="crew"))
    plain = await store.update(made.id, KeyGroupChange(color=None))
    emptied = await store.update(made.id, KeyGroupChange(key_ids=()))

    assert (renamed.name, renamed.color, renamed.key_ids) == ("crew", "red", ("a",))
    assert (plain.name, plain.color, plain.key_ids) == ("crew", None, ("a",))
    assert emptied.key_ids == ()


async def test_labels_of_a_key_are_replaced_and_new_ones_made(
    store: KeyGroupStore, keys: KeyEditor
) -> None:
    await store.create(change("old", "a", "b"))

    await keys.update("a", KeyChange(groups=("new", "other", "new")))
    await keys.update("b", KeyChange(name="still labelled"))

    assert await store.labels() == {"a": ("new", "other"), "b": ("old",)}
    assert await store.labels_of("a") == ("new", "other")
    assert [group.name for group in await store.list()] == ["new", "old", "other"]


async def test_labels_stand_or_fall_with_the_rest_of_the_change(
    store: KeyGroupStore, keys: KeyEditor
) -> None:
    with pytest.raises(BadRequest):
        await keys.update("a", KeyChange(groups=("new",), provider_connection_ids=("nobody",)))

    assert await store.list() == ()


async def test_a_key_that_is_deleted_leaves_its_groups(
    store: KeyGroupStore, keys: KeyEditor
) -> None:
    made = await store.create(change("team", "a", "b"))

    await keys.delete("a")

    found = await store.get(made.id)
    assert found is not None
    assert found.key_ids == ("b",)


@pytest.mark.usefixtures("keys")
async def test_a_name_is_given_once(store: KeyGroupStore) -> None:
    await store.create(change("team"))
    other = await store.create(change("crew"))

    with pytest.raises(GroupNameTaken, match="named team already exists"):
        await store.create(change("team", "a"))
    with pytest.raises(GroupNameTaken):
        await store.update(other.id, change("team", "a"))

    assert await store.labels() == {}


@pytest.mark.usefixtures("keys")
async def test_a_key_that_does_not_exist_changes_nothing(store: KeyGroupStore) -> None:
    made = await store.create(change("team", "a"))

    with pytest.raises(BadRequest, match="keyIds names an unknown key: nobody"):
        await store.create(change("crew", "nobody"))
    with pytest.raises(BadRequest):
        await store.update(made.id, change("crew", "b", "nobody"))

    assert await store.list() == (made,)


@pytest.mark.usefixtures("keys")
async def test_a_group_goes_and_its_keys_stay(store: KeyGroupStore, keys: KeyEditor) -> None:
    made = await store.create(change("team", "a"))

    await store.delete(made.id)

    assert await store.get(made.id) is None
    assert await store.labels() == {}
    assert await keys.count() == 3
    for act in (store.delete(made.id), store.update(made.id, change("x"))):
        with pytest.raises(NotFound, match="Key group not found"):
            await act
