"""Calls with what was said in them."""

from pathlib import Path

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key
from ledger_rows import keep, row

from gateway_core.storage.stores.request_details import RequestDetail

pytestmark = pytest.mark.anyio
PATH = "/api/usage/request-details"


async def kept(admin: AdminGateway) -> str:
    """A call whose words are kept; gives the end of its request's id."""
    call = row(input_tokens=3, ttft_ms=40)
    await keep(admin, call)
    detail = RequestDetail(
        request_id=call.request_id,
        finished_at=call.finished_at,
        request={"body": {"messages": []}},
        response={"body": "Hi"},
    )
    await admin.core.stores.request_details.insert_many([detail], keep=10)
    return call.request_id[-6:]


async def test_a_call_is_shown_with_its_recorded_bodies(admin: AdminGateway) -> None:
    end = await kept(admin)

    answer = await admin.call("GET", PATH)

    shown = answer["details"][0]
    assert shown["id"] == f"{shown['timestamp']}-{end}-large"
    assert shown["latency"] == {"total": 1000, "ttft": 40}
    assert shown["request"] == {"body": {"messages": []}}
    assert shown["response"] == {"body": "Hi"}
    assert shown["providerRequest"] is None


async def test_a_key_sees_the_figures_only(admin: AdminGateway) -> None:
    await kept(admin)

    async with with_key(admin) as caller:
        answer = await caller.call("GET", PATH)

    shown = answer["details"][0]
    assert shown["tokens"]["input"] == 3
    assert shown["request"] is shown["response"] is None


async def test_pages_are_counted(admin: AdminGateway) -> None:
    await keep(admin, *(row(number) for number in range(5)))

    answer = await admin.call("GET", PATH, params={"page": 2, "pageSize": 2})

    assert len(answer["details"]) == 2
    assert answer["pagination"] == {
        "page": 2,
        "pageSize": 2,
        "totalItems": 5,
        "totalPages": 3,
        "hasNext": True,
        "hasPrev": True,
    }


async def test_an_empty_ledger_has_no_page(admin: AdminGateway) -> None:
    answer = await admin.call("GET", PATH)

    assert answer["details"] == []
    assert (answer["pagination"]["totalPages"], answer["pagination"]["hasNext"]) == (0, False)


def is_on_disk(word: bytes, folder: Path) -> bool:
    return any(word in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_no_body_is_recorded_by_default(admin: AdminGateway, tmp_path: Path) -> None:
    await admin.connect()
    messages = [{"role": "user", "content": "a-word-to-look-for"}]

    answer = await admin.client.post(
        "/v1/chat/completions", json={"model": "acme/large", "messages": messages}
    )
    await admin.core.ledger.flush()

    assert answer.status_code == 200
    assert not is_on_disk(b"a-word-to-look-for", tmp_path)
    shown = (await admin.call("GET", PATH))["details"][0]
    assert shown["tokens"]["input"] == 3
    assert shown["request"] is shown["response"] is None
