"""A vendor's own list of models, asked live."""

from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway, refused
from corpus import Item, answer, items, named
from fake_vendor import MockResponse, ReceivedRequest

from gateway_dashboard_api.accounts.probes import discovery
from gateway_dashboard_api.accounts.probes.model_list import NotAList, read_page

pytestmark = pytest.mark.anyio
RECORDED = items("models_list")
LISTS = [item for item in RECORDED if item["endpoint"].endswith("models")]
SINGLES = [item for item in RECORDED if item not in LISTS]


def naive(body: Any) -> list[str]:
    """What a plain reading of the recorded list gives."""
    rows = body if isinstance(body, list) else body.get("data", body.get("models"))
    return [
        row.get("id") or row.get("model_id") or row["name"].removeprefix("models/") for row in rows
    ]


@pytest.mark.parametrize("item", LISTS, ids=named)
def test_every_recorded_list_is_read_whole(item: Item) -> None:
    body = answer(item)

    page = read_page(body)

    assert [model.id for model in page.models] == naive(msgspec.json.decode(body))
    assert all(model.name for model in page.models)


@pytest.mark.parametrize("item", SINGLES, ids=named)
def test_a_single_model_is_no_list(item: Item) -> None:
    with pytest.raises(NotAList):
        read_page(answer(item))


def test_there_are_lists_of_many_vendors() -> None:
    assert len({item["vendor"] for item in LISTS}) >= 12


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        (b'["a","b",""]', ["a", "b"]),
        (b'{"models":["a"]}', ["a"]),
        (b'{"data":{"models":[{"id":"a"}]}}', ["a"]),
        (
            b'{"data":[{"id":"a"},{"object":"model"},7,null,{"id":""},{"id":5,"name":"b"}]}',
            ["a", "b"],
        ),
        (b'{"models":[{"name":"llama3:8b","model":"llama3:8b"}]}', ["llama3:8b"]),
        (b'{"data":[{"id":"models/x"}]}', ["models/x"]),
        (b"[]", []),
    ],
)
def test_envelopes_are_read_with_tolerance(body: bytes, ids: list[str]) -> None:
    assert [model.id for model in read_page(body).models] == ids


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'"a"', b"{}", b'{"data":{"x":[]}}', b"[" * 100_000, b'{"a":"\xff"}']
)
def test_what_is_no_list_is_told(body: bytes) -> None:
    with pytest.raises(NotAList):
        read_page(body)


def test_sizes_are_read_where_a_vendor_tells_them() -> None:
    body = (
        b'{"models":[{"name":"models/a","displayName":"A","inputTokenLimit":480,'
        b'"outputTokenLimit":8},{"id":"b","context_window":true,"max_tokens":0,"owned_by":"us"}]}'
    )

    first, second = read_page(body).models

    assert (first.name, first.context_length, first.max_output_tokens) == ("A", 480, 8)
    assert (second.owned_by, second.context_length, second.max_output_tokens) == ("us", None, None)


async def test_the_list_is_asked_with_the_accounts_key(admin: AdminGateway) -> None:
    row = await admin.connect()

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert answer == {
        "provider": "acme",
        "connectionId": row["id"],
        "models": [{"id": "large", "name": "large"}, {"id": "new", "name": "new"}],
    }
    assert [(a.method, a.target) for a in admin.vendor.received] == [("GET", "/v1/models")]
    assert admin.vendor.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert "content-type" not in admin.vendor.received[0].headers


@pytest.mark.parametrize(
    ("provider", "target"),
    [
        ("acme", "/proxy/v1/models"),
        ("local", "/proxy/v1/models"),
        ("apart", "/catalog/models?all=1"),
    ],
)
async def test_an_account_with_its_own_address_is_asked_there(
    admin: AdminGateway, provider: str, target: str
) -> None:
    admin.other.key = KEY
    data = {"baseUrl": f"{admin.other.url}/proxy/v1/"}
    row = await admin.connect(provider, providerSpecificData=data)

    await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert admin.vendor.received == []
    assert admin.other.received[0].target == target


