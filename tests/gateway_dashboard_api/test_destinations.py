"""Credentials stay with the origin they were saved for."""

from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway
from fake_vendor import ReceivedRequest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.errors import BadRequest
from gateway_core.upstream.transport import Network
from gateway_dashboard_api.destinations import (
    clean_base_url,
    host_and_port,
    permit,
    permit_proxy,
    urls_in,
)

pytestmark = pytest.mark.anyio


def shown(received: list[ReceivedRequest]) -> set[str]:
    """The keys a vendor was shown."""
    return {each.headers["authorization"] for each in received if "authorization" in each.headers}


async def test_another_origin_never_sees_the_key_that_was_saved_for_this_one(
    admin: AdminGateway,
) -> None:
    row = await admin.connect(sessionToken="canary", providerSpecificData={"cookie": "canary"})
    admin.other.key = None
    moved = {"providerSpecificData": {"baseUrl": f"{admin.other.url}/v1"}}

    after = (await admin.call("PUT", f"/api/providers/{row['id']}", moved))["connection"]
    await admin.chat("acme/large")
    await admin.call("POST", f"/api/providers/{row['id']}/test")
    await admin.call("GET", f"/api/providers/{row['id']}/models")

    assert admin.other.received
    assert shown(admin.other.received) == set()
    assert await admin.stored(row["id"]) == {}
    assert after["testStatus"] == "reauth_required"
    assert after["lastError"].startswith("The base URL changed")


async def test_a_move_that_brings_a_key_keeps_only_that_key(admin: AdminGateway) -> None:
    row = await admin.connect(sessionToken="session-canary")
    admin.other.key = "new-canary"
    moved = {
        "apiKey": "new-canary",
        "providerSpecificData": {"baseUrl": f"{admin.other.url}/v1/chat/completions/"},
    }

    after = (await admin.call("PUT", f"/api/providers/{row['id']}", moved))["connection"]

    assert await admin.stored(row["id"]) == {"apiKey": "new-canary"}
    assert after["providerSpecificData"]["baseUrl"] == f"{admin.other.url}/v1"
    assert after["testStatus"] == "unknown"
    assert (await admin.chat("acme/large")).status_code == 200
    assert shown(admin.other.received) == {"Bearer new-canary"}


@pytest.mark.parametrize(
    "data",
    [
        {"region": "us"},
        {"baseUrl": "{vendor}/v2"},
        {"baseUrl": "{vendor}"},
        {"azureEndpoint": None},
    ],
)
async def test_a_change_that_stays_at_the_origin_keeps_the_key(
    admin: AdminGateway, data: dict[str, Any]
) -> None:
    row = await admin.connect()
    filled = {
        name: value and value.replace("{vendor}", admin.vendor.url) for name, value in data.items()
    }

    await admin.call("PUT", f"/api/providers/{row['id']}", {"providerSpecificData": filled})

    assert await admin.stored(row["id"]) == {"apiKey": KEY}


async def test_going_back_to_the_usual_address_is_a_move_too(admin: AdminGateway) -> None:
    row = await admin.connect(providerSpecificData={"baseUrl": f"{admin.other.url}/v1"})

    await admin.call(
        "PUT", f"/api/providers/{row['id']}", {"providerSpecificData": {"baseUrl": ""}}
    )

    assert await admin.stored(row["id"]) == {}


async def test_any_member_that_is_an_address_counts(admin: AdminGateway) -> None:
    row = await admin.connect(providerSpecificData={"tokenEndpoint": "http://127.0.0.1:1/a"})
    path = f"/api/providers/{row['id']}"

    same = {"providerSpecificData": {"tokenEndpoint": "http://127.0.0.1:1/b"}}
    await admin.call("PUT", path, same)
    kept = await admin.stored(row["id"])
    await admin.call("PUT", path, {"providerSpecificData": {"tokenEndpoint": "http://127.0.0.1:2"}})

    assert kept == {"apiKey": KEY}
    assert await admin.stored(row["id"]) == {}


@pytest.mark.parametrize("before", ["", " ", "\n\t"])
def test_the_space_around_an_address_hides_none(before: str) -> None:
    data = {"endpoint": f"{before}HTTPS://vendor.example ", "region": " eu", "none": None}

    assert list(urls_in(data)) == [("endpoint", "HTTPS://vendor.example")]


async def test_an_address_that_a_vendor_builds_from_the_account_counts(admin: AdminGateway) -> None:
    data = {"port": admin.vendor.port}
    row = await admin.connect("built", providerSpecificData=data)
    path = f"/api/providers/{row['id']}"
    assert (await admin.chat("built/large")).status_code == 200

    await admin.call("PUT", path, {"providerSpecificData": {"port": admin.other.port}})

    assert await admin.stored(row["id"]) == {}
    await admin.chat("built/large")
    assert shown(admin.other.received) == set()


async def test_an_account_whose_address_cannot_be_built_can_be_mended(admin: AdminGateway) -> None:
    row = await admin.connect("built")
    mended = {"apiKey": KEY, "providerSpecificData": {"port": admin.vendor.port}}

    await admin.call("PUT", f"/api/providers/{row['id']}", mended)

    assert (await admin.chat("built/large")).status_code == 200


