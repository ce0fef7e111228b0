"""What was said in requests."""

import pytest

from gateway_administration.stores.request_details import KeptRequestDetails
from gateway_core.storage.database import Database
from gateway_core.storage.stores.request_details import RequestDetail

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database) -> KeptRequestDetails:
    return KeptRequestDetails(database)


def detail(second: int) -> RequestDetail:
    return RequestDetail(
        request_id=f"r-{second}",
        finished_at=f"2027-01-15T08:00:{second:02}.000Z",
        request={"body": {"model": "m"}},
        response={"body": "data: …"},
    )


async def test_a_detail_comes_back_by_its_request(store: KeptRequestDetails) -> None:
    await store.insert_many([detail(1), detail(2)], keep=10)

    assert await store.of(["r-1", "r-9"]) == {"r-1": detail(1)}
    assert await store.of([]) == {}


async def test_only_the_newest_are_kept(store: KeptRequestDetails) -> None:
    await store.insert_many([detail(second) for second in range(5)], keep=3)
    await store.insert_many([detail(7)], keep=3)

    assert set(await store.of(f"r-{n}" for n in range(9))) == {"r-3", "r-4", "r-7"}


async def test_a_stretch_of_time_can_be_deleted(store: KeptRequestDetails) -> None:
    await store.insert_many([detail(second) for second in (1, 2, 3)], keep=10)

    assert await store.delete("2027-01-15T08:00:02", "2027-01-15T08:00:03") == 1
    assert await store.count() == 2
    assert await store.delete() == 2
