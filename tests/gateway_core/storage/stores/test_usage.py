from typing import Any

import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.stores.usage import (
    FailedAttempt,
    UsageFilter,
    UsageRecord,
    UsageRow,
    UsageStore,
)
from gateway_core.storage.stores.versions import read_versions

pytestmark = pytest.mark.anyio
FULL = UsageRecord(
    request_id="r-1",
    started_at="2027-01-15T08:00:00.000Z",
    finished_at="2027-01-15T08:00:02.500Z",
    provider="acme",
    model_asked="fast",
    model_sent="m-1",
    connection_id="c-1",
    api_key_id="k-1",
    endpoint="/v1/messages",
    client_format="claude",
    upstream_format="openai",
    stream=True,
    status="upstream_cut",
    http_status=200,
    error_code="bad_gateway",
    input_tokens=1000,
    output_tokens=200,
    cached_tokens=300,
    cache_write_tokens=40,
    reasoning_tokens=50,
    estimated=True,
    cost=9_007_199_254_740_993,
    ttft_ms=400,
    duration_ms=2500,
    combo_id="b-1",
    combo_name="fast",
    attempts=3,
    error="Upstream broke off",
    dropped=("top_k", "seed"),
    units={"images": 2.0},
    failures=(
        FailedAttempt("acme", "m-0", 120, 429, "c-0", "rate_limit_exceeded", "slow down"),
        FailedAttempt("other", "m-1", 900, 504),
    ),
    notes=("a plugin: flagged",),
)


@pytest.fixture
def store(database: Database) -> UsageStore:
    return UsageStore(database)


def record(second: int, **fields: Any) -> UsageRecord:
    moment = f"2027-01-15T08:00:{second:02}.000Z"
    given = {"model_asked": "m", "endpoint": "/v1/chat/completions", **fields}
    return UsageRecord(request_id=f"r-{second}", started_at=moment, finished_at=moment, **given)


async def test_a_record_comes_back_with_a_number(store: UsageStore) -> None:
    await store.insert_many([FULL])

    page = await store.page()

    fields = {name: getattr(FULL, name) for name in FULL.__struct_fields__}
    assert page.rows == (UsageRow(id=1, **fields),)
    assert page.total == 1


async def test_a_record_of_little_comes_back(store: UsageStore) -> None:
    await store.insert_many([record(1)])

    row = (await store.page()).rows[0]

    assert (row.provider, row.cost, row.ttft_ms, row.dropped) == (None, None, None, ())
    assert (row.stream, row.estimated, row.status) == (False, False, "ok")


async def test_numbers_grow_and_are_never_given_again(store: UsageStore) -> None:
    await store.insert_many([record(1), record(2)])
    await store.delete(UsageFilter())
    await store.insert_many([record(3)])

    assert [row.id for row in (await store.page()).rows] == [3]


async def test_nothing_to_insert_writes_nothing(store: UsageStore, database: Database) -> None:
    await store.insert_many([])

    assert await read_versions(database) == {}


async def test_a_batch_is_written_together_or_not_at_all(store: UsageStore) -> None:
    bad: Any = record(2, input_tokens=None)

    with pytest.raises(Exception, match=r"(?i)not.null"):
        await store.insert_many([record(1), bad])

    assert (await store.page()).total == 0


async def test_a_page_is_newest_first_and_knows_the_total(store: UsageStore) -> None:
    await store.insert_many([record(second) for second in range(10)])

    page = await store.page(limit=3, offset=2)

    assert [row.request_id for row in page.rows] == ["r-7", "r-6", "r-5"]
    assert page.total == 10


async def test_deleting_takes_only_what_is_selected(store: UsageStore) -> None:
    await store.insert_many([record(second) for second in range(5)])

    gone = await store.delete(UsageFilter(until="2027-01-15T08:00:03.000Z"))

    assert gone == 3
    assert [row.request_id for row in (await store.page()).rows] == ["r-4", "r-3"]


async def test_other_processes_can_see_that_usage_came(
    store: UsageStore, database: Database
) -> None:
    await store.insert_many([record(1), record(2)])

    assert await read_versions(database) == {"usage": 2}


@pytest.mark.parametrize(
    "text", ['"quoted"', "back\\slash \\u0000", "two\nlines\tapart", "\u6587\U0001f600", "{$1} ?"]
)
async def test_a_text_of_a_client_comes_back_as_it_is(store: UsageStore, text: str) -> None:
    await store.insert_many([record(1, error=text), record(2, model_sent=text, units={text: 1.5})])

    second, first = (await store.page()).rows

    assert (first.error, second.model_sent, second.units) == (text, text, {text: 1.5})
    assert (first.id, second.id) == (1, 2)


async def test_a_text_that_an_engine_cannot_store_keeps_no_row_out(store: UsageStore) -> None:
    await store.insert_many([record(1, error="a\0b"), record(2, error="\\u0000")])

    second, first = (await store.page()).rows

    assert first.error in ("a\0b", "a\N{REPLACEMENT CHARACTER}b")
    assert second.error == "\\u0000"