async def test_a_secret_nobody_can_read_does_not_move(admin: AdminGateway) -> None:
    row = await admin.connect()
    await admin.core.stores.database.execute("UPDATE connections SET secrets = 'rubbish'")
    moved = {"providerSpecificData": {"baseUrl": admin.other.url}}

    answer = await admin.call("PUT", f"/api/providers/{row['id']}", moved, status=500)

    assert answer["code"] == "seal_broken"


async def test_a_nodes_new_origin_clears_the_keys_of_its_accounts(admin: AdminGateway) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    made = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    rows = [await admin.connect(made["id"], name=name) for name in "ab"]
    admin.other.key = None
    path = f"/api/provider-nodes/{made['id']}"

    await admin.call("PUT", path, {"baseUrl": f"{admin.vendor.url}/v2", "name": "Still mine"})
    kept = [await admin.stored(row["id"]) for row in rows]
    await admin.call("PUT", path, {"baseUrl": f"{admin.other.url}/v1"})
    await admin.chat("mine/large")

    assert kept == [{"apiKey": KEY}] * 2
    assert [await admin.stored(row["id"]) for row in rows] == [{}, {}]
    assert admin.other.received
    assert shown(admin.other.received) == set()


async def test_a_node_does_not_move_under_a_secret_nobody_can_read(admin: AdminGateway) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    made = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    await admin.connect(made["id"])
    await admin.core.stores.database.execute("UPDATE connections SET secrets = 'rubbish'")
    path, moved = f"/api/provider-nodes/{made['id']}", {"baseUrl": f"{admin.other.url}/v1"}

    answer = await admin.call("PUT", path, moved, status=500)

    assert answer["code"] == "seal_broken"
    assert (await admin.call("GET", path))["node"]["baseUrl"] == node["baseUrl"]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://a.example/v1", "https://a.example/v1"),
        (" https://a.example/v1/// ", "https://a.example/v1"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1"),
        ("https://a.example/v1/chat/completions/", "https://a.example/v1"),
        ("https://a.example/v1/models", "https://a.example/v1"),
        ("https://a.example/modelsmith", "https://a.example/modelsmith"),
    ],
)
def test_what_is_pasted_behind_a_base_url_goes(text: str, clean: str) -> None:
    assert clean_base_url(text, ("/chat/completions", "/models")) == clean


@pytest.mark.parametrize("text", ["https://a/v1?key=1", "https://a/#x", "https://a/" + "x" * 2048])
def test_a_base_url_that_no_path_can_follow_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="The base URL must"):
        clean_base_url(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://[::ffff:169.254.169.254]/",
        "http://100.100.100.200/",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://2852039166/",
        "http://user:word@a.example/",
        "ftp://a.example/",
        "a.example",
        "",
    ],
)
async def test_addresses_that_are_never_called_are_refused(url: str) -> None:
    with pytest.raises(BadRequest):
        await permit(Network(), url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/v1", "https://10.1.2.3", "http://[::1]:9"])
async def test_an_operators_own_networks_are_fine(url: str) -> None:
    await permit(Network(), url)


async def test_a_name_that_is_not_known_yet_is_fine() -> None:
    async def unknown(host: str) -> list[str]:
        raise OSError(host)

    await permit(Network(resolve=unknown), "https://not-yet.example/v1")


async def test_a_name_that_leads_to_a_metadata_service_is_refused() -> None:
    async def metadata(host: str) -> list[str]:
        return ["10.0.0.1", "169.254.169.254"]

    with pytest.raises(BadRequest, match="not allowed"):
        await permit(Network(resolve=metadata), "https://friendly.example/v1")


@pytest.mark.parametrize(
    "url", ["http://p:1", "https://u:w@127.0.0.1:3128/", "socks5://127.0.0.1", "SOCKS5h://[::1]:1"]
)
async def test_proxies_of_every_kind_are_fine(url: str) -> None:
    async def known(host: str) -> list[str]:
        return ["10.0.0.1"]

    await permit_proxy(Network(resolve=known), url)


@pytest.mark.parametrize(
    "url", ["p:1", "ftp://p", "http://", "http://p:99999", "http://169.254.1.1:80", "http://a b"]
)
async def test_what_is_no_proxy_is_refused(url: str) -> None:
    with pytest.raises(BadRequest):
        await permit_proxy(Network(), url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://proxy:8080", "http://proxy:8080"),
        ("http://me:word@proxy:8080/path?x=1", "http://***@proxy:8080"),
        ("socks5://me@[::1]:1080", "socks5://***@[::1]:1080"),
        ("https://proxy", "https://proxy"),
        ("me:word@proxy", "***"),
        ("http://proxy:notaport", "***"),
        ("", "***"),
    ],
)
def test_a_proxy_is_shown_by_host_and_port(url: str, shown: str) -> None:
    assert host_and_port(url) == shown


@given(
    st.sampled_from(["http", "socks5", ""]),
    st.text(alphabet="ab:/@#?%[]\\ \n.0", max_size=8),
    st.text(alphabet="ab:/@#?%[]\\ \n.0", max_size=8),
)
def test_no_part_of_a_password_is_shown(scheme: str, before: str, after: str) -> None:
    shown = host_and_port(f"{scheme}://{before}me:CANARY{after}@host.example:3128/path")

    assert "CANARY" not in shown.upper()
