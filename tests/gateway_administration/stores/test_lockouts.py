import pytest

from gateway_administration.stores import lockouts
from gateway_administration.stores.lockouts import LockoutStore, Standing
from gateway_core.storage.database import Database

pytestmark = pytest.mark.anyio
FIRST = Standing(failures=2, locks=1, until=1030.0, last=1000.0)
SECOND = Standing(failures=0, locks=2, until=1200.5, last=1080.5)


@pytest.fixture
def store(database: Database) -> LockoutStore:
    return LockoutStore(database)


async def put(
    store: LockoutStore, address: str, standing: Standing | None, before: float = 0.0
) -> Standing:
    """Store how an address stands; gives how it stood."""
    before_that = list[Standing]()

    def decide(stored: Standing) -> Standing | None:
        before_that.append(stored)
        return standing

    await store.revise(address, decide, before=before)
    return before_that[0]


async def test_the_last_word_about_an_address_counts(store: LockoutStore) -> None:
    stood = [await put(store, "a", FIRST), await put(store, "a", SECOND)]

    assert stood == [Standing(), FIRST]
    assert (await store.get("a"), await store.get("b")) == (SECOND, None)


async def test_an_address_can_be_forgotten_alone(store: LockoutStore) -> None:
    await put(store, "a", FIRST)
    await put(store, "b", SECOND)

    await put(store, "a", None)

    assert (await store.get("a"), await store.get("b")) == (None, SECOND)


async def test_a_decision_that_fails_leaves_nothing_behind(store: LockoutStore) -> None:
    def refuse(stored: Standing) -> Standing:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        await store.revise("a", refuse, before=0.0)

    assert await store.get("a") is None


async def test_all_can_be_forgotten_and_those_who_have_been_quiet(store: LockoutStore) -> None:
    await put(store, "a", FIRST)

    await put(store, "b", SECOND, before=SECOND.last)
    quiet = (await store.get("a"), await store.get("b"))
    await store.clear()

    assert quiet == (None, SECOND)
    assert await store.get("b") is None


async def test_when_there_are_too_many_the_quietest_goes_who_is_not_shut_out(
    store: LockoutStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockouts, "MOST", 2)
    await put(store, "shut out", Standing(locks=1, until=9000.0, last=1000.0))
    for number in range(3):
        await put(store, f"{number}", Standing(failures=1, last=1001.0 + number))

    known = [await store.get(each) is not None for each in ("shut out", "0", "1", "2")]

    assert known == [True, False, True, True]
