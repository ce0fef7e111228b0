"""Batches whose time is up, with a clock that the test moves."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from admin_gateway import AdminGateway, opened
from batch_clients import lines, row
from manual_clock import Clock

from gateway_batches.batches import Batches, batches_of

pytestmark = pytest.mark.anyio
DAY = 86400
VARIABLES = {"PLUGIN_BATCHES_ROWS_PER_MINUTE": "1", "PLUGIN_BATCHES_BATCHES_AT_ONCE": "1"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def admin(tmp_path: Path, clock: Clock) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, VARIABLES, clock) as here:
        here.vendor.key = None
        yield here


def rows(count: int) -> list[dict[str, Any]]:
    return [row(n, model="open/large") for n in range(count)]


async def create(admin: AdminGateway, count: int) -> str:
    files = {"file": ("rows.jsonl", lines(rows(count)))}
    uploaded = await admin.client.post("/v1/files", files=files)
    body = {"input_file_id": uploaded.json()["id"]}
    made = await admin.call("POST", "/v1/batches", body)
    id: str = made["id"]
    return id


async def until(admin: AdminGateway, path: str, **members: Any) -> dict[str, Any]:
    """The object at a path, once it has these members."""
    with anyio.fail_after(30):
        while True:
            found: dict[str, Any] = await admin.call("GET", path)
            if found.items() >= members.items():
                return found
            await anyio.sleep(0.02)


async def move(admin: AdminGateway, clock: Clock, seconds: float, id: str) -> None:
    clock.move(seconds)
    batches: Batches = batches_of(admin.core)
    batches.scheduler.wake(id)


async def test_a_batch_expires_with_the_answers_it_has(admin: AdminGateway, clock: Clock) -> None:
    id = await create(admin, 4)
    counts = {"total": 4, "completed": 1, "failed": 0, "canceled": 0}
    running = await until(admin, f"/v1/batches/{id}", request_counts=counts)

    await move(admin, clock, DAY - 1, id)
    late = await admin.call("GET", f"/v1/batches/{id}")
    await move(admin, clock, 1, id)
    expired = await until(admin, f"/v1/batches/{id}", status="expired")

    assert running["status"] == late["status"] == "in_progress"
    assert expired["expired_at"] == expired["expires_at"] == running["created_at"] + DAY
    assert expired["request_counts"] == counts
    errors = await admin.client.get(f"/v1/files/{expired['error_file_id']}/content")
    found = [json.loads(line) for line in errors.text.splitlines()]
    assert [line["custom_id"] for line in found] == ["row-1", "row-2", "row-3"]
    assert {line["error"]["error"]["type"] for line in found} == {"batch_expired"}
    output = await admin.client.get(f"/v1/files/{expired['output_file_id']}/content")
    assert [json.loads(line)["custom_id"] for line in output.text.splitlines()] == ["row-0"]


async def test_a_batch_that_never_began_expires_too(admin: AdminGateway, clock: Clock) -> None:
    first = await create(admin, 4)
    await until(admin, f"/v1/batches/{first}", status="in_progress")
    second = await create(admin, 2)

    assert (await admin.call("GET", f"/v1/batches/{second}"))["status"] == "validating"
    await move(admin, clock, DAY, first)
    expired = await until(admin, f"/v1/batches/{second}", status="expired")

    assert expired["request_counts"] == {"total": 2, "completed": 0, "failed": 0, "canceled": 0}
    assert expired["output_file_id"] is None
    assert expired["error_file_id"] is not None


async def test_expired_requests_are_expired_results(admin: AdminGateway, clock: Clock) -> None:
    requests = [
        {"custom_id": each["custom_id"], "params": {"max_tokens": 9, **each["body"]}}
        for each in rows(3)
    ]
    made = await admin.call("POST", "/v1/messages/batches", {"requests": requests})
    path = f"/v1/messages/batches/{made['id']}"
    counts = {"processing": 2, "succeeded": 1, "errored": 0, "canceled": 0, "expired": 0}
    await until(admin, path, request_counts=counts)

    await move(admin, clock, DAY, made["id"])
    ended = await until(admin, path, processing_status="ended")

    assert ended["request_counts"] == {**counts, "processing": 0, "expired": 2}
    text = (await admin.client.get(f"{path}/results")).text
    types = {
        each["custom_id"]: each["result"]["type"] for each in map(json.loads, text.split("\n")[:-1])
    }
    assert types == {"row-0": "succeeded", "row-1": "expired", "row-2": "expired"}


async def test_batches_are_removed_some_time_after_they_ended(
    admin: AdminGateway, clock: Clock, tmp_path: Path
) -> None:
    params = {"max_tokens": 9, **rows(1)[0]["body"]}
    body = {"requests": [{"custom_id": "a", "params": params}]}
    made = await admin.call("POST", "/v1/messages/batches", body)
    path = f"/v1/messages/batches/{made['id']}"
    await until(admin, path, processing_status="ended")

    await move(admin, clock, 29 * DAY, made["id"])
    await admin.call("GET", path)
    await move(admin, clock, DAY + 1, made["id"])

    with anyio.fail_after(30):
        while (await admin.client.get(path)).status_code != 404:
            await anyio.sleep(0.02)
