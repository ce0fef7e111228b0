"""What every management route does alike."""

from typing import Any
from uuid import UUID

import httpx2
import pytest
from admin_gateway import KEY, AdminGateway, client_of

from gateway_core.storage.stores.connections import ConnectionStore

pytestmark = pytest.mark.anyio
BODIED = [
    ("POST", "/api/providers"),
    ("POST", "/api/connections"),
    ("PUT", "/api/providers/reorder"),
    ("POST", "/api/providers/validate"),
    ("POST", "/api/providers/test-batch"),
    ("POST", "/api/provider-nodes"),
    ("POST", "/api/provider-nodes/validate"),
    ("POST", "/api/combos"),
    ("PUT", "/api/models"),
    ("PUT", "/api/models/alias"),
    ("POST", "/api/models/availability"),
    ("POST", "/api/models/custom"),
    ("PATCH", "/api/models/custom"),
    ("POST", "/api/models/disabled"),
    ("PUT", "/api/models/enabled"),
    ("POST", "/api/models/test"),
    ("POST", "/api/models/test/batch"),
    ("PATCH", "/api/settings"),
]
READ = [
    "/api/providers",
    "/api/providers/client",
    "/api/provider-nodes",
    "/api/combos",
    "/api/models",
    "/api/models/alias",
    "/api/models/availability",
    "/api/models/custom",
    "/api/models/disabled",
    "/api/models/enabled",
    "/api/settings",
]
JSON = {"content-type": "application/json"}


async def send(admin: AdminGateway, method: str, path: str, **more: Any) -> httpx2.Response:
    answer = await admin.client.request(method, path, **more)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert UUID(answer.headers["x-request-id"])
    if answer.is_error:
        body = answer.json()
        assert isinstance(body["error"], str)
        assert body["request_id"] == answer.headers["x-request-id"]
    return answer


@pytest.mark.parametrize(("method", "path"), BODIED)
async def test_a_body_is_json_small_and_an_object(
    admin: AdminGateway, method: str, path: str
) -> None:
    deep = b'{"a":' * 100_000
    expected = {
        (b"{}", "text/plain"): 415,
        (b"{}", "application/x-www-form-urlencoded"): 415,
        (b"", "application/json"): 400,
        (b"{", "application/json"): 400,
        (b"[]", "application/json; charset=utf-8"): 400,
        (b'"text"', "application/json"): 400,
        (b'{"a": NaN}', "application/json"): 400,
        (b'{"a": "\xff"}', "application/json"): 400,
        (deep, "application/json"): 400,
        (b" " * (1024 * 1024 + 1), "application/json"): 413,
    }

    statuses = {
        (body, kind): (
            await send(admin, method, path, content=body, headers={"content-type": kind})
        ).status_code
        for body, kind in expected
    }

    assert statuses == expected


async def test_a_body_without_a_type_or_with_a_coding_is_refused(admin: AdminGateway) -> None:
    bare = await send(admin, "POST", "/api/combos", content=b"{}")
    coded = await send(
        admin, "POST", "/api/combos", content=b"{}", headers={**JSON, "content-encoding": "gzip"}
    )

    assert (bare.status_code, coded.status_code) == (415, 415)


async def test_a_body_that_announces_too_much_is_not_read(admin: AdminGateway) -> None:
    headers = {**JSON, "content-length": str(10 << 30)}

    answer = await send(admin, "POST", "/api/combos", content=b"{}", headers=headers)

    assert answer.status_code == 413


@pytest.mark.parametrize("path", READ)
async def test_lists_are_answered_for_the_operator(admin: AdminGateway, path: str) -> None:
    here = await send(admin, "GET", path)
    probe = await admin.client.head(path)
    async with client_of(admin.gateway, operator=False) as nobody:
        refused = await nobody.get(path)

    assert here.status_code == 200
    assert (probe.status_code, probe.content) == (200, b"")
    assert refused.status_code == 401


@pytest.mark.parametrize(
    "path", ["/api/combos", "/api/combos/x", "/api/providers/x/test", "/api/settings"]
)
async def test_methods_that_are_not_there_are_refused(admin: AdminGateway, path: str) -> None:
    refused = await admin.client.request("PROPFIND", path)
    options = await admin.client.options(path)

    assert refused.status_code == 405
    assert options.status_code == 204
    assert "OPTIONS" in options.headers["allow"]


async def test_an_unexpected_error_is_reported_without_details(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError(f"{KEY} at /home/somebody")

    monkeypatch.setattr(ConnectionStore, "list", broken)

    answer = await send(admin, "GET", "/api/providers")

    assert answer.status_code == 500
    assert answer.json()["error"] == "Failed to list connections"


async def test_a_clients_own_request_id_is_not_taken(admin: AdminGateway) -> None:
    theirs = "11111111-2222-4333-8444-555555555555"

    answer = await send(admin, "GET", "/api/combos", headers={"x-request-id": theirs})

    assert answer.headers["x-request-id"] != theirs