async def test_a_list_that_is_kept_apart_is_asked_there(admin: AdminGateway) -> None:
    row = await admin.connect("apart")

    await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert [received.target for received in admin.vendor.received] == ["/catalog/models?all=1"]


@pytest.mark.parametrize(
    ("pages", "targets"),
    [
        (
            {
                "/v1/models": b'{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}',
                "/v1/models?after_id=a": b'{"data":[{"id":"b"}],"has_more":false}',
            },
            ["/v1/models", "/v1/models?after_id=a"],
        ),
        (
            {
                "/v1/models": b'{"models":[{"name":"models/a"}],"nextPageToken":"t/1"}',
                "/v1/models?pageToken=t%2F1": b'{"models":[{"name":"models/b"}]}',
            },
            ["/v1/models", "/v1/models?pageToken=t%2F1"],
        ),
        (
            {
                "/v1/models": b'{"models":[{"name":"a"}],"next_page_token":"x"}',
                "/v1/models?page_token=x": b'{"models":[{"name":"b"}],"next_page_token":""}',
            },
            ["/v1/models", "/v1/models?page_token=x"],
        ),
    ],
    ids=["cursor", "token", "other token"],
)
async def test_all_pages_are_read(
    admin: AdminGateway, pages: dict[str, bytes], targets: list[str]
) -> None:
    admin.vendor.script = lambda received: MockResponse((pages[received.target],))
    row = await admin.connect()

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert [model["id"] for model in answer["models"]] == ["a", "b"]
    assert [received.target for received in admin.vendor.received] == targets


async def test_a_vendor_that_gives_the_same_page_for_ever_is_left(admin: AdminGateway) -> None:
    body = b'{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}'
    admin.vendor.script = lambda received: MockResponse((body,))
    row = await admin.connect()

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert [model["id"] for model in answer["models"]] == ["a"]
    assert len(admin.vendor.received) == 2


async def test_a_list_without_end_is_cut(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_PAGES", 5)

    def endless(received: ReceivedRequest) -> MockResponse:
        number = len(admin.vendor.received)
        row = {"data": [{"id": str(number)}], "next_page_token": str(number)}
        return MockResponse((msgspec.json.encode(row),))

    admin.vendor.script = endless
    row = await admin.connect()

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert len(answer["models"]) == 5


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (refused(401, "No such key: Bearer " + KEY), "The provider answered 401: No such key"),
        (refused(500, "Oops"), "The provider answered 500: Oops"),
        (MockResponse((b"<html>",)), "The provider's list of models is not JSON"),
        (MockResponse((b'{"ok":true}',)), "The provider's answer is not a list of models"),
    ],
)
async def test_a_refusal_is_told_as_the_vendors(
    admin: AdminGateway, written: MockResponse, error: str
) -> None:
    admin.vendor.written["/models"] = written
    row = await admin.connect()

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models", status=502)

    assert answer["error"].startswith(error)


async def test_a_vendor_that_is_too_slow_is_given_up(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "LIMIT", 0.05)
    admin.vendor.written["/models"] = MockResponse((b"[]",), delay=5)
    row = await admin.connect()

    await admin.call("GET", f"/api/providers/{row['id']}/models", status=504)


async def test_a_vendor_without_a_list_is_told_beforehand(admin: AdminGateway) -> None:
    row = await admin.connect("built", providerSpecificData={"port": 1})

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models", status=400)

    assert row["canDiscoverModels"] is False
    assert answer["error"] == "Provider built does not support listing its models"


async def test_a_local_servers_list_is_where_it_keeps_it(admin: AdminGateway) -> None:
    node = {
        "name": "Mine",
        "prefix": "mine",
        "type": "ollama-compatible",
        "baseUrl": admin.vendor.url,
    }
    made = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    admin.vendor.written["/api/tags"] = MockResponse((b'{"models":[{"name":"llama3:8b"}]}',))
    row = await admin.connect(made["id"], apiKey="")

    answer = await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert answer["models"] == [{"id": "llama3:8b", "name": "llama3:8b"}]


async def test_nobody_is_not_found(admin: AdminGateway) -> None:
    await admin.call("GET", "/api/providers/x/models", status=404)
