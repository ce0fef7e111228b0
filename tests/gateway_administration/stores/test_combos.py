from collections.abc import Callable

import pytest
from parametrize_ids import parametrize_id

from gateway_administration.stores.combos import ComboChange, ComboEditor
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.stores.combos import Combo
from gateway_core.storage.stores.settings import SettingsStore
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
NEW = ComboChange(
    name="fast",
    kind="llm",
    models=("a/b", "other"),
    members=({"model": "a/b", "weight": 3},),
    capabilities={"vision": True},
    allowed_connection_ids=("one",),
)


@pytest.fixture
def store(database: Database, clock: Callable[[], float], new_id: Callable[[], str]) -> ComboEditor:
    return ComboEditor(database, clock=clock, new_id=new_id)


@pytest.fixture
def settings(database: Database, vault: Vault) -> SettingsStore:
    return SettingsStore(database, vault)


async def test_a_combo_comes_back_as_it_was_made(store: ComboEditor) -> None:
    made = await store.create(NEW)

    assert made == Combo(
        id="id-1",
        name="fast",
        kind="llm",
        models=("a/b", "other"),
        members=({"model": "a/b", "weight": 3},),
        capabilities={"vision": True},
        allowed_connection_ids=("one",),
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get("id-1") == made
    assert await store.list() == (made,)


async def test_a_name_is_enough(store: ComboEditor) -> None:
    made = await store.create(ComboChange(name="a.b_c-1"))

    assert await store.get(made.id) == made
    assert (made.models, made.members, made.capabilities) == ((), None, None)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "a\n", "<a>"], ids=parametrize_id)
async def test_a_name_with_other_characters_is_refused(store: ComboEditor, name: str) -> None:
    with pytest.raises(BadRequest, match="A combo's name has"):
        await store.create(ComboChange(name=name))


async def test_a_missing_name_is_refused(store: ComboEditor) -> None:
    with pytest.raises(BadRequest):
        await store.create(ComboChange())


async def test_a_name_is_given_once(store: ComboEditor) -> None:
    await store.create(NEW)
    other = await store.create(ComboChange(name="other"))

    with pytest.raises(BadRequest, match="A combo named fast already exists"):
        await store.create(NEW)
    with pytest.raises(BadRequest):
        await store.update(other.id, ComboChange(name="fast"))

    assert await store.get(other.id) == other


async def test_five_hundred_connections_are_the_most(store: ComboEditor) -> None:
    ids = tuple(map(str, range(501)))
    await store.create(ComboChange(name="a", allowed_connection_ids=ids[:500]))

    with pytest.raises(BadRequest, match="at most 500"):
        await store.create(ComboChange(name="b", allowed_connection_ids=ids))


async def test_an_update_changes_what_it_names(store: ComboEditor) -> None:
    made = await store.create(NEW)

    after, _ = await store.update(made.id, ComboChange(capabilities=None, models=()))

    assert (after.capabilities, after.models, after.members) == (None, (), made.members)
    assert await store.get(made.id) == after


async def test_a_deleted_combo_takes_its_strategy_with_it(
    store: ComboEditor, settings: SettingsStore
) -> None:
    made = await store.create(NEW)
    strategies = {"fast": {"timeoutMs": 1}, "other": {"timeoutMs": 2}}
    await settings.patch({"comboStrategies": strategies, "outboundProxyUrl": "http://a:b@c"})

    await store.delete(made.id)

    assert await settings.document() == {
        "comboStrategies": {"other": {"timeoutMs": 2}},
        "outboundProxyUrl": "http://a:b@c",
    }
    assert await store.list() == ()


async def test_a_renamed_combo_keeps_its_strategy(
    store: ComboEditor, settings: SettingsStore
) -> None:
    made = await store.create(NEW)
    await settings.patch({"comboStrategies": {"fast": {"timeoutMs": 1, "new": 2}}})

    await store.update(made.id, ComboChange(name="faster"))

    assert await settings.document() == {"comboStrategies": {"faster": {"timeoutMs": 1, "new": 2}}}


async def test_what_is_not_there_is_not_found(store: ComboEditor) -> None:
    assert await store.get("x") is None
    for attempt in (store.update("x", NEW), store.delete("x")):
        with pytest.raises(NotFound, match="Combo not found"):
            await attempt


async def test_every_write_is_counted(store: ComboEditor, database: Database) -> None:
    made = await store.create(NEW)
    await store.update(made.id, ComboChange(kind=None))
    await store.delete(made.id)

    assert await read_versions(database) == {"combos": 3}
